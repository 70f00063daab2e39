/**
 * The errors that a create fails with. A request within a create has limits and failures of its own; its caller knows the create.
 */
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, InvalidRequest, StateUnavailable, TimedOut, Unreachable } from "../../domain/ErrorReason.ts"
import type { IntentStoreFailed } from "./IntentStore.ts"

/** The attempts of a request, and the reply it failed with. */
export type Tried = Pick<BerthError, "attempts" | "reply">

/** Of a create that has asked for nothing yet. */
export const untried: Tried = { attempts: [], reply: null }

export const createFailure = (reason: ErrorReason, { attempts, reply }: Tried = untried) =>
  new BerthError({ operation: "nodes.create", reason, attempts, reply })

/** The key is not for this create. */
export const keyFault = (detail: string) =>
  createFailure(new InvalidRequest({ status: null, detail, fields: { key: [detail] } }))

/** An intent that has to be read or written cannot be. */
export const unusableReason = ({ code, detail, path }: IntentStoreFailed) =>
  new StateUnavailable({ code, detail, path })

export const unusable = (error: IntentStoreFailed) => createFailure(unusableReason(error))

/**
 * The failure of a request of a create, as that of the create. The deadline of a request is what is left of the deadline of the
 * create, and the caller knows only the latter. A request before the one that creates sends nothing of it.
 */
export const failureOf = (error: BerthError, deadlineMillis: number, isBefore: boolean) => {
  const { reason } = error
  const sent = isBefore && { sent: "no" as const }
  if (reason._tag === "TimedOut") {
    const afterMillis = reason.limit === "deadline" ? deadlineMillis : reason.afterMillis
    return createFailure(new TimedOut({ ...reason, afterMillis, ...sent }), error)
  }
  return createFailure(reason._tag === "Unreachable" ? new Unreachable({ ...reason, ...sent }) : reason, error)
}
