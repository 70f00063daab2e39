/**
 * A wrong command line in one sentence, with the nearest right spelling.
 */
import type { CliError } from "effect/cli"

const didYouMean = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : ` Did you mean ${suggestions.join(" or ")}?`

const sentence = (text: string): string => (/[.?!]$/.test(text) ? text : `${text}.`)

/** What is wrong; of several things the first. */
export const usageMessage = (error: CliError.CliError): string => {
  switch (error._tag) {
    case "ShowHelp":
      return error.errors[0] === undefined ? "A command is needed: once or run." : usageMessage(error.errors[0])
    case "UnrecognizedOption":
      return `There is no flag ${error.option}.${didYouMean(error.suggestions)}`
    case "UnknownSubcommand":
      return `There is no command ${error.subcommand}.${didYouMean(error.suggestions)}`
    default:
      return sentence(error.message)
  }
}
