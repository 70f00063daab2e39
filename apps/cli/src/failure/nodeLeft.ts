/**
 * What a wait that failed leaves: a node that costs money, or one that is on its way out.
 */
import type { BerthError } from "@berthkit/core/domain/BerthError"

export const isBilled = "The node exists and is billed."

/** The service does not say when a node that it deletes stops to cost. */
export const isBeingDeleted = "The node is being deleted; it may be billed until it is gone."

/** What is left of the node that a call waited for; undefined where that is not known, or the call was no wait. */
export const nodeLeft = ({ reason }: BerthError): string | undefined => {
  if (reason._tag !== "StatusNotReached" || reason.impossible || reason.seen.length === 0) return undefined
  return reason.last === "terminate" ? isBeingDeleted : isBilled
}
