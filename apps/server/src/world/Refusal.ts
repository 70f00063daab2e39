/**
 * Reasons for which a world refuses a request, as facts. `http/failures.ts` has the HTTP status and the wire names of the fields.
 */

/** Sentences by the field that they are about. */
export type Problems = Readonly<Record<string, ReadonlyArray<string>>>

/** Understood, but these fields of the input are not acceptable; all that are at fault are here. */
export type Invalid = { readonly _tag: "Invalid"; readonly problems: Problems }

/** An id that was never handed out, or whose node is gone. */
export type NodeUnknown = { readonly _tag: "NodeUnknown"; readonly id: number }

/** A locked node refuses user actions (interface.md §2.4). */
export type NodeLocked = { readonly _tag: "NodeLocked"; readonly id: number }

/** A node on its way out takes no new setting. */
export type NodeTerminating = { readonly _tag: "NodeTerminating"; readonly id: number }

/** The world asks for unique names, and the node `holder` has this one. */
export type NameTaken = { readonly _tag: "NameTaken"; readonly name: string; readonly holder: number }

/** The world has as many saved images as it may have. */
export type TooManySavedImages = { readonly _tag: "TooManySavedImages"; readonly limit: number }

export type Refusal = Invalid | NodeUnknown | NodeLocked | NodeTerminating | NameTaken | TooManySavedImages

export const invalid = (problems: Problems): Invalid => ({ _tag: "Invalid", problems })
