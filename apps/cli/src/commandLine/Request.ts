/**
 * Finds out what a command line requests: help, the version, or a command with its arguments. Pure; the command itself is not loaded yet.
 */
import { nearest } from "@berthkit/terminal/usage"
import { type CommandTree, isNoun, type Noun, type Verb, verbsOf } from "./CommandTree.ts"
import { globalFlagList } from "./globalFlags.ts"
import { commandsLike } from "./suggestions.ts"

/** The place of a command in the tree. */
export interface Place<C> {
  /** For example `["node", "list"]`; empty for berth itself. */
  readonly path: ReadonlyArray<string>
  readonly entry: Noun<C> | Verb<C> | undefined
}

export type Request<C> =
  | { readonly _tag: "Version" }
  | { readonly _tag: "Help"; readonly place: Place<C> }
  | {
      readonly _tag: "Run"
      readonly path: ReadonlyArray<string>
      readonly verb: Verb<C>
      readonly args: ReadonlyArray<string>
    }
  /** A flag before the command that is not a global flag. Its value is left out, because it may be a secret. */
  | { readonly _tag: "UnknownFlag"; readonly path: ReadonlyArray<string>; readonly written: string }
  | { readonly _tag: "NoCommand"; readonly path: ReadonlyArray<string> }
  | {
      readonly _tag: "UnknownCommand"
      readonly path: ReadonlyArray<string>
      readonly word: string
      readonly suggestions: ReadonlyArray<string>
    }

const takesValue = (word: string): boolean =>
  globalFlagList.some(
    ({ aliases, metavar, name }) =>
      metavar !== null && (word === `--${name}` || aliases.some((alias) => word === `-${alias}`))
  )

/** Whether a word is a global flag, with or without its value. */
const isGlobal = (word: string): boolean =>
  globalFlagList.some(
    ({ aliases, metavar, name }) =>
      word === `--${name}` ||
      word.startsWith(`--${name}=`) ||
      aliases.some((alias) => (metavar === null ? word === `-${alias}` : word.startsWith(`-${alias}`)))
  )

/** Finds a command by its name or an alias. */
export const named = <E extends { readonly name: string; readonly aliases: ReadonlyArray<string> }>(
  entries: ReadonlyArray<E>,
  word: string
): E | undefined => entries.find(({ aliases, name }) => name === word || aliases.includes(word))

/** Words that work like commands, although they are not in the tree. */
const answered = ["help", "version"]

/**
 * Suggests commands for an unknown word: names in other tools, similar spellings, and commands one level deeper. Each command is suggested
 * once.
 */
const suggestionsFor = <C>(word: string, entries: CommandTree<C>, others: ReadonlyArray<string>) => {
  const own = [...entries.map(({ name }) => name), ...others]
  const deeper = entries.flatMap((entry) => (isNoun(entry) ? entry.verbs.map(({ name }) => [entry.name, name]) : []))
  const like = commandsLike(word, [...own, ...deeper.map((path) => path.join(" "))])
  if (like.length > 0) return like
  const near = nearest(word, [...entries.flatMap(({ aliases, name }) => [name, ...aliases]), ...others])
  if (near.length > 0) return Array.from(new Set(near.map((each) => named(entries, each)?.name ?? each)))
  const verbs = nearest(word, Array.from(new Set(deeper.map(([, verb]) => verb!))))
  return deeper.filter(([, verb]) => verbs.includes(verb!)).map((path) => path.join(" "))
}

/** Finds the first word, from the index `from` on, that is neither a flag nor the value of a global flag. */
const nextWord = (args: ReadonlyArray<string>, from: number): number => {
  let at = from
  while (at < args.length && args[at]!.startsWith("-") && args[at] !== "--") at += takesValue(args[at]!) ? 2 : 1
  return at < args.length && args[at] !== "--" ? at : -1
}

