/**
 * Why a world refuses a request, as facts. Which HTTP status and sentence that becomes is `http/refusals.ts`'s business.
 */
import type { FieldErrors } from "@berth/core/api/Envelope"

/** Well-formed, but these fields or parameters are not acceptable; all that are at fault are here. */
export interface Invalid {
  readonly _tag: "Invalid"
  readonly errors: FieldErrors
}

/** An id that was never handed out, or whose node is gone. */
export interface NodeUnknown {
  readonly _tag: "NodeUnknown"
  readonly id: number
}

/** A locked node refuses user actions (interface.md §2.4). */
export interface NodeLocked {
  readonly _tag: "NodeLocked"
  readonly id: number
}

/** A node on its way out takes no new setting. */
export interface NodeTerminating {
  readonly _tag: "NodeTerminating"
  readonly id: number
}

/** The world asks for unique names, and the node `holder` has this one. */
export interface NameTaken {
  readonly _tag: "NameTaken"
  readonly name: string
  readonly holder: number
}

export type Refusal = Invalid | NodeUnknown | NodeLocked | NodeTerminating | NameTaken

export const invalid = (errors: FieldErrors): Invalid => ({ _tag: "Invalid", errors })
