/**
 * Runs the programs in the README; `captures.machine.ts` runs its transcript. The separate run `pnpm test:install` runs the tour in a
 * fresh clone (`clone.install.ts`) and installs the packages (`packages.install.ts`), which the functions of the command `packages` pack.
 * The run of this test is itself a run of the command `test`. This file also checks that the three commands start existing files.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Program } from "@berthkit/testing/Program"
import { mockService } from "../core/promise/Service.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
const page = read("README.md")
const { packageManager } = JSON.parse(read("package.json"))
const [, effectVersion] = /^ {2}effect: (\S+)$/m.exec(read("pnpm-workspace.yaml"))!

/** The fenced blocks of the page, with their languages. */
const blocks = Array.from(
  page.matchAll(/^```(\w*)\n(.*?)^```$/gms),
  ([, language, code]) => [language!, code!] as const
)
const blocksIn = (wanted: string) => blocks.flatMap(([language, code]) => (language === wanted ? [code] : []))

const examples = ["readme-with-promises", "readme-with-effect"].map((name) => `packages/core/examples/${name}.ts`)

describe("the README", () => {
  it("is read in a minute", () => assert.isAtMost(page.split("\n").length - 1, 120))

  it("has a test for every block", () => {
    assert.deepStrictEqual(blocksIn("ts"), examples.map(read))
    assert.match(page, /<!-- captured: commands -->\n+```console\n/)
    const [tour, install, ...others] = blocksIn("sh")
    assert.deepStrictEqual(others, [])
    assert.strictEqual(tour, `git clone https://HOST/OWNER/berth.git && cd berth\nnpx --yes ${packageManager} demo\n`)
    assert.include(page, `\`npx --yes ${packageManager} test\``)
    assert.match(page, new RegExp(`^npm install effect@${effectVersion} @effect/platform-node@${effectVersion} `, "m"))
    assert.match(install!, new RegExp(`^npx --yes ${packageManager} packages .*\n(?:npm install .*\n){5}$`))
    assert.deepStrictEqual(
      blocks.map(([language]) => language),
      ["sh", "console", "sh", "ts", "ts"]
    )
  })

  it("shows commands that there are", () => {
    const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }
    const started = ["packages", "demo", "test"].map((command) => /\bnode (\S+)$/.exec(scripts[command] ?? "")?.[1])
    assert.deepStrictEqual(started, ["scripts/pack.ts", "scripts/demo.ts", "scripts/test.ts"])
    assert.deepStrictEqual(
      started.filter((file) => !existsSync(new URL(`../../${file}`, import.meta.url))),
      []
    )
  })

  it.each([
    ["tests/repository/captures.machine.ts", "capturedPages()"],
    ["tests/install/clone.install.ts", '[...pnpm, "demo"]'],
    ["tests/install/packages.install.ts", "^npm install .*\\.tgz.*$"]
  ])("is run in part by %s", (file, text) => assert.include(read(file), text))

  it("names only files that there are", () => {
    const targets = Array.from(page.matchAll(/(?:\]\(|src(?:set)?=")((?!https?:)[^)"#]+)/g), ([, target]) => target!)
    assert.deepStrictEqual(
      targets.filter((target) => !existsSync(new URL(`../../${target}`, import.meta.url))),
      []
    )
  })

  it("shows programs that work", async () => {
    await using service = await mockService({ clock: "real", provisioning: "20 millis" })
    const { accessToken, apiKey } = service.options
    const state = mkdtempSync(join(tmpdir(), "berth-readme-"))
    const env = {
      ...process.env,
      BERTH_BASE_URL: service.baseUrl,
      BERTH_API_KEY: apiKey,
      BERTH_ACCESS_TOKEN: accessToken,
      XDG_STATE_HOME: state
    }
    const run = async (example: string) => {
      await using program = Program.ofNode(fileURLToPath(new URL(`../../${example}`, import.meta.url)), [], { env })
      const { code, stderr, stdout } = await program.ended
      assert.deepStrictEqual([code, stderr], [0, ""])
      return stdout
    }
    const [promises = "", effect = ""] = examples
    const listed = "api running 16384\n"
    assert.strictEqual(await run(promises), `created api\n${listed}`)
    assert.strictEqual(await run(promises), `adopted api\n${listed}`)
    assert.strictEqual(await run(effect), "api running\n")
    rmSync(state, { recursive: true })
  })
})
