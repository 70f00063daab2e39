/**
 * What is wrong with a command line, in one sentence and a hint, from what the parser found. Of several faults only the
 * first is told: the later ones often follow from it, and may repeat a secret that was given where none belongs.
 */
import type { CliError } from "effect/cli"
import { UsageFault } from "./CliFailure.ts"

/** Flags that people expect to take a secret. */
const secretFlag = /key|token|secret|password/i

const didYouMean = (suggestions: ReadonlyArray<string>) =>
  suggestions.length === 0 ? "." : `; did you mean ${suggestions.join(" or ")}?`

/** Letters to add, drop or change to get from one word to the other. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1))
    }
    row = next
  }
  return row[to.length]!
}

/** Those of the words that are spelled most like this one, if any is near. */
export const nearest = (word: string, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const near = words.map((each) => ({ each, steps: distance(word.toLowerCase(), each.toLowerCase()) }))
  const fewest = Math.min(...near.map(({ steps }) => steps))
  return fewest > Math.max(2, Math.floor(word.length / 3))
    ? []
    : near.filter(({ steps }) => steps === fewest).map(({ each }) => each)
}

/** What a value may be, from the parser's words: a list of choices, or a sentence of ours. */
const invalidValue = (error: CliError.InvalidValue): string => {
  const what = error.kind === "flag" ? `--${error.option}` : error.option
  const choices = Array.from(error.expected.matchAll(/"([^"]+)"/g), ([, choice]) => choice ?? "")
  if (error.value === "") return `${what} needs a value.`
  if (choices.length === 0) return `${what} cannot be ${error.value}: ${error.expected.replace(/\.$/, "")}.`
  const suggestion = didYouMean(nearest(error.value, choices))
  return suggestion === "."
    ? `${what} cannot be ${error.value}: expected ${choices.join(", ")}.`
    : `${what} cannot be ${error.value}${suggestion}`
}

const sentence = (error: CliError.NonShowHelpErrors, command: string): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `${error.command?.join(" ") ?? command} has no flag ${error.option}${didYouMean(error.suggestions)}`
    case "UnknownSubcommand":
      return `${error.parent?.join(" ") ?? command} has no command ${error.subcommand}${didYouMean(error.suggestions)}`
    case "MissingOption":
      return `${command} needs --${error.option}.`
    case "MissingArgument":
      return `${command} needs ${error.argument}.`
    case "UnexpectedArgument":
      return `${command} takes no further argument: ${error.arguments.join(" ")}.`
    case "InvalidValue":
      return invalidValue(error)
    case "DuplicateOption":
    case "ValidationError":
    case "UserError":
      return error.message
  }
}

/** The fault of a command line that cannot be run; `errors` is empty where a command was left out. */
export const usageFault = (
  commandPath: ReadonlyArray<string>,
  errors: ReadonlyArray<CliError.NonShowHelpErrors>
): UsageFault => {
  const command = commandPath.join(" ")
  const hint = `See ${command} --help.`
  const [first] = errors
  if (first === undefined) return new UsageFault({ message: `${command} needs a command.`, hint })
  if (first._tag === "UnrecognizedOption" && first.suggestions.length === 0 && secretFlag.test(first.option)) {
    return new UsageFault({
      message: `${command} has no flag ${first.option}: a command line is no place for a secret.`,
      hint: "Set BERTH_API_KEY and BERTH_ACCESS_TOKEN in the environment."
    })
  }
  return new UsageFault({ message: sentence(first, command), hint })
}
