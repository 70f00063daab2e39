import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { FlagHelp } from "../../src/commandLine/CommandHelp.ts"
import { readWords } from "../../src/commandLine/words.ts"

const flag = (name: string, metavar: string | null, more: Partial<FlagHelp> = {}): FlagHelp => ({
  name,
  aliases: [],
  metavar,
  description: "",
  list: false,
  choices: [],
  required: false,
  repeatable: false,
  ...more
})
const flags = [
  flag("yes", null, { aliases: ["y"] }),
  flag("include", null, { aliases: ["i"] }),
  flag("tag", "TAG", { repeatable: true }),
  flag("sort", "KEY"),
  flag("output", "FORMAT", { aliases: ["o"] })
]
/** The strings of each flag by its name, and the remaining words. */
const words = (...args: ReadonlyArray<string>) => {
  const { flags: given, operands, unknown } = readWords(args, flags)
  return { given: Object.fromEntries(Array.from(given, ([{ name }, texts]) => [name, texts])), operands, unknown }
}

type Given = Readonly<Record<string, ReadonlyArray<string | undefined>>>

describe("the words of a command line", () => {
  it.each<readonly [title: string, args: ReadonlyArray<string>, given: Given, operands: ReadonlyArray<string>]>([
    ["close a switch against the word after it", ["--yes", "1", "2"], { yes: ["true"] }, ["1", "2"]],
    ["keep a switch that is turned off", ["--yes=false", "1"], { yes: ["false"] }, ["1"]],
    ["read letters in one word", ["-iy", "1"], { include: ["true"], yes: ["true"] }, ["1"]],
    ["read a value behind its letter", ["-ojson"], { output: ["json"] }, []],
    ["read a value behind its letter and =", ["-o=json"], { output: ["json"] }, []],
    ["read letters and a value in one word", ["-yojson"], { yes: ["true"], output: ["json"] }, []],
    ["read the next word as a value", ["-o", "json", "1"], { output: ["json"] }, ["1"]],
    ["take a value that begins with a dash", ["--sort", "-name"], { sort: ["-name"] }, []],
    ["do not take a flag for a value", ["--sort", "--yes"], { sort: [undefined], yes: ["true"] }, []],
    ["let the last of a repeated flag count", ["-o", "json", "1", "--output=yaml"], { output: ["yaml"] }, ["1"]],
    ["keep every one of a repeatable flag", ["--tag", "a", "--tag=b"], { tag: ["a", "b"] }, []],
    ["leave words after -- alone", ["--yes", "--", "--yes", "-y"], { yes: ["true"] }, ["--yes", "-y"]],
    ["keep a lone dash and negative numbers as words", ["-", "-3"], {}, ["-", "-3"]],
    ["keep line feeds in a value", ["--tag", "a\nb"], { tag: ["a\nb"] }, []]
  ])("%s", (_, args, given, operands) => {
    assert.deepStrictEqual(words(...args), { given, operands, unknown: undefined })
  })

  it("report the first unknown flag without its value", () => {
    assert.strictEqual(words("--api-key=s3cr3t", "-x").unknown, "--api-key")
    assert.strictEqual(words("-yx").unknown, "-x")
  })

  it("are read the same when each flag is written with its value in one word", () => {
    const word = fc.oneof(
      fc.constantFrom("--yes", "-y", "-iy", "--tag", "--tag=a", "-ojson", "-o", "--sort", "1", "-name", "--", "-"),
      fc.string()
    )
    fc.assert(
      fc.property(fc.array(word), (args) => {
        const once = words(...args)
        const texts = Object.entries(once.given).flatMap(([name, values]) =>
          values.map((value) => [name, value] as const)
        )
        fc.pre(once.unknown === undefined && texts.every(([, value]) => value !== undefined))
        const written = texts.map(([name, value]) => `--${name}=${value}`)
        assert.deepStrictEqual(words(...written, "--", ...once.operands), once)
      })
    )
  })
})
