/**
 * The state directory in a program's options. This module uses no Effect types, because programs without Effect have the same option.
 * `AccountFolder.ts` describes the content.
 */
import { pathFault } from "./options/pathFault.ts"

/**
 * Where a client keeps its intents (records of creates) and its knowledge of the allowance. `auto` is the account's
 * folder in berth's state folder. `memory` writes no files: the client keeps both in memory and shares neither. Any
 * other text is the path of a folder to use instead of berth's. A relative path starts at the program's working
 * directory at the time it makes the client. Two working directories therefore mean two folders, and using the same
 * idempotency key in both makes two nodes. `~` is refused.
 */
export type StateDirectory = "auto" | "memory" | (string & {})

/** What is wrong with a state directory; undefined if nothing is. */
export const stateDirectoryFault = (value: unknown): string | undefined =>
  pathFault(value, '"auto", "memory" or the path of a folder')
