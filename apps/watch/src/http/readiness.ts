/**
 * Whether the daemon is ready: every account was swept completely of late. A process that lives but sees nothing is not. Pure.
 */
import { DateTime } from "effect"
import type { AccountStatus } from "./records.ts"
import type { Readiness } from "./WatchApi.ts"

/** A quicker sweep than this is not expected of anything. */
const minMaxAgeMillis = 60_000

/** So many planned sweeps may be missed. */
const maxMissed = 2

const maxAgeMillisOf = ({ sweepIntervalMillis }: AccountStatus): number =>
  Math.max(minMaxAgeMillis, maxMissed * (sweepIntervalMillis ?? 0))

/** Time since the last complete sweep of an account ended; null before the first. */
export const sweepAgeMillis = ({ lastSweep }: AccountStatus, nowMillis: number): number | null =>
  lastSweep === null ? null : Math.max(0, nowMillis - DateTime.toEpochMillis(lastSweep.endedAt))

/** Whether what is known of an account is fresh. */
export const isFresh = (account: AccountStatus, nowMillis: number): boolean => {
  const age = sweepAgeMillis(account, nowMillis)
  return age !== null && age <= maxAgeMillisOf(account)
}

export const readinessOf = (accounts: ReadonlyArray<AccountStatus>, nowMillis: number): Required<Readiness> => {
  const each = accounts.map((account) => {
    const age = sweepAgeMillis(account, nowMillis)
    return {
      account: account.account,
      ready: isFresh(account, nowMillis),
      ageSeconds: age === null ? null : age / 1000,
      maxAgeSeconds: maxAgeMillisOf(account) / 1000
    }
  })
  // Before the first account is known nothing is watched.
  return { ready: each.length > 0 && each.every(({ ready }) => ready), accounts: each }
}
