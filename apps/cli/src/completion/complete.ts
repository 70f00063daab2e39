/**
 * Computes what may come next on a command line: commands, flags, values. Pure and without Effect, because the user waits for it after
 * pressing Tab.
 */
import type { CommandHelp, FlagHelp } from "../commandLine/CommandHelp.ts"
import { type CommandTree, isNoun } from "../commandLine/CommandTree.ts"
import { globalFlagList } from "../commandLine/globalFlags.ts"
import { named } from "../commandLine/Request.ts"
import { readWords } from "../commandLine/words.ts"

/** A word that fits at the cursor. */
export interface Candidate {
  readonly value: string
  readonly description: string
}

/** Kinds of values that the command tree does not have. Profiles are read from the profile file, all others from the service. */
export type DynamicKind = "nodes" | "plans" | "images" | "profiles"

/** The possible continuations: known words, values to read, or a file. */
export interface Completion {
  readonly candidates: ReadonlyArray<Candidate>
  readonly dynamic: DynamicKind | undefined
  readonly files: boolean
  /** The part of the word before the value, such as `--output=` in `--output=js`. */
  readonly prefix: string
  /** The typed part of the value. */
  readonly partial: string
}

const nothing = { candidates: [], dynamic: undefined, files: false, prefix: "" }

/** The dynamic values of flags and arguments, by name. */
const kinds: ReadonlyMap<string, DynamicKind> = new Map([
  ["node", "nodes"],
  ["plan", "plans"],
  ["image", "images"],
  ["profile", "profiles"]
])

/** The columns that a flag accepts. */
const columnsFor = (name: string, description: CommandHelp | undefined): ReadonlyArray<string> => {
  if (description === undefined || description.columns.length === 0) return []
  return name === "columns" ? [...description.columns, "all"] : name === "sort" ? description.sortColumns : []
}

/** The values that may follow the last comma, except those already in the list. A sign before the value is kept. */
const listed = (flag: FlagHelp, choices: ReadonlyArray<string>, partial: string): ReadonlyArray<string> => {
  const at = partial.lastIndexOf(",") + 1
  const given = partial.slice(0, at)
  const sign = flag.name === "sort" ? (/^[-+]/.exec(partial.slice(at))?.[0] ?? "") : ""
  const words = given.split(",").map((word) => (flag.name === "sort" ? word.replace(/^[-+]/, "") : word))
  return choices.filter((choice) => !words.includes(choice)).map((choice) => `${given}${sign}${choice}`)
}

/** The values of a flag that may complete `partial`. */
const flagValues = (flag: FlagHelp, description: CommandHelp | undefined, partial: string) => {
  const { choices, list, metavar, name } = flag
  const known = choices.length > 0 ? choices : columnsFor(name, description)
  return valuesOf(name, list ? listed(flag, known, partial) : known, metavar)
}

/** The values of a flag or an argument. */
const valuesOf = (
  name: string,
  choices: ReadonlyArray<string>,
  metavar: string | null
): Pick<Completion, "candidates" | "dynamic" | "files"> => ({
  candidates: choices.map((value) => ({ value, description: "" })),
  dynamic: choices.length > 0 ? undefined : kinds.get(name.toLowerCase()),
  files: /FILE/.test(metavar ?? "")
})

const find = (flags: ReadonlyArray<FlagHelp>, spelling: string): FlagHelp | undefined =>
  spelling.startsWith("--")
    ? flags.find(({ aliases, name }) => spelling === `--${name}` || aliases.some((alias) => spelling === `--${alias}`))
    : flags.find(({ aliases }) => aliases.some((alias) => spelling === `-${alias}`))

/** Returns the help of a path; undefined if there is none. */
type HelpAt = (path: string) => CommandHelp | undefined

const flagsAt = (description: CommandHelp | undefined): ReadonlyArray<FlagHelp> =>
  description === undefined ? globalFlagList : description.flagGroups.flatMap(({ flags }) => flags)

/** Reads the words before the cursor like those of a command line. */
const positionOf = (tree: CommandTree<unknown>, helpAt: HelpAt, words: ReadonlyArray<string>) => {
  const typed = readWords(words, globalFlagList).operands
  // `berth help node list` refers to the named command.
  const before = typed[0] === "help" ? 1 : 0
  const [first = "", second = ""] = typed.slice(before)
  const entry = named(tree, first)
  const verb = entry !== undefined && isNoun(entry) ? named(entry.verbs, second) : undefined
  const path = [entry, verb].flatMap((each) => each?.name ?? [])
  const flags = flagsAt(helpAt(path.join(" ")))
  const { flags: given, operands } = readWords(words, flags)
  const onlyWords = words.includes("--")
  const last = onlyWords ? undefined : find(flags, words.at(-1) ?? "")
  return {
    path,
    /** Positional words after the command. */
    positionals: operands.slice(before + path.length),
    given,
    /** The flag whose value comes next. */
    awaits: last?.metavar === null ? undefined : last,
    flags,
    onlyWords
  }
}

