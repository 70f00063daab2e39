/**
 * Lanes: whose call goes first when the allowance is short.
 */
import { Schema } from "effect"

/**
 * The lanes, first to last: a person waiting at a terminal, a change somebody ordered, a wait for a status, a sweep over
 * everything.
 */
export const Lane = Schema.Literals(["interactive", "mutation", "wait", "sweep"])
export type Lane = typeof Lane.Type
