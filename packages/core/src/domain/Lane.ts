/**
 * Lanes: the priority classes of calls when the allowance is short.
 */
import { Schema } from "effect"

/**
 * The lanes, first to last: a call for which a person waits at a terminal, a change, a wait for a status, and a sweep (a read of
 * everything).
 */
export const lanes = ["interactive", "mutation", "wait", "sweep"] as const
/** The priority of a call. */
export type Lane = (typeof lanes)[number]
export const Lane = /*#__PURE__*/ Schema.Literals(lanes)