/** The commands of a group. */
const commandsAt = (tree: CommandTree<unknown>, path: ReadonlyArray<string>): ReadonlyArray<Candidate> => {
  const noun = tree.find(({ name }) => name === path[0])
  const entries = path.length === 0 ? tree : noun !== undefined && isNoun(noun) && path.length === 1 ? noun.verbs : []
  return entries.map(({ name, summary }) => ({ value: name, description: summary }))
}

const flagCandidates = ({ flags, given }: ReturnType<typeof positionOf>): ReadonlyArray<Candidate> =>
  flags
    .filter((flag) => flag.repeatable || !given.has(flag))
    .map(({ description, name }) => ({ value: `--${name}`, description }))

/** The possible continuations. `words` are the words before the cursor, followed by the word at the cursor. */
export const complete = (tree: CommandTree<unknown>, helpAt: HelpAt, words: ReadonlyArray<string>): Completion => {
  const partial = words.at(-1) ?? ""
  const position = positionOf(tree, helpAt, words.slice(0, -1))
  const { awaits, flags, onlyWords, path, positionals } = position
  const description = helpAt(path.join(" "))
  if (awaits !== undefined) return { ...nothing, ...flagValues(awaits, description, partial), partial }
  if (!onlyWords && partial.startsWith("--") && partial.includes("=")) {
    const at = partial.indexOf("=")
    const flag = find(flags, partial.slice(0, at))
    if (flag === undefined) return { ...nothing, partial }
    const value = partial.slice(at + 1)
    return { ...nothing, ...flagValues(flag, description, value), prefix: partial.slice(0, at + 1), partial: value }
  }
  if (!onlyWords && partial.startsWith("-")) return { ...nothing, candidates: flagCandidates(position), partial }
  const commands = commandsAt(tree, path)
  if (commands.length > 0) return { ...nothing, candidates: commands, partial }
  // `berth schema node list` takes the words of a command as arguments.
  if (path[0] === "schema") return { ...nothing, candidates: commandsAt(tree, positionals), partial }
  const args = description?.arguments ?? []
  const argument = args[positionals.length] ?? (args.at(-1)?.repeatable === true ? args.at(-1) : undefined)
  if (argument === undefined) return { ...nothing, partial }
  return { ...nothing, ...valuesOf(argument.name, argument.choices, null), partial }
}

/** Joins words that Bash splits at `=`. */
export const joined = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const whole: Array<string> = []
  for (const [at, word] of words.entries()) {
    const before = whole.at(-1)
    const belongs = word === "=" ? before?.startsWith("--") : words[at - 1] === "=" && before?.endsWith("=")
    if (belongs === true) whole[whole.length - 1] = before + word
    else whole.push(word)
  }
  return whole
}

/** Characters that would control a terminal or break a line of the completion's output. */
const obeyed = /[\p{Cc}\p{Cf}\u2028\u2029]/u

/** Names with such characters are not offered. */
const isPlain = (value: string): boolean => value !== "" && !obeyed.test(value)

/** Removes such characters from a description, which may contain a string of the service, such as an unknown status. */
const plainText = (description: string): string =>
  description.replaceAll(new RegExp(`(?:${obeyed.source}|\\s)+`, "gu"), " ")

/** The lines for a shell: a value, a tab, and its description; or `:files`. */
export const completionLines = (
  { candidates, files, partial, prefix }: Completion,
  dynamic: ReadonlyArray<Candidate>,
  shell: string
): string => {
  if (files) return ":files\n"
  // Bash replaces only the text after `=`, and PowerShell only the text after the comma.
  const before = shell === "bash" ? "" : prefix
  const kept = shell === "powershell" ? partial.lastIndexOf(",") + 1 : 0
  const seen = new Set<string>()
  return [...candidates, ...dynamic]
    .filter(({ value }) => value.startsWith(partial) && isPlain(value) && !seen.has(value) && seen.add(value))
    .map(({ description, value }) => `${kept === 0 ? before : ""}${value.slice(kept)}\t${plainText(description)}\n`)
    .join("")
}
