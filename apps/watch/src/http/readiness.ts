/**
 * Whether the daemon is ready: every account was swept completely of late. A process that lives but sees nothing is not. Pure.
 */
import { DateTime } from "effect"
import { maxSweepAgeMillis } from "../telemetry/freshness.ts"
import type { AccountStatus } from "./records.ts"
import type { Readiness } from "./WatchApi.ts"

/** Time since the last complete sweep of an account ended; null before the first. */
export const sweepAgeMillis = ({ lastSweep }: AccountStatus, nowMillis: number): number | null =>
  lastSweep === null ? null : Math.max(0, nowMillis - DateTime.toEpochMillis(lastSweep.endedAt))

/** Whether what is known of an account is fresh. */
export const isFresh = (account: AccountStatus, nowMillis: number): boolean => {
  const age = sweepAgeMillis(account, nowMillis)
  return age !== null && age <= maxSweepAgeMillis(account.sweepIntervalMillis)
}

export const readinessOf = (accounts: ReadonlyArray<AccountStatus>, nowMillis: number): Required<Readiness> => {
  const each = accounts.map((account) => {
    const age = sweepAgeMillis(account, nowMillis)
    return {
      account: account.account,
      ready: isFresh(account, nowMillis),
      ageSeconds: age === null ? null : age / 1000,
      maxAgeSeconds: maxSweepAgeMillis(account.sweepIntervalMillis) / 1000
    }
  })
  // Before the first account is known nothing is watched.
  return { ready: each.length > 0 && each.every(({ ready }) => ready), accounts: each }
}
