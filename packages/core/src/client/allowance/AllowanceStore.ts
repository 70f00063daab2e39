/**
 * The store through which a user's processes share an allowance: a file on one machine (`AllowanceFile.ts`), a database for several
 * (`AllowanceSql.ts`), or another implementation of this interface. Its content is safe to lose.
 */
import { Context, Data, type Effect, type Option } from "effect"
import type { ServiceClock } from "./ServiceClock.ts"
import { maxWindowMillis, type SharedReport } from "./AllowanceReport.ts"

/** The shared knowledge. Instants are milliseconds on the store's clock. */
export interface SharedAllowance {
  readonly version: 1
  readonly writtenAt: number
  /** Because of a 429, nothing is sent before this instant; 0 if there was no 429. */
  readonly pausedUntil: number
  /**
   * The evidence for this pause: its own instant if that is near, otherwise another statement that agrees with it (`backing` in
   * `Agreement.ts`). Undefined without such evidence.
   */
  readonly pauseAgreed?: number | undefined
  /** Bounds on how far the service's clock is ahead of the store's. */
  readonly clock?: ServiceClock | undefined
  /** The latest report. */
  readonly report?: SharedReport | undefined
  /** Whether this computer's wall clock has stepped since the record was written. */
  readonly stepped?: boolean | undefined
}

/** Converts to a clock that is ahead by this much. Unknown fields are omitted. */
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

/** The writer's clock may be ahead of the reader's by this much. */
const aheadMillis = 4000

/** Both bounds on a clock come from one request and its reply, so they differ by no more than a request may take. */
const maxBoundsMillis = 600_000

/** Whether all instants are about a day or less from the first. No window is longer, and an invalid value must not stop a client. */
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
 * The parts of untrusted content that pass the checks, which are as strict as those of replies. Undefined if the content was written in
 * the future or longer ago than any window lasts: it is then useless, or the writer's clock was wrong.
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

/** The store is unusable. The client warns once, and continues with its own replies. */
export class AllowanceStoreFailed extends Data.TaggedError("AllowanceStoreFailed")<{
  /** The cause, such as the file system's error. */
  readonly detail: string
  /** Whether another client of this process has already reported it. Default false. */
  readonly isReported?: boolean | undefined
}> {}

/** The other running processes of the user. */
export interface OwnProcesses {
  readonly count: number
  /** How many of them come before this one, in an order that is the same for all. */
  readonly before: number
}

/** The store of one client. */
export interface AllowanceStore {
  /** The name of the store in warnings. */
  readonly name: string
  /** Milliseconds on the clock that all processes of the store share. */
  readonly now: Effect.Effect<number>
  /**
   * The latest content, if any. Fails for content that this client must not replace, such as that of a later version. The reader checks the
   * values.
   */
  readonly read: Effect.Effect<Option.Option<SharedAllowance>, AllowanceStoreFailed>
  /**
   * Replaces the content atomically. Returns false if another process replaced it since the last `read`; the caller then reads again. In a
   * store that cannot detect this, the last writer wins.
   */
  readonly write: (shared: SharedAllowance) => Effect.Effect<boolean, AllowanceStoreFailed>
  /** Announces this process, and counts those that announced themselves in the last `withinMillis`. */
  readonly meet: (withinMillis: number) => Effect.Effect<OwnProcesses, AllowanceStoreFailed>
  /** Removes this process from the count. */
  readonly leave: Effect.Effect<void>
}

/** The store of a client. Without a layer for it and without `allowanceFile`, a client shares nothing. */
export const AllowanceStore = Context.Reference<Effect.Effect<AllowanceStore> | undefined>(
  "@berthkit/core/client/allowance/AllowanceStore",
  { defaultValue: () => undefined }
)
