/**
 * Whether the daemon is ready: every account except paused ones had a recent complete sweep, and no trouble says otherwise. A
 * process that runs without seeing its nodes is not ready; a process without accounts is. Accounts that were added count from
 * their first sweep or their first trouble. Pure.
 */
import { DateTime } from "effect"
import { maxSweepAgeMillis } from "../telemetry/freshness.ts"
import { unreadyTroubles } from "../troubles/table.ts"
import type { AccountStatus, Trouble } from "./records.ts"
import type { Readiness } from "./WatchApi.ts"

/** Time since the last complete sweep of an account ended; null before the first. */
export const sweepAgeMillis = ({ lastSweep }: AccountStatus, nowMillis: number): number | null =>
  lastSweep === null ? null : Math.max(0, nowMillis - DateTime.toEpochMillis(lastSweep.endedAt))

const maxAgeOf = (account: AccountStatus): number => maxSweepAgeMillis(account.sweepIntervalMillis, !isOwn(account))

/** Whether the data about an account is fresh. */
export const isFresh = (account: AccountStatus, nowMillis: number): boolean => {
  const age = sweepAgeMillis(account, nowMillis)
  return age !== null && age <= maxAgeOf(account)
}

/** Whether the answering process owns the account. */
export const isOwn = ({ owner }: AccountStatus): boolean => owner === undefined || owner.isHere

/** What a process answers for: if several share a store, its own accounts, and everything that belongs to no account. */
export const ownPart = (accounts: ReadonlyArray<AccountStatus>, troubles: ReadonlyArray<Trouble>) => {
  const others = new Set(accounts.flatMap((each) => (isOwn(each) ? [] : [each.account])))
  const added = new Set(accounts.flatMap((each) => (each.added === true ? [each.account] : [])))
  /** Accounts with credentials that do not work: the process itself sees all that it can. */
  const refused = new Set(
    troubles.flatMap(({ about, name }) =>
      name === "account-refused" && added.has(about.name ?? "") ? [about.name] : []
    )
  )
  const isOfProcess = ({ about: { kind, name } }: Trouble) =>
    kind !== "account" || name === null || !(others.has(name) || refused.has(name))
  return { accounts: accounts.filter(isOwn), troubles: troubles.filter(isOfProcess) }
}

/** Why it is not ready: a word, and the account. An account that has just started is in no trouble, but not ready either. */
const reasonsOf = (accounts: ReadonlyArray<AccountStatus>, troubles: ReadonlyArray<Trouble>): ReadonlyArray<string> => [
  ...accounts
    .filter(({ added, lastSweep }) => lastSweep === null && added !== true)
    .map(({ account }) => `${account}: No sweep has been completed yet.`),
  ...troubles
    .filter(({ name }) => unreadyTroubles.has(name))
    .map(({ about, message }) => (about.name === null ? message : `${about.name}: ${message}`))
]

export const readinessOf = (
  all: ReadonlyArray<AccountStatus>,
  troubles: ReadonlyArray<Trouble>,
  nowMillis: number
): Required<Readiness> => {
  const accounts = all.filter(({ state }) => state !== "paused")
  const each = accounts.map((account) => {
    const age = sweepAgeMillis(account, nowMillis)
    return {
      account: account.account,
      ready: isFresh(account, nowMillis),
      ageSeconds: age === null ? null : age / 1000,
      maxAgeSeconds: maxAgeOf(account) / 1000
    }
  })
  const reasons = reasonsOf(accounts, troubles)
  return { ready: reasons.length === 0, reasons, accounts: each }
}
