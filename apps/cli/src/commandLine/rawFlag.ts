/**
 * What a command line sets a global flag to, also one that cannot be parsed: an error is printed in the format, and with the colours,
 * that were asked for.
 */
import type { FlagDescription } from "./CommandDescription.ts"
import { globalFlagList, globalFlags } from "./globalFlags.ts"

/** Letters of global flags that take a value: they end a word of letters such as `-io`. */
const isValueLetter = (letter: string) =>
  globalFlagList.some(({ aliases, metavar }) => metavar !== null && aliases.includes(letter))

/** The last value that the arguments give the flag; `true` for a switch; undefined where it is not given. */
const rawValue = ({ aliases, metavar, name }: FlagDescription, args: ReadonlyArray<string>): string | undefined => {
  const end = args.indexOf("--")
  const words = end === -1 ? args : args.slice(0, end)
  let value: string | undefined
  for (const [at, word] of words.entries()) {
    if (word === `--${name}`) value = metavar === null ? "true" : (words[at + 1] ?? value)
    else if (word.startsWith(`--${name}=`)) value = word.slice(name.length + 3)
    else if (/^-[^-]/.test(word) && aliases.includes(word[1]!) && isValueLetter(word[1]!)) {
      value = word.length === 2 ? (words[at + 1] ?? value) : word.slice(2).replace(/^=/, "")
    }
  }
  return value
}

/** What the command line asks for, as far as it can be read. */
export interface RawFlags {
  readonly output: string | undefined
  readonly color: string | undefined
  readonly profile: string | undefined
  readonly baseUrl: string | undefined
  readonly allowHttp: boolean
  readonly quiet: boolean
  readonly debug: boolean
}

export const rawFlags = (args: ReadonlyArray<string>): RawFlags => ({
  output: rawValue(globalFlags.output, args),
  color: rawValue(globalFlags.color, args),
  profile: rawValue(globalFlags.profile, args),
  baseUrl: rawValue(globalFlags.baseUrl, args),
  allowHttp: rawValue(globalFlags.allowHttp, args) === "true",
  quiet: rawValue(globalFlags.quiet, args) === "true",
  debug: rawValue(globalFlags.debug, args) === "true"
})

/** The profile that words of a command line name. */
export const profileOf = (words: ReadonlyArray<string>): string | undefined => rawValue(globalFlags.profile, words)
