/**
 * Where the clients that spend the same allowance meet: those of one machine at a file (`AllowanceFile.ts`), those of several
 * machines at whatever fills this interface, such as Redis. What is kept there is safe to lose.
 */
import { Context, Data, type Effect, type Option } from "effect"
import type { ServiceClock } from "./ServiceClock.ts"
import { maxWindowMillis, type SharedReport } from "./AllowanceReport.ts"

/** What the clients tell each other. Instants are milliseconds on the store's clock. */
export interface SharedAllowance {
  readonly version: 1
  readonly writtenAt: number
  /** Nobody may go before: a refusal said so. 0 when none did. */
  readonly pausedUntil: number
  /** What another statement of the service gives for that instant. */
  readonly pauseAgreed?: number | undefined
  /** Bounds on how far the service's clock is ahead of the store's. */
  readonly clock?: ServiceClock | undefined
  /** What the newest reply said. */
  readonly report?: SharedReport | undefined
  /** Whether the wall clock of this computer has stepped since it was written. */
  readonly stepped?: boolean | undefined
}

/** The same, told on a clock that is so much ahead. Whatever is in it that is not known here is left out. */
export const onClockAhead = (shared: SharedAllowance, millis: number): SharedAllowance => {
  const { clock, pauseAgreed, pausedUntil, stepped, report, writtenAt } = shared
  return {
    version: 1,
    writtenAt: writtenAt + millis,
    pausedUntil: pausedUntil === 0 ? 0 : pausedUntil + millis,
    ...(pauseAgreed !== undefined && { pauseAgreed: pauseAgreed + millis }),
    ...(clock && {
      clock: {
        aheadAtLeastMillis: clock.aheadAtLeastMillis - millis,
        aheadAtMostMillis: clock.aheadAtMostMillis - millis
      }
    }),
    ...(report && {
      report: {
        limit: report.limit,
        remaining: report.remaining,
        resetSeconds: report.resetSeconds,
        resetBy: report.resetBy + millis,
        resetAround: report.resetAround + millis,
        ...(report.agreed !== undefined && { agreed: report.agreed + millis }),
        sentAt: report.sentAt + millis,
        receivedAt: report.receivedAt + millis
      }
    }),
    ...(stepped && { stepped })
  }
}

/** What was written may be from a clock that is so much ahead of the reader's. */
const aheadMillis = 4000

/** Bounds on a clock come from one exchange, and are no further apart than one may take. */
const maxBoundsMillis = 600_000

/** Whether all are numbers, and within a day of one another: no window is longer, and garbage may hold up nobody. */
const areNear = (instant: number, ...otherClients: ReadonlyArray<number>) =>
  otherClients.every((other) => Number.isFinite(other) && Math.abs(other - instant) <= maxWindowMillis + aheadMillis)

const isSoundClock = ({ aheadAtLeastMillis, aheadAtMostMillis }: ServiceClock, wallAheadMillis: number) =>
  areNear(wallAheadMillis, aheadAtLeastMillis) &&
  aheadAtLeastMillis <= aheadAtMostMillis &&
  aheadAtMostMillis - aheadAtLeastMillis <= maxBoundsMillis

const isSoundView = (report: SharedReport, now: number) => {
  const { limit, receivedAt, remaining, resetAround, resetBy, resetSeconds, sentAt } = report
  return (
    Number.isSafeInteger(limit) &&
    limit >= 1 &&
    [remaining, resetSeconds].every(Number.isFinite) &&
    remaining >= 0 &&
    remaining <= limit &&
    areNear(now, receivedAt, resetAround, resetBy, sentAt) &&
    sentAt <= receivedAt &&
    receivedAt <= now + aheadMillis
  )
}

/**
 * What can be believed of what was read, which may be anything: as strict as with replies. Nothing where it comes from the
 * future or is older than any window, for then the clock that wrote it was wrong.
 */
export const believable = (
  shared: SharedAllowance,
  now: number,
  wallAheadMillis: number
): SharedAllowance | undefined => {
  const { clock, pausedUntil, report, writtenAt } = shared
  if (!areNear(now, writtenAt) || writtenAt > now + aheadMillis) return undefined
  return {
    ...shared,
    pausedUntil: areNear(now, pausedUntil) ? pausedUntil : 0,
    clock: clock && isSoundClock(clock, wallAheadMillis) ? clock : undefined,
    report: report && isSoundView(report, now) ? report : undefined
  }
}

/** The store cannot be used. The client is told once, and goes by its own replies. */
export class AllowanceStoreFailed extends Data.TaggedError("AllowanceStoreFailed")<{
  /** Why, such as what the file system said. */
  readonly detail: string
}> {}

/** The other clients that are there. */
export interface OwnProcesses {
  readonly count: number
  /** How many of them come before this one, in an order that is the same for all. */
  readonly before: number
}

/** The store, as one client uses it. */
export interface AllowanceStore {
  /** What warnings call it. */
  readonly name: string
  /** Milliseconds on the clock that what is read and written is told on: one that all who meet here agree on. */
  readonly now: Effect.Effect<number>
  /**
   * What was written last; none when nothing was. What is there and is not for this client to replace, such as what a later
   * version wrote, fails. The values are checked by whoever reads.
   */
  readonly read: Effect.Effect<Option.Option<SharedAllowance>, AllowanceStoreFailed>
  /** Replaces what is there, as a whole or not at all; the last one to write wins. */
  readonly write: (shared: SharedAllowance) => Effect.Effect<void, AllowanceStoreFailed>
  /** Shows that this client is there, and counts the others that did so in the last `withinMillis`. */
  readonly meet: (withinMillis: number) => Effect.Effect<OwnProcesses, AllowanceStoreFailed>
  /** Takes this client out: it is not counted any more. */
  readonly leave: Effect.Effect<void>
}

/** How a client gets its place at a store. Where no layer says, and there is no `allowanceFile`, every client is by itself. */
export const AllowanceStore = Context.Reference<Effect.Effect<AllowanceStore> | undefined>(
  "@berth/core/client/allowance/AllowanceStore",
  { defaultValue: () => undefined }
)
