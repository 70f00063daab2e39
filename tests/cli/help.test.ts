/** The program accepts the examples of every help text. */
import { tree } from "@berthkit/cli/commands"
import { verbsOf } from "@berthkit/cli/commandTree"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { invoke } from "./invoke.ts"

/**
 * The words of an example as a shell would pass them. A substitution among the arguments becomes `1`. If the whole command is in a
 * substitution, its content counts. Only the first command of a pipe counts.
 */
const wordsOf = (example: string): ReadonlyArray<string> => {
  const line = example.startsWith("berth ") ? example.replace(/\$\(.*\)/, "1") : example.replace(/^.*\$\(|\).*$/g, "")
  const [own = ""] = line.split(/ [|<] /)
  return (own.match(/'[^']*'|\S+/g) ?? []).slice(1).map((word) => word.replaceAll("'", ""))
}

/** Errors about the command line itself, not about the nodes or files that it names. */
const unparsed = /has no (?:flag|command)|takes no further|cannot be|needs a (?:value|command)|needs (?:--|[A-Z])/

const examples = verbsOf(tree).flatMap(({ path, verb }) =>
  verb.examples
    // At a terminal this command asks for the missing values.
    .filter(({ command }) => command !== "berth node create")
    .map(({ command }) => [path.join(" "), command] as const)
)

describe("an example in the help of", () => {
  it.live.each(examples)("berth %s is a command line that it takes: %s", ([command, example]) =>
    Effect.gen(function* () {
      // A login reads stdin, so it needs a separate process.
      const { stderr } = yield* (command === "auth login" ? run : invoke)(wordsOf(example), { env: {} })
      assert.notMatch(stderr, unparsed)
    })
  )
})
