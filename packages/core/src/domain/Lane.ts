/**
 * Lanes: which calls go first when the allowance is short.
 */
import { Schema } from "effect"

/**
 * The lanes, first to last: a call that a person waits for at a terminal, a change, a wait for a status, a sweep over
 * everything.
 */
export const lanes = ["interactive", "mutation", "wait", "sweep"] as const
/** The priority of a call. */
export type Lane = (typeof lanes)[number]
export const Lane = /*#__PURE__*/ Schema.Literals(lanes)
