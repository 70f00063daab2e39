/**
 * All commands, as plain data. A command is loaded when it runs, so the tree does not slow down the start. The tree itself is in
 * `commands/tree.ts`.
 */
import type { Example } from "./CommandHelp.ts"

/** The fields that all entries have. */
interface Entry {
  readonly name: string
  /** Other names that the command line accepts. */
  readonly aliases: ReadonlyArray<string>
  readonly summary: string
}

/** A command that does something; `C` is the type of the loaded command. */
export interface Verb<out C> extends Entry {
  readonly examples: ReadonlyArray<Example>
  /** Arguments and flags that are required without a terminal, although the parser treats them as optional. */
  readonly needs: ReadonlyArray<string>
  /** The titles of its flag groups, each with the names of its flags. Help shows flags without a group first. */
  readonly groups: Readonly<Record<string, ReadonlyArray<string>>>
  /** The record types that it prints, with `[]` appended for a list; empty if it prints none. */
  readonly prints: ReadonlyArray<string>
  /** What the command prints instead of records, such as `a schema`; undefined if it prints records. */
  readonly value: string | undefined
  /** The record type of its live table; empty if it has none. */
  readonly paints: ReadonlyArray<string>
  /** Whether its last argument is the command line of another program, after `--`. */
  readonly wraps: boolean
  readonly load: () => Promise<C>
}

/** A group of commands. */
export interface Noun<out C> extends Entry {
  readonly verbs: ReadonlyArray<Verb<C>>
}

export type CommandTree<C> = ReadonlyArray<Noun<C> | Verb<C>>

export const isNoun = <C>(entry: Noun<C> | Verb<C>): entry is Noun<C> => "verbs" in entry

/** The optional fields of a verb. */
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

/** Every verb with its path. */
export const verbsOf = <C>(
  tree: CommandTree<C>
): ReadonlyArray<{ readonly path: ReadonlyArray<string>; readonly verb: Verb<C> }> =>
  tree.flatMap((entry) =>
    isNoun(entry)
      ? entry.verbs.map((verb) => ({ path: [entry.name, verb.name], verb }))
      : [{ path: [entry.name], verb: entry }]
  )
