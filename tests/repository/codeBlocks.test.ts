/** Every code block of the docs is run or checked. `codeBlocks.ts` describes how. */
import { execFileSync } from "node:child_process"
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { verbsOf } from "@berthkit/cli/commandTree"
import { tree } from "@berthkit/cli/commands"
import { ControlApi } from "@berthkit/server/control/ControlApi"
import { startServer } from "@berthkit/server/testing/promise"
import { Program } from "@berthkit/testing/Program"
import { WatchApi } from "@berthkit/watch/http/WatchApi"
import { OpenApi } from "effect/http-api"
import { beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { mockService } from "../core/promise/Service.ts"
import { type Block, blockFaults, blocksOf, checkers, compiledCode, type Programs } from "./codeBlocks.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(join(root, path), "utf8")

const folders = ["*.md", ".github/*.md", "docs/**/*.md", "{apps,packages,integrations}/*/README.md", "bench/*.md"]
const pages = globSync(folders, { cwd: root }).toSorted()
const blocks = pages.flatMap((page) => blocksOf(page, read(page)))

interface Help {
  readonly flagGroups: ReadonlyArray<{
    readonly flags: ReadonlyArray<{ readonly name: string; readonly aliases: ReadonlyArray<string> }>
  }>
}

/** The flags of each command of `berth`, from its help. */
const berthFlags = (): ReadonlyMap<string, ReadonlySet<string>> => {
  const helps: Readonly<Record<string, Help>> = JSON.parse(read("apps/cli/dist/commands.json"))
  const dashed = (name: string) => (name.length === 1 ? `-${name}` : `--${name}`)
  return new Map(
    Object.entries(helps).map(([command, { flagGroups }]) => [
      command,
      new Set(flagGroups.flatMap(({ flags }) => flags.flatMap(({ aliases, name }) => [name, ...aliases].map(dashed))))
    ])
  )
}

/**
 * The flags of each command of a program, from its completions for bash. They have a function for each command, named after the command's
 * words.
 */
const completedFlags = (program: "berth-watch" | "berth-server"): ReadonlyMap<string, ReadonlySet<string>> => {
  const binary = join(root, `apps/${program.slice("berth-".length)}/bin/${program}.mjs`)
  const script = execFileSync(process.execPath, [binary, "--completions", "bash"], { encoding: "utf8" })
  const own = `_${program.replaceAll("-", "_")}`
  return new Map(
    Array.from(script.matchAll(/^(_\w+)\(\)\n\{\n([^]*?)^\}/gm), ([, name, body]) => [
      name!.slice(own.length).replace(/^_/, "").replaceAll("_", " "),
      new Set(body!.match(/(?<![\w-])-{1,2}[a-z][\w-]*/g))
    ])
  )
}

let programs: Programs
beforeAll(() => {
  const known: Readonly<Record<string, ReadonlyMap<string, ReadonlySet<string>>>> = {
    berth: berthFlags(),
    "berth-watch": completedFlags("berth-watch"),
    "berth-server": completedFlags("berth-server")
  }
  const paths = [OpenApi.fromApi(ControlApi).paths, OpenApi.fromApi(WatchApi).paths].flatMap((all) => Object.keys(all))
  const forms = paths.map((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`))
  // In completions, the words of a command have no dashes.
  const spelled = (program: string, word: string) => (program === "berth" ? word : word.replaceAll("-", " "))
  const nouns = new Set(verbsOf(tree).map(({ path }) => path[0]!))
  programs = {
    commandOf: (program, words) => {
      const firstFlag = words.findIndex((word) => word.startsWith("-"))
      const plain = (firstFlag === -1 ? words : words.slice(0, firstFlag)).map((word) => spelled(program, word))
      for (let length = Math.min(plain.length, 2); length > 0; length--) {
        if (known[program]!.has(plain.slice(0, length).join(" "))) return plain.slice(0, length)
      }
      if (program === "berth") {
        const isAnswered = /^(help|version)$/.test(plain[0] ?? "") || plain.length === 0
        return isAnswered || (nouns.has(plain[0]!) && plain.length === 1) ? [] : undefined
      }
      // `berth-server` runs without a command, and so does any program with `--help`.
      return plain.length === 0 ? [] : undefined
    },
    flagsOf: (program, command) =>
      new Set([...(known[program]!.get(command.join(" ")) ?? []), "--help", "--version", "--completions"]),
    hasPath: (path) => path.startsWith("/myaccount/api/v1") || forms.some((form) => form.test(path))
  }
})

const compiled = compiledCode(root)
const faultsOf = (block: Block) => blockFaults(block, programs, compiled)

test("every block of every page is run or checked", () => {
  expect(blocks.length).toBeGreaterThan(60)
  const faults = blocks.flatMap((block) =>
    faultsOf(block).map((fault) => `${block.page}:${block.line}: the block \`${block.info}\`: ${fault}`)
  )
  expect(faults).toEqual([])
})

test.each(checkers)("$file reads the page that it is said to check", ({ file, language, page, reads }) => {
  expect(read(file)).toContain(reads)
  expect(blocks.filter((block) => page.test(block.page) && language.test(block.info.split(" ")[0]!))).not.toEqual([])
})

const made = (info: string, text: string): Block => ({ page: "docs/new.md", line: 1, info, text })

describe("a block is refused", () => {
  test.each<[string, string, string, string]>([
    ["in a language that nothing checks", "rust", "fn main() {}\n", "nothing checks rust"],
    ["of a program that nothing compiles", "ts", "client.nodes.forget()\n", "in no program that tests compile"],
    ["with a command that there is not", "sh", "berth node forget web\n", "berth has no command node"],
    [
      "with a flag that there is not",
      "console",
      "$ berth node list --colour red\n",
      "berth node list has no flag --colour"
    ],
    ["with a flag in a pipe", "", "$ jq . a | berth node get $(berth node list --ids) -x\n", "has no flag --ids"],
    [
      "with a flag of another command",
      "",
      "$ berth-watch silence list --for 2h\n",
      "berth-watch silence list has no flag --for"
    ],
    ["with a flag that the server lacks", "", "$ pnpm berth-server --hurry &\n", "berth-server has no flag --hurry"],
    ["of an unknown program", "", "$ birth node list\n", "birth is no program"],
    ["with a path that no server has", "", "$ curl http://127.0.0.1:9464/api/nothing\n", "no server has /api/nothing"],
    ["with a body that is no JSON", "", "$ curl http://127.0.0.1:9464/api/silences -d '{nodes}'\n", "not JSON"],
    ["without a command", "", "  hello\n", "has no command"],
    ["of broken YAML", "yaml", "a: [1\n", "must"],
    ["of a workflow that takes a package from npm", "yaml", "- run: npx --yes @berthkit/cli apply\n", "not on npm"],
    ["of a workflow without an address", "yaml", "steps:\n  - run: berth apply --yes\n", "no BERTH_BASE_URL"],
    ["of broken JSON", "json", "{", "JSON"]
  ])("%s", (_, info, text, fault) => {
    expect(faultsOf(made(info, text)).join("\n")).toContain(fault)
  })
})

test("commands that there are pass", () => {
  const text =
    "$ berth node list --name 'web|*' -o id | jq . > out # a comment\n$ berth-watch check-config watch.yml\nprinted\n"
  expect(faultsOf(made("console", text))).toEqual([])
})

test("the code for undici runs", async () => {
  await using service = await mockService({ clock: "real", provisioning: "20 millis" })
  const { accessToken, apiKey } = service.options
  const folder = mkdtempSync(join(tmpdir(), "berth-blocks-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, "ca.pem"), "")
  const env = {
    ...process.env,
    BERTH_BASE_URL: service.baseUrl,
    BERTH_API_KEY: apiKey,
    BERTH_ACCESS_TOKEN: accessToken,
    XDG_STATE_HOME: folder
  }
  const run = async (name: string) => {
    await using program = Program.ofNode(join(import.meta.dirname, "fragments", name), [], { cwd: folder, env })
    return (await program.ended).stdout
  }
  expect(await run("undiciPerMethod.js")).toBe("web\n")
  expect(await run("undiciProxy.js")).toBe("1\n")
})

test("the requests in the README of the server work as printed", async () => {
  const text = blocks.find(({ page, text }) => page === "apps/server/README.md" && text.includes("curl"))!.text
  await using server = await startServer()
  const url = new URL((await server.makeWorld()).baseUrl).origin
  const requests = text
    .replaceAll(/\\\n\s*/g, "")
    .matchAll(/^(?:\$ )?curl -X (\w+) \$URL(\S+) -H '([\w-]+): ([^']+)'\s+-d '([^']+)'$/gm)
  const statuses: Array<number> = []
  for (const [, method, path, name, value, body] of requests) {
    const reply = await fetch(`${url}${path}`, { method: method!, headers: { [name!]: value! }, body: body! })
    statuses.push(reply.status)
  }
  expect(statuses).toEqual([201, 200])
})
