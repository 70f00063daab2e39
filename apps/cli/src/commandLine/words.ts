/**
 * The words of a command line: which flags are given, with which texts, and what is left; and what the global flags are set to, before the
 * command is known. A switch never takes the word after it (`delete --yes 1 2` deletes both), and no value is taken for a flag
 * (`--sort -name`). Without Effect, because help and completions read words too.
 */
import type { FlagHelp } from "./CommandHelp.ts"
import { globalFlagList, globalFlags } from "./globalFlags.ts"

export interface Words {
  /**
   * The texts of each flag that is given, in their order; undefined for one that lacks its value, "true" for a switch. A flag is found by its
   * very description, not by an equal one.
   */
  readonly flags: ReadonlyMap<FlagHelp, ReadonlyArray<string | undefined>>
  /** What is no flag and no value of one, and everything behind `--`. */
  readonly operands: ReadonlyArray<string>
  /** The first flag that there is not, without its value: that may be a secret. */
  readonly unknown: string | undefined
}

/** Finds a flag by a spelling without its dashes; the first of that name counts. */
const finder = (flags: ReadonlyArray<FlagHelp>) => {
  const byName = new Map<string, FlagHelp>()
  for (const flag of flags) {
    for (const name of [flag.name, ...flag.aliases]) if (!byName.has(name)) byName.set(name, flag)
  }
  return (name: string) => byName.get(name)
}

/** What a switch may be set to, as in `--yes=no`. */
export const isOn: ReadonlyMap<string, boolean> = new Map([
  ...["true", "yes", "on", "1", "y"].map((word) => [word, true] as const),
  ...["false", "no", "off", "0", "n"].map((word) => [word, false] as const)
])

/** The letters that are short for a switch, the same in every command. */
export const switchLetters: Readonly<Record<string, string>> = { include: "i", yes: "y" }

/** A negative number is a value: no flag is a digit. */
const isFlag = (word: string): boolean => /^-[^\d]/.test(word)

/** Reads the words by the flags that there are. Of a flag that is given more than once and is not repeatable, the last counts. */
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
    /** The next word as a value, unless it is a flag of this command, which was more likely meant. */
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

/** Whether a word is a flag that exists, as far as can be seen from its beginning. */
const isKnown = (word: string, find: (name: string) => FlagHelp | undefined): boolean =>
  word.startsWith("--") ? find(word.slice(2).split("=")[0]!) !== undefined : find(word[1]!) !== undefined

/** The words of a list such as `id,name`. */
export const wordsOf = (list: string): ReadonlyArray<string> =>
  list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")

/** A command's own switches, as far as they have a letter: behind it may be that of a global flag, as in `-iojson`. */
const switches = Object.entries(switchLetters).map(([name, letter]): FlagHelp => ({
  ...globalFlags.quiet,
  name,
  aliases: [letter]
}))

/**
 * What a command line sets a global flag to, also one that cannot be parsed: an error is printed in the format, and with the colours,
 * that were asked for.
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
    allowHttp: isSet(globalFlags.allowHttp),
    quiet: isSet(globalFlags.quiet),
    debug: isSet(globalFlags.debug)
  }
}
