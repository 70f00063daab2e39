/**
 * The examples of every help text are command lines that the program takes.
 */
import { tree } from "@berthkit/cli/commands"
import { verbsOf } from "@berthkit/cli/commandTree"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"

/** The words of an example as a shell has them: of a substitution what it gives, of a pipe the first command. */
const wordsOf = (example: string): ReadonlyArray<string> => {
  const line = example.startsWith("berth ") ? example.replace(/\$\(.*\)/, "1") : example.replace(/^.*\$\(|\).*$/g, "")
  const [own = ""] = line.split(/ [|<] /)
  return (own.match(/'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replaceAll("'", ""))
}

/** Faults of a command line itself, not of what it names. */
const unparsed = /has no (?:flag|command)|takes no further|cannot be|needs a (?:value|command)|needs (?:--|[A-Z])/

const examples = verbsOf(tree).flatMap(({ path, verb }) =>
  verb.examples
    // At a terminal it asks for the rest.
    .filter(({ command }) => command !== "berth node create")
    .map(({ command }) => [path.join(" "), command] as const)
)

describe("an example in the help of", () => {
  it.live.each(examples)("berth %s is a command line that it takes: %s", ([command, example]) =>
    Effect.gen(function* () {
      // A login reads stdin, which only a process has for itself.
      const { stderr } = yield* (command === "auth login" ? run : invoke)(wordsOf(example), { env: {} })
      assert.notMatch(stderr, unparsed)
    })
  )
})
