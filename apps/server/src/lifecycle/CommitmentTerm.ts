/**
 * Computes a commitment over time: which term runs at an instant, and when the commitment ends the node. Both follow from the record and
 * the instant, without timers. Instants are milliseconds since the epoch.
 */

import { Schema } from "effect"
import { Instant, TermDays } from "./bounds.ts"

/** What happens when a term ends (interface.md §3, A17). */
export type CommitmentSetting = Commitment["setting"]

/** The commitment of a node: the current term, and what follows it. */
export const Commitment = Schema.Struct({
  /** The sku of the term that began at `startedAt`. */
  skuId: Schema.Int,
  days: TermDays,
  startedAt: Instant,
  setting: Schema.Literals(["auto_renew", "auto_terminate", "hourly_billing"]),
  /** The sku of all later terms, if the setting is `auto_renew`. */
  nextSkuId: Schema.Int,
  nextDays: TermDays
})
export type Commitment = typeof Commitment.Type

/** One term of a commitment, from `startedAt` (inclusive) to `endsAt` (exclusive). */
export interface Term {
  readonly skuId: number
  readonly days: number
  readonly startedAt: number
  readonly endsAt: number
}

const dayMillis = 86_400_000

const term = (skuId: number, days: number, startedAt: number): Term => ({
  skuId,
  days,
  startedAt,
  endsAt: startedAt + days * dayMillis
})

/** The term that runs at `now`; `null` if the commitment has ended and was not renewed. */
export const termAt = (commitment: Commitment, now: number): Term | null => {
  const first = term(commitment.skuId, commitment.days, commitment.startedAt)
  if (now < first.endsAt) return first
  if (commitment.setting !== "auto_renew") return null
  const lengthMillis = commitment.nextDays * dayMillis
  const renewals = Math.floor((now - first.endsAt) / lengthMillis)
  return term(commitment.nextSkuId, commitment.nextDays, first.endsAt + renewals * lengthMillis)
}

/**
 * When the commitment terminates its node: at the end of the running term if the setting is `auto_terminate`, otherwise
 * never.
 */
export const terminatesAt = (commitment: Commitment): number =>
  commitment.setting === "auto_terminate"
    ? commitment.startedAt + commitment.days * dayMillis
    : Number.POSITIVE_INFINITY

/** A committed option of a plan. */
export interface CommitmentChoice {
  readonly skuId: number
  readonly days: number
}

/**
 * The commitment after a new setting. If no term is running, the choice starts one at once. Otherwise the choice applies to
 * the next term, which exists only with `auto_renew`. `null` if no term is running and there is no choice.
 */
export const choose = (
  commitment: Commitment | null,
  setting: CommitmentSetting,
  choice: CommitmentChoice | null,
  now: number
): Commitment | null => {
  const running = commitment === null ? null : termAt(commitment, now)
  const current = running ?? (choice === null ? null : term(choice.skuId, choice.days, now))
  if (current === null) return null
  const next = choice ?? { skuId: current.skuId, days: current.days }
  return {
    skuId: current.skuId,
    days: current.days,
    startedAt: current.startedAt,
    setting,
    nextSkuId: next.skuId,
    nextDays: next.days
  }
}
