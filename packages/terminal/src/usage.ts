/**
 * Explains a wrong command line with one sentence and a hint, and finds words similar to a misspelled one.
 * `usageProblem` serves `berth-server` and `berth-watch`, whose command lines `effect/cli` parses; `berth` parses its
 * own. Reports only the first of several faults, because later ones often follow from it, and their sentences could
 * repeat a secret that is in the wrong place.
 */
import type { CliError } from "effect/cli"
import { isSecretName } from "@berthkit/core/domain/secretName"
import { variables } from "./variables.ts"

/** A fault of a command line. */
export interface UsageProblem {
  /** One sentence: what is wrong. */
  readonly message: string
  /** One sentence: what to do next. */
  readonly hint: string
}

/** What differs between the programs. */
export interface UsageOptions {
  /**
   * Whether some flags of the program take a secret. If not, the hint for a flag that looks like a secret names the
   * environment variables. Default: false.
   */
  readonly hasSecretFlags?: boolean
}

/** Maximum number of suggestions in a sentence. */
const maxSuggestions = 3

/** The end of a sentence with suggestions. */
export const didYouMean = (suggestions: ReadonlyArray<string>): string => {
  const named = suggestions.slice(0, maxSuggestions)
  if (named.length === 0) return "."
  return `; did you mean ${[named.slice(0, -1).join(", "), named.at(-1)].filter(Boolean).join(" or ")}?`
}

/** The number of letters to add, drop, change or swap with their neighbour to turn one word into another. */
const distance = (from: string, to: string): number => {
  let before: ReadonlyArray<number> = []
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1))
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (isSwapped) next[j] = Math.min(next[j]!, before[j - 2]! + 1)
    }
    before = row
    row = next
  }
  return row[to.length]!
}

/** Maximum length of a word that gets suggestions: a longer one is no misspelling, and would take long to compare. */
const maxWordLength = 100

/** Minimum length of a beginning that is completed: a shorter one matches too many words. */
const minBeginning = 2

/** The words that begin with this one. */
const completed = (word: string, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  word.length < minBeginning ? [] : words.filter((each) => each.toLowerCase().startsWith(word.toLowerCase()))

/** The words whose spelling is nearest to this word. If none is near, the words that begin with it. */
export const nearest = (word: string, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (word.length > maxWordLength) return []
  // A short word may differ in one step only, because with half of its letters changed it would match too many words: `wide` is not `id`.
  const maxSteps = word.length < 5 ? 1 : Math.max(2, Math.floor(word.length / 3))
  const near = words
    // If lengths differ by n, at least n steps are necessary.
    .filter((each) => Math.abs(each.length - word.length) <= maxSteps)
    .map((each) => ({ each, steps: distance(word.toLowerCase(), each.toLowerCase()) }))
    // If as many steps are necessary as the word has letters, it is another word: `c` is not `a`.
    .filter(({ steps }) => steps < word.length)
  const minSteps = near.reduce((min, { steps }) => Math.min(min, steps), Number.POSITIVE_INFINITY)
  return minSteps > maxSteps
    ? completed(word, words)
    : near.filter(({ steps }) => steps === minSteps).map(({ each }) => each)
}

/**
 * The sentence about an invalid value. The parser's message has either a list of the choices or our own text about what was
 * expected.
 */
const invalidValue = (error: CliError.InvalidValue): string => {
  const what = error.kind === "flag" ? `--${error.option}` : error.option
  const choices = Array.from(error.expected.matchAll(/"([^"]+)"/g), ([, choice]) => choice ?? "")
  if (error.value === "") return `${what} needs a value.`
  if (error.expected === "at most 1 value") return `${what} can be given only once.`
  if (choices.length === 0) return `${what} cannot be ${error.value}: ${error.expected.replace(/\.$/, "")}.`
  const near = nearest(error.value, choices)
  return near.length === 0
    ? `${what} cannot be ${error.value}: expected ${choices.join(", ")}.`
    : `${what} cannot be ${error.value}${didYouMean(near)}`
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

/**
 * The problem if somebody passes a secret in a flag that does not exist, judged by the flag's name; undefined for other
 * flags.
 */
export const secretProblem = (command: string, flag: string): UsageProblem | undefined =>
  isSecretName(flag)
    ? {
        message: `${command} has no flag ${flag}: secrets do not belong on a command line.`,
        hint: `Set ${variables.apiKey} and ${variables.accessToken} in the environment.`
      }
    : undefined

/** Why `program` cannot run a command line. */
export const usageProblem = (
  program: string,
  error: CliError.CliError,
  { hasSecretFlags = false }: UsageOptions = {}
): UsageProblem => {
  const help = error._tag === "ShowHelp"
  const command = help ? error.commandPath.join(" ") : program
  const hint = `See ${command} --help.`
  const [first] = help ? error.errors : [error]
  if (first === undefined) return { message: `${command} needs a command.`, hint }
  const isUnknown = first._tag === "UnrecognizedOption" && first.suggestions.length === 0
  const secret = isUnknown && !hasSecretFlags ? secretProblem(command, first.option) : undefined
  return secret ?? { message: sentence(first, command), hint }
}
