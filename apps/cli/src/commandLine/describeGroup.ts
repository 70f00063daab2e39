/**
 * Berth itself, and a command that only holds others, as plain data. Without Effect, as its help is.
 */
import type { CommandDescription } from "./CommandDescription.ts"
import { type CommandTree, type Noun, verbsOf } from "./CommandTree.ts"
import { globalFlagGroups } from "./globalFlags.ts"

const words = [
  { name: "help [COMMAND…]", summary: "Show the help of a command" },
  { name: "version", summary: "Show the version" }
]

/** So many examples, each of another command. */
const maxExamples = 3

/** A command that holds others; berth itself without one. */
export const describeGroup = <C>(tree: CommandTree<C>, noun: Noun<C> | undefined): CommandDescription => {
  const command = noun === undefined ? "berth" : `berth ${noun.name}`
  const entries: CommandTree<C> = noun === undefined ? tree : noun.verbs
  const verbs = noun === undefined ? verbsOf(tree) : noun.verbs.map((verb) => ({ verb }))
  return {
    command,
    summary: noun?.summary ?? "Manage the nodes of an account",
    usage: `${command} COMMAND [flags]`,
    aliases: noun?.aliases ?? [],
    arguments: [],
    flagGroups: globalFlagGroups,
    examples: verbs.flatMap(({ verb }) => verb.examples.slice(0, 1)).slice(0, maxExamples),
    columns: [],
    sortColumns: [],
    commands: [...entries.map(({ name, summary }) => ({ name, summary })), ...(noun === undefined ? words : [])]
  }
}