const without = (args: ReadonlyArray<string>, indexes: ReadonlyArray<number>) =>
  args.filter((_, index) => !indexes.includes(index))

/**
 * Whether one of the words before `--` is `--help` or `-h`. Switches that are combined in one word are read later, with the other words of
 * the command.
 */
const asksForHelp = (args: ReadonlyArray<string>): boolean => {
  const end = args.indexOf("--")
  return (end === -1 ? args : args.slice(0, end)).some((arg) => arg === "--help" || arg === "-h")
}

const isVersion = (arg: string | undefined) => arg === "--version" || arg === "-V" || arg === "-v"

/** `--completions SHELL`, which the other programs have, is `completion SHELL` here. */
const completionsOf = (args: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  const first = nextWord(args, 0)
  const at = args.findIndex((word) => /^--completions(=|$)/.test(word))
  if (at === -1 || (first !== -1 && at > first)) return undefined
  const value = args[at]!.split("=").slice(1)
  return ["completion", ...args.slice(0, at), ...value, ...args.slice(at + 1)]
}

/** Parses the request of the arguments. */
export const readRequest = <C>(tree: CommandTree<C>, args: ReadonlyArray<string>): Request<C> => {
  const completions = completionsOf(args)
  if (completions !== undefined) return readRequest(tree, completions)
  const first = nextWord(args, 0)
  const leading = first === -1 ? args : args.slice(0, first)
  if (leading.some(isVersion) || args[first] === "version") return { _tag: "Version" }
  const foreign = leading.find((word) => word.startsWith("-") && word !== "--" && !isGlobal(word))
  if (foreign !== undefined) return { _tag: "UnknownFlag", path: [], written: foreign.split("=")[0]! }
  if (args[first] === "help") return helpRequest(tree, without(args, [first]))
  if (first === -1) {
    return args.length === 0 || asksForHelp(args)
      ? { _tag: "Help", place: { path: [], entry: undefined } }
      : { _tag: "NoCommand", path: [] }
  }
  const word = args[first]!
  const entry = named(tree, word)
  if (entry === undefined) {
    return { _tag: "UnknownCommand", path: [], word, suggestions: suggestionsFor(word, tree, answered) }
  }
  if (!isNoun(entry)) return verbRequest([entry.name], entry, without(args, [first]))
  const second = nextWord(args, first + 1)
  if (second === -1) {
    if (args.slice(first).some(isVersion)) return { _tag: "Version" }
    return asksForHelp(args)
      ? { _tag: "Help", place: { path: [entry.name], entry } }
      : { _tag: "NoCommand", path: [entry.name] }
  }
  const verb = named(entry.verbs, args[second]!)
  if (verb !== undefined) return verbRequest([entry.name, verb.name], verb, without(args, [first, second]))
  if (asksForHelp(args)) return { _tag: "Help", place: { path: [entry.name], entry } }
  if (args[second] === "help") return helpRequest(tree, without(args, [second]))
  const own = suggestionsFor(args[second]!, entry.verbs, [])
  const elsewhere = () =>
    commandsLike(
      `${entry.name} ${args[second]}`,
      verbsOf(tree).map(({ path }) => path.join(" "))
    )
  const suggestions = own.length > 0 ? own : elsewhere()
  return { _tag: "UnknownCommand", path: [entry.name], word: args[second]!, suggestions }
}

const verbRequest = <C>(path: ReadonlyArray<string>, verb: Verb<C>, args: ReadonlyArray<string>): Request<C> =>
  asksForHelp(args) ? { _tag: "Help", place: { path, entry: verb } } : { _tag: "Run", path, verb, args }

/** Treats `berth help node list` as `berth node list --help`. */
const helpRequest = <C>(tree: CommandTree<C>, args: ReadonlyArray<string>): Request<C> => {
  const request = readRequest(tree, [...args, "--help"])
  return request._tag === "Run" ? { _tag: "Help", place: { path: request.path, entry: request.verb } } : request
}
