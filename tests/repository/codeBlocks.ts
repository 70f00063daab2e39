/**
 * Checks each code block of a page in one of these ways: a test named here runs or compares it, it is part of a compiled program, its
 * commands and flags exist, a server accepts its requests, or its YAML can be read. Any other block is a fault.
 */
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseAllDocuments } from "yaml"

export interface Block {
  readonly page: string
  /** The number of its first line. */
  readonly line: number
  /** The text after the fence. Its first word is the language. */
  readonly info: string
  readonly text: string
}

export const blocksOf = (page: string, markdown: string): ReadonlyArray<Block> =>
  Array.from(markdown.matchAll(/^(`{3,})([^\n`]*)\n([^]*?)^\1$/gm), ({ 2: info, 3: text, index }) => ({
    page,
    line: markdown.slice(0, index).split("\n").length,
    info: info!.trim(),
    text: text!
  }))

/** A test that runs or compares the blocks of one language on a page, and the text in the test that shows that it reads the page. */
interface Checker {
  readonly page: RegExp
  readonly language: RegExp
  readonly file: string
  readonly reads: string
}

const by = (page: RegExp, language: RegExp, file: string, reads: string): Checker => ({ page, language, file, reads })

export const checkers: ReadonlyArray<Checker> = [
  by(/^README\.md$/, /^(sh|ts)$/, "tests/repository/readme.test.ts", 'read("README.md")'),
  by(/^README\.md$/, /^console$/, "scripts/captures.ts", 'page: "README.md"'),
  by(/^apps\/cli\/README\.md$/, /^console$/, "scripts/captures.ts", 'page: "apps/cli/README.md"'),
  by(/^docs\/recipes\.md$/, /^console$/, "scripts/captures.ts", 'page: "docs/recipes.md"'),
  by(/^docs\/using-with-(promises|effect)\.md$/, /^text$/, "tests/repository/pages.test.ts", "docs/${name}.md"),
  by(/^docs\/control-plane\.md$/, /^(http)?$/, "tests/repository/controlPlane.test.ts", "docs/control-plane.md"),
  by(/^docs\/architecture\.md$/, /^layers$/, "scripts/layers.ts", "docs/architecture.md"),
  by(/^docs\/watch-http\.md$/, /^nginx$/, "tests/watch/machine/setUp.machine.ts", '"docs/watch-http.md", "nginx"'),
  by(
    /^docs\/watch-http\.md$/,
    /^caddyfile$/,
    "tests/watch/machine/proxies.machine.ts",
    '"docs/watch-http.md", "caddyfile"'
  ),
  by(
    /^docs\/ansible-and-ssh\.md$/,
    /^(sh|sshconfig)$/,
    "tests/cli/machine/inventory.machine.ts",
    "docs/ansible-and-ssh.md"
  ),
  by(/^docs\/watch-receivers\.md$/, /^(js|ts)$/, "tests/install/receivers.install.ts", "docs/watch-receivers.md"),
  by(
    /^docs\/(watch|reference\/daemon)\.md$/,
    /^yaml$/,
    "apps/watch/test/events/documented.test.ts",
    '["docs/reference/daemon.md", 7]'
  )
]

