/**
 * Whether the daemon is ready: every account that is not paused had a recent complete sweep, and no current trouble
 * makes the daemon unready. A process that cannot see its nodes is not ready; a process without accounts is ready. An
 * account that was added while the daemon runs counts only after its first sweep or first trouble. Pure.
 */
import { DateTime } from "effect"
import { maxSweepAgeMillis } from "../telemetry/freshness.ts"
import { unreadyTroubles } from "../troubles/table.ts"
import type { AccountStatus, Trouble } from "./records.ts"
import type { Readiness } from "./WatchApi.ts"

/** Time since the end of an account's last complete sweep; null before the first sweep. */
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

/**
 * The accounts and troubles that this process answers for. If several processes share a store, these are its own accounts, and
 * troubles that belong to no account.
 */
export const ownPart = (accounts: ReadonlyArray<AccountStatus>, troubles: ReadonlyArray<Trouble>) => {
  const others = new Set(accounts.flatMap((each) => (isOwn(each) ? [] : [each.account])))
  const added = new Set(accounts.flatMap((each) => (each.added === true ? [each.account] : [])))
  /** Added accounts whose credentials the service refuses. That is not the process's fault, so they do not make it unready. */
  const refused = new Set(
    troubles.flatMap(({ about, name }) =>
      name === "account-refused" && added.has(about.name ?? "") ? [about.name] : []
    )
  )
  const isOfProcess = ({ about: { kind, name } }: Trouble) =>
    kind !== "account" || name === null || !(others.has(name) || refused.has(name))
  return { accounts: accounts.filter(isOwn), troubles: troubles.filter(isOfProcess) }
}

/**
 * The reasons why the daemon is not ready: a word each, with the account. An account that has just started has no trouble yet, but is not
 * ready either.
 */
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
