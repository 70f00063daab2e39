/**
 * The state directory in a program's options. This module uses no Effect types, because programs without Effect have the same option.
 * `AccountFolder.ts` describes the content.
 */
import { pathFault } from "./options/pathFault.ts"

/**
 * Where a client keeps its intents (records of creates) and its knowledge of the allowance. `auto` is the account's folder in berth's state
 * folder. `memory` is only within this client. Any other text is the path of a folder to use instead of berth's. A relative path starts at
 * the working directory at the time the client is made: two working directories mean two folders, and the same key in both makes two nodes.
 * `~` is refused.
 */
export type StateDirectory = "auto" | "memory" | (string & {})

/** The fault of a state directory; undefined if it is valid. */
export const stateDirectoryFault = (value: unknown): string | undefined =>
  pathFault(value, '"auto", "memory" or the path of a folder')
