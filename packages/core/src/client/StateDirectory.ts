/**
 * Where a client keeps its state, as a program names it; without types of Effect, as programs without it have the same.
 * `AccountFolder.ts` has what is kept there.
 */

/**
 * Where a client keeps its intents and what it knows of the allowance: `auto` is the account's folder in the state folder of
 * `berth`, `memory` this client alone, and anything else the path of a folder that is used in place of that of `berth`.
 */
export type StateDirectory = "auto" | "memory" | (string & {})

/** What is wrong with a state directory; undefined when nothing is. */
export const stateDirectoryFault = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? undefined : 'expected "auto", "memory" or the path of a folder'
