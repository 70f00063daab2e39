/**
 * What a command line sets a global flag to, also one that cannot be parsed: an error is printed in the format, and with the colours,
 * that were asked for.
 */
import type { FlagHelp } from "./CommandHelp.ts"
import { globalFlagList, globalFlags } from "./globalFlags.ts"
import { isOn, readWords, switchLetters } from "./words.ts"

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

/** A command's own switches, as far as they have a letter: behind it may be that of a global flag, as in `-iojson`. */
const switches = Object.entries(switchLetters).map(([name, letter]): FlagHelp => ({
  ...globalFlags.quiet,
  name,
  aliases: [letter]
}))

export const rawFlags = (args: ReadonlyArray<string>): RawFlags => {
  const { flags } = readWords(args, [...globalFlagList, ...switches])
  const textOf = (flag: FlagHelp) => flags.get(flag)?.[0]
  const isSet = (flag: FlagHelp) => isOn.get(textOf(flag) ?? "") === true
  return {
    output: textOf(globalFlags.output),
    color: textOf(globalFlags.color),
    profile: textOf(globalFlags.profile),
    baseUrl: textOf(globalFlags.baseUrl),
    allowHttp: isSet(globalFlags.allowHttp),
    quiet: isSet(globalFlags.quiet),
    debug: isSet(globalFlags.debug)
  }
}
