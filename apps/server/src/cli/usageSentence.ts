/**
 * The first mistake of a command line, in one sentence. Later ones often follow from it.
 */
import type { CliError } from "effect/cli"

const didYouMean = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`

/** The values a flag takes, from the parser's words: choices, or a number. Every number here is a whole one. */
const expectation = (expected: string): string =>
  /\b(?:number|integer)\b/.test(expected)
    ? "a whole number"
    : expected
        .replace(/^Expected /, "")
        .replaceAll(" | ", ", ")
        .replaceAll('"', "")

/** The first fault, with the nearest right spelling where there is one. */
export const usageSentence = ([first]: ReadonlyArray<CliError.NonShowHelpErrors>): string => {
  if (first === undefined) return "the command line cannot be read"
  switch (first._tag) {
    case "UnrecognizedOption":
      return `there is no flag ${first.option}${didYouMean(first.suggestions)}`
    case "UnknownSubcommand":
      return `there is no command ${first.subcommand}${didYouMean(first.suggestions)}`
    case "InvalidValue":
      // A sentence of our own begins with the name of its flag.
      return first.expected.startsWith(`--${first.option}:`)
        ? first.expected
        : `--${first.option}: expected ${expectation(first.expected)}, not ${JSON.stringify(first.value)}`
    default:
      return first.message.split("\n", 1)[0]!
  }
}
