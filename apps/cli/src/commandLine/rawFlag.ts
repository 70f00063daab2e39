/**
 * What a command line sets a global flag to, also one that cannot be parsed: an error is printed in the format, and with the colours,
 * that were asked for.
 */
import type { FlagHelp } from "./CommandHelp.ts"
import { globalFlagList, globalFlags } from "./globalFlags.ts"
import { readWords } from "./words.ts"

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

export const rawFlags = (args: ReadonlyArray<string>): RawFlags => {
  const { flags } = readWords(args, globalFlagList)
  const textOf = (flag: FlagHelp) => flags.get(flag)?.[0]
  return {
    output: textOf(globalFlags.output),
    color: textOf(globalFlags.color),
    profile: textOf(globalFlags.profile),
    baseUrl: textOf(globalFlags.baseUrl),
    allowHttp: textOf(globalFlags.allowHttp) === "true",
    quiet: textOf(globalFlags.quiet) === "true",
    debug: textOf(globalFlags.debug) === "true"
  }
}