/** Blocks that are only for people, with their pages. */
const drawings: ReadonlyArray<readonly [page: string, begins: RegExp]> = [
  // Which workspace may import which: `oxlint` and `turbo boundaries` enforce it.
  ["docs/architecture.md", /^core\/domain {2}← /],
  // The state folder. The headers of the modules that write its parts have the details.
  ["docs/architecture.md", /^accounts\//]
]

/** Other programs that the commands of a block may use. */
const otherPrograms =
  /^(alias|cat|claude|cd|curl|diff|docker|export|git|grep|head|ids|jq|kill|node|npm|npx|openssl|pnpm|printf|sed|sort|cut|systemctl|true|echo|for|do|done)$/

const ours = /^(berth|berth-watch|berth-server)$/

/** The known commands, flags and paths of our programs. */
export interface Programs {
  /** The longest command with which these words begin; undefined if there is none. */
  readonly commandOf: (program: string, words: ReadonlyArray<string>) => ReadonlyArray<string> | undefined
  /** The flags of a command, with their dashes. */
  readonly flagsOf: (program: string, command: ReadonlyArray<string>) => ReadonlySet<string>
  /** Whether one of our servers serves a path. */
  readonly hasPath: (path: string) => boolean
}

/** Matches the schedule at the beginning of a crontab line. */
const cronTimes = /^(?:[*\d][\d*/,-]* ){5}/

/** The commands of a block: the lines after `$`, or all lines if there is no `$`. */
const commandsOf = (text: string): ReadonlyArray<string> => {
  const lines = text
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.replace(cronTimes, ""))
  const prompted = lines.filter((line) => line.startsWith("$ "))
  return prompted.length > 0 ? prompted.map((line) => line.slice(2)) : lines.filter((line) => /^[\w#]/.test(line))
}

/** The simple commands of a line, as words; quoted strings are one word. */
const simpleCommands = (line: string): ReadonlyArray<ReadonlyArray<string>> =>
  line
    .replaceAll(/'[^']*'|"[^"]*"/g, (quoted) => quoted.slice(1, -1).replaceAll(/[\s|;&()#<>$]/g, "_") || "_")
    .replace(/\s#\s.*$/, "")
    .split(/\|\||&&|[|;&()]|\$\(|\bdo\b/)
    .map((part) => part.trim().split(/\s+/))
    .map((words) => words.filter((word) => word !== "" && !/^[<>]|^\d>|^[A-Z_]+=|^[{}]$/.test(word)))
    .map((words) => (words[0] === "pnpm" && ours.test(words[1] ?? "") ? words.slice(1) : words))
    .filter((words) => words.length > 0 && !words[0]!.startsWith("#"))

const commandFaults = (words: ReadonlyArray<string>, programs: Programs): ReadonlyArray<string> => {
  const [program = "", ...rest] = words
  if (!ours.test(program)) return otherPrograms.test(program) ? [] : [`${program} is no program that is known here`]
  const command = programs.commandOf(program, rest)
  if (command === undefined) return [`${program} has no command ${rest[0] ?? ""}`]
  const flags = programs.flagsOf(program, command)
  // The words after `--` are a separate command.
  const end = rest.indexOf("--")
  return (end === -1 ? rest : rest.slice(0, end))
    .filter((word) => /^-{1,2}[a-z]/.test(word))
    .map((word) => word.split("=")[0]!)
    .filter((flag) => !flags.has(flag))
    .map((flag) => `${[program, ...command].join(" ")} has no flag ${flag}`)
}

/** Requests of `curl`: their paths, and their bodies as JSON. */
const requestFaults = (line: string, { hasPath }: Programs): ReadonlyArray<string> => {
  const [, path] = /(?:\$URL|https?:\/\/(?:127\.0\.0\.1|localhost):\d+)(\/[^\s'"?]*)/.exec(line) ?? []
  const [, body] = /\s-d '([^']*)'/.exec(line) ?? []
  const faults = path === undefined || hasPath(path) ? [] : [`no server has ${path}`]
  try {
    if (body !== undefined) JSON.parse(body)
  } catch {
    faults.push(`not JSON: ${body}`)
  }
  return faults
}

const shellFaults = (text: string, programs: Programs): ReadonlyArray<string> => {
  const commands = commandsOf(text)
  if (commands.length === 0) return ["has no command, and is not checked in another way"]
  return commands.flatMap((line) =>
    line.startsWith("curl ")
      ? requestFaults(line, programs)
      : simpleCommands(line).flatMap((words) => commandFaults(words, programs))
  )
}

/** The faults of a workflow: names and variables that it needs as long as the packages are not on npm. */
const workflowFaults = (text: string): ReadonlyArray<string> => [
  ...(/\bnpx\b.*@berthkit\//.test(text) ? ["the packages are not on npm: install the tarball"] : []),
  ...(/^ *- run: berth /m.test(text) && !text.includes("BERTH_BASE_URL")
    ? ["a run of berth has no BERTH_BASE_URL"]
    : [])
]

const yamlFaults = (text: string): ReadonlyArray<string> => [
  ...parseAllDocuments(text).flatMap(({ errors }) => errors.map(({ message }) => message)),
  ...workflowFaults(text)
]

const jsonFaults = (text: string): ReadonlyArray<string> => {
  try {
    JSON.parse(text)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}

/** Code without the characters that a formatter changes. */
const bare = (code: string): string => code.replaceAll(/[\s;]|,(?=\s*[)\]}])/g, "")

/** Programs that tests compile and run. */
const programFiles = [
  "packages/core/examples/*.ts",
  "tests/server/examples/*.ts",
  "tests/repository/fragments/*.{ts,js}"
]

export const compiledCode = (root: string): ReadonlyArray<string> =>
  globSync(programFiles, { cwd: root }).map((path) =>
    // These comments tell a tool of ours which imports are installed only where the program runs; the manual leaves them out.
    bare(readFileSync(join(root, path), "utf8").replaceAll(/^\/\/ @boundaries-ignore .*\n/gm, ""))
  )

/** The faults of a block; none if it is checked and passes. */
export const blockFaults = (
  { info, page, text }: Block,
  programs: Programs,
  compiled: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const [language = ""] = info.split(" ")
  if (checkers.some((checker) => checker.page.test(page) && checker.language.test(language))) return []
  if (drawings.some(([where, begins]) => where === page && begins.test(text))) return []
  switch (language) {
    case "ts":
    case "js":
      return compiled.some((code) => code.includes(bare(text)))
        ? []
        : ["is in no program that tests compile: put it into tests/repository/fragments"]
    case "yaml":
      return yamlFaults(text)
    case "json":
      return jsonFaults(text)
    case "":
    case "console":
    case "sh":
      return shellFaults(text, programs)
    default:
      return [`nothing checks ${language}`]
  }
}
