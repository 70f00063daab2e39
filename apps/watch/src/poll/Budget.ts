/**
 * How many requests the daemon may spend. The length of the allowance's window is not known (decision 22), so whatever
 * happens within any hour has to fit: a burst, and what flows in during the hour. Pure; `Pace.ts` does the waiting.
 *
 * The scheduler of the client will know what is really left. Until then this ceiling keeps out of its users' way.
 */

/** What one kind of request may spend. */
export interface Budget {
  /** Most that can be saved up. */
  readonly burst: number
  readonly perHour: number
}

/** 60 % of an allowance of 1200 (interface.md §8), even if that is for an hour. */
export const defaultRequestsPerHour = 720

/** A quarter of what an hour may cost is there at once, the rest flows in: together never more than the whole. */
const burstShare = 1 / 4

const budgetOf = (requestsPerHour: number): Budget => ({
  burst: Math.max(1, Math.floor(requestsPerHour * burstShare)),
  perHour: requestsPerHour - Math.floor(requestsPerHour * burstShare)
})

/** Sweeps and looks have their own shares: many nodes in transition may not keep the sweeps from finding new ones. */
export const budgets = (requestsPerHour: number): { readonly sweeps: Budget; readonly looks: Budget } => ({
  sweeps: budgetOf((requestsPerHour * 2) / 3),
  looks: budgetOf(requestsPerHour / 3)
})

/** What was left at a moment. */
export interface Purse {
  readonly left: number
  readonly upMillis: number
}

const millisPerHour = 3_600_000

/** Takes one request out of the purse, or says how long until there is one. */
export const spend = (
  purse: Purse,
  budget: Budget,
  upMillis: number
): { readonly purse: Purse; readonly waitMillis: number } => {
  const flowed = (Math.max(0, upMillis - purse.upMillis) * budget.perHour) / millisPerHour
  const left = Math.min(budget.burst, purse.left + flowed)
  return left >= 1
    ? { purse: { left: left - 1, upMillis }, waitMillis: 0 }
    : { purse: { left, upMillis }, waitMillis: Math.ceil(((1 - left) * millisPerHour) / budget.perHour) }
}
