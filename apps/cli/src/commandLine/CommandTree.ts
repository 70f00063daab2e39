/**
 * The commands that there are, as plain data. A command is loaded when it runs, so that the tree costs no time at the start.
 * The tree itself is `commands/tree.ts`.
 */
import type { Example } from "./CommandHelp.ts"

/** A command of any kind. */
interface Entry {
  readonly name: string
  /** Other names, which the command line may use in its place. */
  readonly aliases: ReadonlyArray<string>
  readonly summary: string
}

/** A command that does something; `C` is what it is when it is loaded. */
export interface Verb<out C> extends Entry {
  readonly examples: ReadonlyArray<Example>
  /** Arguments and flags that a command line without a terminal must have, although the parser takes them as optional. */
  readonly needs: ReadonlyArray<string>
  /** Groups of its flags by what they are about, and which flags are in each. Those that are in none come first. */
  readonly groups: Readonly<Record<string, ReadonlyArray<string>>>
  /** What it prints: names of records, with `[]` behind them for a list. None where it prints no records. */
  readonly prints: ReadonlyArray<string>
  /** What the command prints instead of records, such as `a schema`; undefined if it prints records. */
  readonly value: string | undefined
  /** The record of the table that it repaints on a terminal; none where it repaints none. */
  readonly paints: ReadonlyArray<string>
  /** Whether its last argument is the command line of another program, after `--`. */
  readonly wraps: boolean
  readonly load: () => Promise<C>
}

/** A command that only holds others. */
export interface Noun<out C> extends Entry {
  readonly verbs: ReadonlyArray<Verb<C>>
}

export type CommandTree<C> = ReadonlyArray<Noun<C> | Verb<C>>

export const isNoun = <C>(entry: Noun<C> | Verb<C>): entry is Noun<C> => "verbs" in entry

/** What a verb has besides its name and summary; all of it may be left out. */
interface VerbDetails extends Partial<
  Pick<Verb<unknown>, "aliases" | "groups" | "needs" | "prints" | "paints" | "wraps">
> {
  readonly value?: string
  readonly examples?: ReadonlyArray<readonly [command: string, description: string]>
}

export const verb = <C>(
  name: string,
  summary: string,
  load: () => Promise<C>,
  {
    aliases = [],
    examples = [],
    groups = {},
    needs = [],
    prints = [],
    paints = [],
    value,
    wraps = false
  }: VerbDetails = {}
): Verb<C> => ({
  name,
  aliases,
  summary,
  examples: examples.map(([command, description]) => ({ command, description })),
  groups,
  needs,
  prints,
  paints,
  value,
  wraps,
  load
})

export const noun = <C>(name: string, summary: string, verbs: ReadonlyArray<Verb<C>>): Noun<C> => ({
  name,
  aliases: [],
  summary,
  verbs
})

/** Every command that does something, with its path. */
export const verbsOf = <C>(
  tree: CommandTree<C>
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly verb: Verb<C> }> =>
  tree.flatMap((entry) =>
    isNoun(entry)
      ? entry.verbs.map((verb) => ({ path: [entry.name, verb.name], verb }))
      : [{ path: [entry.name], verb: entry }]
  )
