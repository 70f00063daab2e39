/**
 * What the estimate comes to for somebody who looks at it: how much is left, and when there is more. Pure; how it is used
 * to let requests go is in `Estimator.ts`.
 */
import type { AllowanceLevel } from "../../domain/Allowance.ts"
import type { State } from "./Estimator.ts"

/** The level at an instant, with so many requests in the queue. */
export const levelOf = ({ pausedUntil, underWay, view }: State, waiting: number, instant: number): AllowanceLevel => ({
  limit: view?.limit ?? null,
  remaining: view === undefined ? null : Math.max(0, Math.floor(view.remaining) - underWay),
  resetInMillis: view === undefined ? null : Math.max(0, Math.round(view.resetAround - instant)),
  pausedMillis: Math.max(0, Math.round(pausedUntil - instant)),
  underWay,
  waiting
})

/** Whether two levels differ in more than the time that has passed. */
export const differs = (a: AllowanceLevel, b: AllowanceLevel): boolean =>
  a.limit !== b.limit ||
  a.remaining !== b.remaining ||
  a.underWay !== b.underWay ||
  a.waiting !== b.waiting ||
  a.pausedMillis > 0 !== b.pausedMillis > 0
