/**
 * Whether what is left of the allowance is low, and whether that was reported already: once in each window. Pure.
 */
import { DateTime, Schema } from "effect"
import type { AllowanceFact } from "./CatalogueFact.ts"
import { ofAccount } from "./Fact.ts"

/** What is known for good: one value of the store. */
export const LowAllowance = Schema.Struct({
  /** How often it was reported: the versions of those events. */
  times: Schema.Int,
  /** Of the last report: the end of the window that it was about; null where nothing is to be waited for. */
  untilMillis: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "LowAllowance" })
export interface LowAllowance extends Schema.Schema.Type<typeof LowAllowance> {}

export const neverLow: LowAllowance = { times: 0, untilMillis: null }

/** The allowance as the newest reply reports it, and how much of it the daemon itself uses. */
export interface AllowanceRead {
  readonly limit: number
  readonly remaining: number
  /** Null when unknown. */
  readonly resetMillis: number | null
  /** Requests that the daemon sent within the last hour, and how many more its share has room for. */
  readonly ownPerHour: number
  readonly ownLeft: number
  readonly atMillis: number
}

const lowShare = 0.1

/** It is no longer low above this share: a number around the lower one is reported once. */
const wellShare = 0.2

const hourMillis = 3_600_000

/** The window of an allowance that reports no reset, or one far away by mistake. */
const maxWindowMillis = 24 * hourMillis

/** What the daemon needs until the reset at its present pace. */
const neededUntilReset = ({ atMillis, ownLeft, ownPerHour, resetMillis }: AllowanceRead): number => {
  const hours = resetMillis === null ? 0 : Math.max(0, resetMillis - atMillis) / hourMillis
  // Within an hour it sends no more than its share has room for.
  return hours <= 1 ? Math.min(ownPerHour * hours, ownLeft) : ownPerHour * hours
}

const isLow = (read: AllowanceRead): boolean =>
  read.remaining <= lowShare * read.limit || read.remaining < neededUntilReset(read)

const isWell = (read: AllowanceRead): boolean =>
  read.remaining > wellShare * read.limit && read.remaining >= neededUntilReset(read)

/** Whether it is low after a reply, where it was low or not before: a number around the limit is no news with each reply. */
export const isLowAfter = (wasLow: boolean, read: AllowanceRead): boolean => (wasLow ? !isWell(read) : isLow(read))

/** The end of the window, as far as it is known. */
const windowEnd = ({ atMillis, resetMillis }: AllowanceRead): number =>
  resetMillis === null
    ? atMillis + hourMillis
    : Math.round(Math.min(Math.max(resetMillis, atMillis), atMillis + maxWindowMillis))

/** What is known after a reply, and what it gives to report. The same object where nothing changed. */
export const afterAllowance = (
  known: LowAllowance,
  read: AllowanceRead
): { readonly known: LowAllowance; readonly facts: ReadonlyArray<AllowanceFact> } => {
  const { atMillis, limit, remaining, resetMillis } = read
  if (known.untilMillis !== null) {
    return atMillis >= known.untilMillis && isWell(read)
      ? { known: { ...known, untilMillis: null }, facts: [] }
      : { known, facts: [] }
  }
  if (!isLow(read)) return { known, facts: [] }
  const times = known.times + 1
  const resetsAt = resetMillis === null ? null : DateTime.makeUnsafe(resetMillis)
  return {
    known: { times, untilMillis: windowEnd(read) },
    facts: [
      {
        identity: ofAccount(String(times)),
        atMillis,
        type: "berth.allowance.low",
        data: { limit, remaining, resetsAt }
      }
    ]
  }
}
