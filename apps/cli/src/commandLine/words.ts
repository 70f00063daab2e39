/**
 * Splits a command line into flags with their strings and the remaining words, and reads the global flags before the command is known. A
 * switch never consumes the next word (`delete --yes 1 2` deletes both), and a value is never read as a flag (`--sort -name`). This module
 * does not load Effect, because help and completions use it.
 */
import type { FlagHelp } from "./CommandHelp.ts"
import { globalFlagList, globalFlags } from "./globalFlags.ts"

export interface Words {
  /**
   * The strings of each given flag, in order: undefined for a missing value, and "true" for a switch. The key is the description object of
   * the flag itself, not an equal copy.
   */
  readonly flags: ReadonlyMap<FlagHelp, ReadonlyArray<string | undefined>>
  /** Words that are neither flags nor flag values, and everything after `--`. */
  readonly operands: ReadonlyArray<string>
  /** The first unknown flag. Its value is dropped, because it may be a secret. */
  readonly unknown: string | undefined
}

/** Finds a flag by its name without dashes; the first match wins. */
const finder = (flags: ReadonlyArray<FlagHelp>) => {
  const byName = new Map<string, FlagHelp>()
  for (const flag of flags) {
    for (const name of [flag.name, ...flag.aliases]) if (!byName.has(name)) byName.set(name, flag)
  }
  return (name: string) => byName.get(name)
}

/** The values of a switch, as in `--yes=no`. */
export const isOn: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const)
])

/** The short letters of switches, the same in every command. */
export const switchLetters: Readonly<Record<string, string>> = { include: "i", yes: "y" }

/** A negative number is a value, because no flag is a digit. */
const isFlag = (word: string): boolean => /^-[^\d]/.test(word)

/** Reads the words with the known flags. If a flag that is not repeatable occurs more than once, the last one counts. */
export const readWords = (words: ReadonlyArray<string>, known: ReadonlyArray<FlagHelp>): Words => {
  const find = finder(known)
  const end = words.includes("--") ? words.indexOf("--") : words.length
  const flags = new Map<FlagHelp, Array<string | undefined>>()
  const operands: Array<string> = []
  let unknown: string | undefined

  const give = (flag: FlagHelp, value: string | undefined) =>
    flags.set(flag, flag.repeatable ? [...(flags.get(flag) ?? []), value] : [value])
  for (let at = 0; at < end; at++) {
    const word = words[at]!
    if (!isFlag(word)) {
      operands.push(word)
      continue
    }
    /** Takes the next word as a value, unless the word is a flag of this command: then the user more likely meant the flag. */
    const following = () => {
      const next = at + 1 < end ? words[at + 1] : undefined
      if (next === undefined || (isFlag(next) && isKnown(next, find))) return undefined
      at++
      return next
    }
    if (word.startsWith("--")) {
      const [, name = "", attached] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? []
      const flag = find(name)
      if (flag === undefined || name.length === 1) unknown ??= `--${name}`
      else give(flag, attached ?? (flag.metavar === null ? "true" : (following() ?? flag.bare)))
      continue
    }
    // `-o json`, `-o=json`, `-ojson`, and switches in one word: `-iy`.
    for (let rest = word.slice(1); rest !== "";) {
      const letter = rest[0]!
      const flag = find(letter)
      rest = rest.slice(1)
      if (flag === undefined) {
        unknown ??= `-${letter}`
        break
      }
      if (flag.metavar === null) {
        give(flag, "true")
        continue
      }
      give(flag, rest === "" ? following() : rest.replace(/^=/, ""))
      rest = ""
    }
  }
  return { flags, operands: [...operands, ...words.slice(end + 1)], unknown }
}

/** Whether a word begins like a known flag. */
const isKnown = (word: string, find: (name: string) => FlagHelp | undefined): boolean =>
  word.startsWith("--") ? find(word.slice(2).split("=")[0]!) !== undefined : find(word[1]!) !== undefined

/** Splits a list such as `id,name` into words. */
export const wordsOf = (list: string): ReadonlyArray<string> =>
  list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")

/**
 * Those switches of commands that have a short letter. They must be known here, because the letter of a global flag may follow in the same
 * word, as in `-iojson`.
 */
const switches = Object.entries(switchLetters).map(([name, letter]): FlagHelp => ({
  ...globalFlags.quiet,
  name,
  aliases: [letter]
}))

/**
 * The global flags of a command line, even one that fails to parse, so that the error is printed in the requested format and colours.
 */
export const rawFlags = (args: ReadonlyArray<string>) => {
  const { flags } = readWords(args, [...globalFlagList, ...switches])
  const textOf = (flag: FlagHelp) => flags.get(flag)?.[0]
  const isSet = (flag: FlagHelp) => isOn.get(textOf(flag) ?? "") === true
  return {
    output: textOf(globalFlags.output),
    color: textOf(globalFlags.color),
    profile: textOf(globalFlags.profile),
    baseUrl: textOf(globalFlags.baseUrl),
    project: textOf(globalFlags.project),
    location: textOf(globalFlags.location),
    userAgent: textOf(globalFlags.userAgent),
    stateUrl: textOf(globalFlags.stateUrl),
    allowHttp: isSet(globalFlags.allowHttp),
    quiet: isSet(globalFlags.quiet),
    debug: isSet(globalFlags.debug)
  }
}
