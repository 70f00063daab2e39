/**
 * Where a client keeps its state, as a program names it; without types of Effect, as programs without it have the same.
 * `AccountFolder.ts` has what is kept there.
 */
import { pathFault } from "./options/pathFault.ts"

/**
 * Where a client keeps its intents and what it knows of the allowance. `auto` is the account's folder in the state folder of `berth`.
 * `memory` is this client alone. Any other text is the path of a folder to use instead of that of `berth`. A relative path starts at the
 * working directory in which the client is made: two working directories are two folders, and the same key in both makes two nodes. `~`
 * is refused.
 */
export type StateDirectory = "auto" | "memory" | (string & {})

/** What is wrong with a state directory; undefined when nothing is. */
export const stateDirectoryFault = (value: unknown): string | undefined =>
  pathFault(value, '"auto", "memory" or the path of a folder')
