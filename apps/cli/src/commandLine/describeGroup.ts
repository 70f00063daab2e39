/**
 * Berth itself, and a command that only holds others, as plain data. Without Effect, as its help is.
 */
import type { CommandDescription } from "./CommandDescription.ts"
import type { CommandTree, Noun } from "./CommandTree.ts"
import { globalFlagGroups } from "./globalFlags.ts"

const words = [
  { name: "help [COMMAND…]", summary: "Show the help of a command" },
  { name: "version", summary: "Show the version" }
]

/** A command that holds others; berth itself without one. */
export const describeGroup = <C>(tree: CommandTree<C>, noun: Noun<C> | undefined): CommandDescription => {
  const command = noun === undefined ? "berth" : `berth ${noun.name}`
  const entries: CommandTree<C> = noun === undefined ? tree : noun.verbs
  return {
    command,
    summary: noun?.summary ?? "Manage the nodes of an account",
    usage: `${command} COMMAND [flags]`,
    aliases: noun?.aliases ?? [],
    arguments: [],
    flagGroups: globalFlagGroups,
    examples: [],
    commands: [...entries.map(({ name, summary }) => ({ name, summary })), ...(noun === undefined ? words : [])]
  }
}
