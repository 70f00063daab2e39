/**
 * Why a world (one account of the mock) refuses a request, as plain data. `http/failures.ts` maps refusals to HTTP statuses and
 * to the wire names of fields.
 */

/** Sentences by field. */
export type Problems = Readonly<Record<string, ReadonlyArray<string>>>

/** Some fields of the input are invalid. `problems` lists all of them. */
export type Invalid = { readonly _tag: "Invalid"; readonly problems: Problems }

/** No node has this id, or the node is gone. */
export type NodeUnknown = { readonly _tag: "NodeUnknown"; readonly id: number }

/** A locked node refuses user actions (interface.md §2.4). */
export type NodeLocked = { readonly _tag: "NodeLocked"; readonly id: number }

/** A terminating node accepts no new setting. */
export type NodeTerminating = { readonly _tag: "NodeTerminating"; readonly id: number }

/** Names must be unique in this world, and the node `holder` already has this name. */
export type NameTaken = { readonly _tag: "NameTaken"; readonly name: string; readonly holder: number }

/** The world has the maximum number of saved images. */
export type TooManySavedImages = { readonly _tag: "TooManySavedImages"; readonly limit: number }

export type Refusal = Invalid | NodeUnknown | NodeLocked | NodeTerminating | NameTaken | TooManySavedImages

export const invalid = (problems: Problems): Invalid => ({ _tag: "Invalid", problems })
