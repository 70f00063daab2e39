/**
 * The store through which own processes share an allowance: on one machine a file (`AllowanceFile.ts`), on several machines a
 * database (`AllowanceSql.ts`) or any other implementation of this interface. Its content is safe to lose.
 */
import { Context, Data, type Effect, type Option } from "effect"
import type { ServiceClock } from "./ServiceClock.ts"
import { maxWindowMillis, type SharedReport } from "./AllowanceReport.ts"

/** What the processes share. Instants are milliseconds on the store's clock. */
export interface SharedAllowance {
  readonly version: 1
  readonly writtenAt: number
  /** Nothing is sent before this instant, because of a refusal. 0 without one. */
  readonly pausedUntil: number
  /** The same instant from a second statement of the service. */
  readonly pauseAgreed?: number | undefined
  /** Bounds on how far the service's clock is ahead of the store's. */
  readonly clock?: ServiceClock | undefined
  /** The newest report. */
  readonly report?: SharedReport | undefined
  /** Whether the wall clock of this computer has stepped since it was written. */
  readonly stepped?: boolean | undefined
}

/** The same on a clock that is so much ahead. Unknown fields are left out. */
export const onClockAhead = (shared: SharedAllowance, millis: number): SharedAllowance => {
  const { clock, pauseAgreed, pausedUntil, stepped, report, writtenAt } = shared
  return {
    version: 1,
    writtenAt: writtenAt + millis,
    pausedUntil: pausedUntil === 0 ? 0 : pausedUntil + millis,
    ...(pauseAgreed !== undefined && { pauseAgreed: pauseAgreed + millis }),
    ...(clock && {
      clock: {
        minAheadMillis: clock.minAheadMillis - millis,
        maxAheadMillis: clock.maxAheadMillis - millis
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

/** The writer's clock may be so much ahead of the reader's. */
const aheadMillis = 4000

/** Bounds on a clock come from one exchange, and are no further apart than an exchange may take. */
const maxBoundsMillis = 600_000

/** Whether all are numbers within a day of the instant: no window is longer, and garbage must not stop a client. */
const areNear = (instant: number, ...instants: ReadonlyArray<number>) =>
  instants.every((other) => Number.isFinite(other) && Math.abs(other - instant) <= maxWindowMillis + aheadMillis)

const isSoundClock = ({ minAheadMillis, maxAheadMillis }: ServiceClock, wallAheadMillis: number) =>
  areNear(wallAheadMillis, minAheadMillis) &&
  minAheadMillis <= maxAheadMillis &&
  maxAheadMillis - minAheadMillis <= maxBoundsMillis

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
 * The believable part of what was read, which may be anything. The checks are as strict as for replies. Undefined if it comes from the
 * future or is older than any window, because then the writer's clock was wrong.
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

/** The store cannot be used. The client warns once, and continues with its own replies alone. */
export class AllowanceStoreFailed extends Data.TaggedError("AllowanceStoreFailed")<{
  /** Why, such as the error of the file system. */
  readonly detail: string
  /** Whether another client of this process has reported it. Default false. */
  readonly isReported?: boolean | undefined
}> {}

/** The own processes that are running, without this one. */
export interface OwnProcesses {
  readonly count: number
  /** How many of them come before this one, in an order that is the same for all. */
  readonly before: number
}

/** The store, as one client uses it. */
export interface AllowanceStore {
  /** Its name in warnings. */
  readonly name: string
  /** Milliseconds on the clock that all processes on the store share. */
  readonly now: Effect.Effect<number>
  /**
   * What was written last, if anything. Fails for content that this client must not replace, such as that of a later version. The reader
   * checks the values.
   */
  readonly read: Effect.Effect<Option.Option<SharedAllowance>, AllowanceStoreFailed>
  /**
   * Replaces the content, as a whole or not at all. False where another process replaced it since the last `read`: then that is read
   * first. A store that cannot notice this lets the last writer win.
   */
  readonly write: (shared: SharedAllowance) => Effect.Effect<boolean, AllowanceStoreFailed>
  /** Shows that this process is running, and counts those that did so in the last `withinMillis`. */
  readonly meet: (withinMillis: number) => Effect.Effect<OwnProcesses, AllowanceStoreFailed>
  /** Takes this process out of the count. */
  readonly leave: Effect.Effect<void>
}

/** How a client gets its store. Without such a layer and without `allowanceFile` a client shares nothing. */
export const AllowanceStore = Context.Reference<Effect.Effect<AllowanceStore> | undefined>(
  "@berthkit/core/client/allowance/AllowanceStore",
  { defaultValue: () => undefined }
)
