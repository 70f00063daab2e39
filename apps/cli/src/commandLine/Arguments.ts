/**
 * The arguments of a command in one spelling, before the parser reads them: every flag with its value as `--name=value`, so that no
 * switch takes the word after it (`delete --yes 1 2` deletes both) and no value is taken for a flag (`--sort -name`). Which flag is
 * what comes from the command itself. Pure.
 */
import type { FlagDescription } from "./CommandDescription.ts"

/** Arguments in one spelling, and the first flag that the command does not have, without its value. */
export interface Canonical {
  readonly args: ReadonlyArray<string>
  readonly unknown: string | undefined
}

interface Given {
  readonly flag: FlagDescription
  /** None where the flag needs a value and has none. */
  readonly value: string | undefined
}

/** Finds a flag by a spelling without its dashes; the command's own come before the global ones. */
const finder = (flags: ReadonlyArray<FlagDescription>) => {
  const byName = new Map<string, FlagDescription>()
  for (const flag of flags) {
    for (const name of [flag.name, ...flag.aliases]) if (!byName.has(name)) byName.set(name, flag)
  }
  return (name: string) => byName.get(name)
}

/** A negative number is a value: no flag is a digit. */
const isFlag = (arg: string): boolean => /^-[^\d]/.test(arg)

/** The arguments in one spelling. Of a flag that is given more than once and is not repeatable, the last counts. */
export const canonical = (args: ReadonlyArray<string>, flags: ReadonlyArray<FlagDescription>): Canonical => {
  const find = finder(flags)
  const end = args.includes("--") ? args.indexOf("--") : args.length
  const given: Array<Given | string> = []
  let unknown: string | undefined

  for (let at = 0; at < end; at++) {
    const arg = args[at]!
    if (!isFlag(arg)) {
      given.push(arg)
      continue
    }
    /** The next argument as a value, unless it is a flag of this command, which was more likely meant. */
    const following = () => {
      const next = at + 1 < end ? args[at + 1] : undefined
      if (next === undefined || (isFlag(next) && isKnown(next, find))) return undefined
      at++
      return next
    }
    if (arg.startsWith("--")) {
      const [, name = "", attached] = /^--([^=]*)(?:=([^]*))?$/.exec(arg) ?? []
      const flag = find(name)
      if (flag === undefined || name.length === 1) unknown ??= `--${name}`
      else if (flag.metavar === null) given.push({ flag, value: attached ?? "true" })
      else given.push({ flag, value: attached ?? following() })
      continue
    }
    // `-o json`, `-o=json`, `-ojson`, and switches in one word: `-iy`.
    for (let rest = arg.slice(1); rest !== "";) {
      const letter = rest[0]!
      const flag = find(letter)
      rest = rest.slice(1)
      if (flag === undefined) {
        unknown ??= `-${letter}`
        break
      }
      if (flag.metavar === null) {
        given.push({ flag, value: "true" })
        continue
      }
      given.push({ flag, value: rest === "" ? following() : rest.replace(/^=/, "") })
      rest = ""
    }
  }
  return { args: [...written(given), ...args.slice(end)], unknown }
}

/** Whether a word is a flag that exists, as far as can be seen from its beginning. */
const isKnown = (word: string, find: (name: string) => FlagDescription | undefined): boolean =>
  word.startsWith("--") ? find(word.slice(2).split("=")[0]!) !== undefined : find(word[1]!) !== undefined

const written = (given: ReadonlyArray<Given | string>): ReadonlyArray<string> => {
  const last = new Map<FlagDescription, Given>()
  for (const each of given) if (typeof each !== "string") last.set(each.flag, each)
  return given.flatMap((each) => {
    if (typeof each === "string") return [each]
    const { flag, value } = each
    if (!flag.repeatable && last.get(flag) !== each) return []
    return [value === undefined ? `--${flag.name}` : `--${flag.name}=${value}`]
  })
}
