/**
 * Decides whether the remaining allowance is low, and whether that was already reported. A low allowance is reported at most once per
 * window. Pure.
 */
import { DateTime, Schema } from "effect"
import type { AllowanceFact } from "./CatalogueFact.ts"
import { ofAccount } from "./Fact.ts"

/** The lasting knowledge: one value of the store. */
export const LowAllowance = Schema.Struct({
  /** Number of reports so far. It serves as the version of those events. */
  times: Schema.Int,
  /** The end of the window in which it was last reported; null if a low allowance may be reported at once. */
  untilMillis: Schema.NullOr(Schema.Int)
}).annotate({ identifier: "LowAllowance" })
export interface LowAllowance extends Schema.Schema.Type<typeof LowAllowance> {}

export const neverLow: LowAllowance = { times: 0, untilMillis: null }

/** The allowance in the newest reply, and the daemon's own use of it. */
export interface AllowanceRead {
  readonly limit: number
  readonly remaining: number
  /** Null if unknown. */
  readonly resetMillis: number | null
  /** Requests that the daemon sent within the last hour, and how many more its share allows. */
  readonly ownPerHour: number
  readonly ownLeft: number
  readonly atMillis: number
}

const lowShare = 0.1

/**
 * A low allowance counts as low until more than this share is left. A number that goes up and down around the lower
 * limit is therefore reported only once.
 */
const wellShare = 0.2

const hourMillis = 3_600_000

/** The assumed window of an allowance that reports no reset, or a reset that is wrongly far away. */
const maxWindowMillis = 24 * hourMillis

/** How many requests the daemon will send until the reset at its current pace. */
const neededUntilReset = ({ atMillis, ownLeft, ownPerHour, resetMillis }: AllowanceRead): number => {
  const hours = resetMillis === null ? 0 : Math.max(0, resetMillis - atMillis) / hourMillis
  // Within an hour the daemon sends no more than its share allows.
  return hours <= 1 ? Math.min(ownPerHour * hours, ownLeft) : ownPerHour * hours
}

const isLow = (read: AllowanceRead): boolean =>
  read.remaining <= lowShare * read.limit || read.remaining < neededUntilReset(read)

const isWell = (read: AllowanceRead): boolean =>
  read.remaining > wellShare * read.limit && read.remaining >= neededUntilReset(read)

/**
 * Whether the allowance is low after a reply. Depends on whether it was low before, because an allowance around the
 * limit should not be reported after every reply.
 */
export const isLowAfter = (wasLow: boolean, read: AllowanceRead): boolean => (wasLow ? !isWell(read) : isLow(read))

/** The end of the window, as far as it is known. */
const windowEnd = ({ atMillis, resetMillis }: AllowanceRead): number =>
  resetMillis === null
    ? atMillis + hourMillis
    : Math.round(Math.min(Math.max(resetMillis, atMillis), atMillis + maxWindowMillis))

/** The knowledge after a reply, and the report if there is one. `known` is the same object if nothing changed. */
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
