/**
 * The estimate as users see it: how much is left, and when it refills. Pure; `Estimator.ts` admits requests by it.
 */
import type { KnownAllowance } from "../../domain/Allowance.ts"
import * as Estimator from "./Estimator.ts"
import type { State } from "./EstimatorState.ts"
import { reserveOf } from "./Queue.ts"

/** The allowance at an instant, with so many requests in the queue. */
export const knownAllowance = (state: State, waiting: number, instant: number): KnownAllowance => {
  const { pausedUntil, report, underWay } = state
  return {
    limit: report?.limit ?? null,
    remaining: report === undefined ? null : Math.max(0, Math.floor(report.remaining) - underWay),
    keptForReads: Estimator.kept(state, instant, reserveOf.mutation) ?? null,
    resetInMillis: report === undefined ? null : Math.max(0, Math.round(report.resetAround - instant)),
    pausedMillis: Math.max(0, Math.round(pausedUntil - instant)),
    underWay,
    waiting
  }
}

/** Whether two allowances differ in more than the time that has passed. */
export const differs = (a: KnownAllowance, b: KnownAllowance): boolean =>
  a.limit !== b.limit ||
  a.remaining !== b.remaining ||
  a.underWay !== b.underWay ||
  a.waiting !== b.waiting ||
  a.pausedMillis > 0 !== b.pausedMillis > 0
