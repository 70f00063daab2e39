/**
 * The estimate as users see it: how much is left, and when it refills. Pure; `Estimator.ts` uses it to admit requests.
 */
import type { KnownAllowance } from "../../domain/Allowance.ts"
import type { State } from "./EstimatorState.ts"

/** The allowance at an instant, with so many requests in the queue. */
export const knownAllowance = (
  { pausedUntil, underWay, report }: State,
  waiting: number,
  instant: number
): KnownAllowance => ({
  limit: report?.limit ?? null,
  remaining: report === undefined ? null : Math.max(0, Math.floor(report.remaining) - underWay),
  resetInMillis: report === undefined ? null : Math.max(0, Math.round(report.resetAround - instant)),
  pausedMillis: Math.max(0, Math.round(pausedUntil - instant)),
  underWay,
  waiting
})

/** Whether two allowances differ in more than the time that has passed. */
export const differs = (a: KnownAllowance, b: KnownAllowance): boolean =>
  a.limit !== b.limit ||
  a.remaining !== b.remaining ||
  a.underWay !== b.underWay ||
  a.waiting !== b.waiting ||
  a.pausedMillis > 0 !== b.pausedMillis > 0
