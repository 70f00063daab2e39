/** Compares the help of the three programs. It must look the same, whichever parser reads the command line. */
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { Program } from "@berthkit/testing/Program"

const binaries = {
  berth: "../../apps/cli/bin/berth.mjs",
  "berth-watch": "../../apps/watch/bin/berth-watch.mjs",
  "berth-server": "../../apps/server/bin/berth-server.mjs"
}

const commands: ReadonlyArray<readonly [keyof typeof binaries, ReadonlyArray<string>]> = [
  ["berth", ["node", "create"]],
  ["berth", ["node", "list"]],
  ["berth-watch", []],
  ["berth-watch", ["run"]],
  ["berth-watch", ["silence", "add"]],
  ["berth-watch", ["sinks", "test"]],
  ["berth-server", []],
  ["berth-server", ["learn"]]
]

const headings = ["USAGE", "COMMANDS", "ARGUMENTS", "FLAGS", "EXAMPLES", "GLOBAL FLAGS"]

describe("the help of the programs", () => {
  it.each(commands)("%s %j has one look", async (name, args) => {
    const binary = fileURLToPath(new URL(binaries[name], import.meta.url))
    const text = await Program.ofNode(binary, [...args, "--help"]).succeeded()
    const [summary = ""] = text.split("\n")
    assert.match(summary, /^[A-Z]/)
    const titles = text
      .split("\n")
      .filter((line) => /^[A-Z][A-Z ]+$/.test(line))
      .map((line) => (line.endsWith(" FLAGS") && line !== "GLOBAL FLAGS" ? "FLAGS" : line))
    assert.includeMembers(titles, ["USAGE"])
    assert.deepStrictEqual(
      titles,
      titles.toSorted((a, b) => headings.indexOf(a) - headings.indexOf(b))
    )
    // A metavar names the value, not its type, and choices are in the description, not in the name.
    assert.notMatch(text, / --[a-z-]+ (string|integer|float|choice|<)/)
    assert.notMatch(text, /choices:/)
    for (const line of text.split("\n")) assert.isAtMost(line.length, 100, line)
    if (!text.includes("\nCOMMANDS\n")) assert.match(text, new RegExp(`See ${name} --help\\.`))
  })

  it.each(Object.keys(binaries) as ReadonlyArray<keyof typeof binaries>)(
    "%s lists the same flags for help, version and completions, and answers them alike",
    async (name) => {
      const answer = (...args: ReadonlyArray<string>) =>
        Program.ofNode(fileURLToPath(new URL(binaries[name], import.meta.url)), args).succeeded()
      const help = await answer("--help")
      for (const flag of ["-h, --help ", "-v, --version ", "    --completions "]) assert.include(help, `  ${flag}`)
      for (const flag of ["--version", "-v"])
        assert.match(await answer(flag), new RegExp(`^${name} \\d+\\.\\d+\\.\\d+\n$`))
      assert.strictEqual(await answer("--completions", "sh"), await answer("--completions", "bash"))
      for (const shell of ["bash", "zsh", "fish", "powershell", "pwsh"]) {
        assert.include(await answer("--completions", shell), name)
      }
    }
  )

  it.each<readonly [keyof typeof binaries, ReadonlyArray<string>, string]>([
    ["berth", ["nods"], "berth has no command nods"],
    ["berth-watch", ["dead-letters"], "berth-watch has no command dead-letters"],
    ["berth-watch", ["sinks", "tset"], "berth-watch sinks has no command tset; did you mean test?"],
    ["berth-server", ["lern"], "berth-server has no command lern; did you mean learn?"]
  ])("%s %j --help says that there is no such command", async (name, args, message) => {
    const binary = fileURLToPath(new URL(binaries[name], import.meta.url))
    await using program = Program.ofNode(binary, [...args, "--help"], { env: process.env })
    const { code, stderr, stdout } = await program.ended
    assert.deepStrictEqual([code, stdout], [2, ""])
    assert.include(stderr, message)
  })
})
