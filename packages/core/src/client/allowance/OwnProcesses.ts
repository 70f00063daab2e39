/**
 * Shares an estimate of the allowance between the user's processes: until when nothing may be sent, what is left (for a process that has
 * just started), and how many processes there are. Every process relies on its own replies; the shared part makes it leave room for the
 * others. Taking over shared knowledge is pure.
 */
import { Clock, Effect, Latch, Option, type Scope } from "effect"
import { sleepInBackground } from "../time/Background.ts"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"
import * as Report from "./AllowanceReport.ts"
import {
  type AllowanceStore,
  type AllowanceStoreFailed,
  believable,
  onClockAhead,
  type OwnProcesses,
  type SharedAllowance
} from "./AllowanceStore.ts"
import { agreementMillis, askBy, backing, maxUnbackedMillis, windowSeen } from "./Agreement.ts"
import type { State } from "./EstimatorState.ts"

/** The interval at which a process reads the store and announces itself. Without an announcement for `staleMillis`, it no longer counts. */
const exchangeEveryMillis = 500
const staleMillis = 4000

/** Maximum number of reads of the store in one exchange, if other processes write at the same time. */
const maxReadings = 3

/**
 * Maximum time that a client waits for its first exchange, and the interval at which it looks. After that it starts even without an
 * answer or any knowledge.
 */
const maxFirstExchangeMillis = 500
const lookAgainMillis = 50

/** Access to the shared estimate. */
export interface Estimate {
  readonly get: () => State
  readonly change: (change: (state: State) => State) => void
}

/** Instants that differ by no more than this count as equal, because converting between clocks moves them. */
const noiseMillis = 50

const isLater = (a: number, b: number | undefined = 0) => a > b + noiseMillis

/** Whether there is something that the store does not know. Most commands that start know nothing new. */
const isNews = ({ clock, pausedUntil, report }: SharedAllowance, known: SharedAllowance | undefined): boolean =>
  isLater(pausedUntil, known?.pausedUntil) ||
  (report !== undefined &&
    (isLater(report.receivedAt, known?.report?.receivedAt) || report.remaining !== known?.report?.remaining)) ||
  (clock !== undefined && known?.clock === undefined)

export interface Sharing {
  /** Reports a change of the estimate. Urgent changes are shared before the next exchange. */
  readonly noted: () => void
  /**
   * Runs before the first request after an idle time. Announces this process and reads what the others know, as at the
   * start. Undefined if neither is needed.
   */
  readonly rejoin: () => Effect.Effect<unknown> | undefined
}

/**
 * Shares an estimate for the lifetime of the scope. An idle process does nothing, because a process may be a client of thousands of
 * accounts. A failure of the store is reported once, and the client continues without it.
 */
export const share = Effect.fnUntraced(function* (
  store: AllowanceStore,
  estimate: Estimate,
  isBusy: () => boolean = () => true
): Effect.fn.Return<Sharing, never, Scope.Scope> {
  const clock = yield* Clock.Clock

  /** What other processes wrote, and how far the store's clock is ahead. */
  const read = Effect.gen(function* () {
    const shared = Option.getOrUndefined(yield* store.read)
    const now = monotonicMillisUnsafe(clock)
    const ahead = (yield* store.now) - now
    const wallAhead = clock.currentTimeMillisUnsafe() - now
    return { ahead, now, theirs: shared && believable(onClockAhead(shared, -ahead), now, wallAhead) }
  })

  /** Whether the store has any content. */
  let isAnyKnown = false
  /** What is left according to the last shared report. */
  let left = Number.POSITIVE_INFINITY
  const noteTold = () => {
    left = estimate.get().report?.remaining ?? left
  }
  const news = Latch.makeUnsafe(false)

  /** Takes over what other processes share, and shares what they do not know. */
  const merge = Effect.fnUntraced(function* (first: Effect.Success<typeof read>, ownProcesses: OwnProcesses) {
    for (let found = first, readings = 1; ; found = yield* read, readings++) {
      const { ahead, now, theirs } = found
      estimate.change((state) => takeOver(state, { ...theirs, ownProcesses }, now))
      const { clock, pauseAgreed, pausedUntil, report } = estimate.get()
      // The newest report is kept for the next process that starts.
      const newest =
        report === undefined || (theirs?.report?.receivedAt ?? 0) > report.receivedAt ? theirs?.report : report
      const shared = { version: 1, writtenAt: now, pausedUntil, pauseAgreed, clock, report: newest } as const
      isAnyKnown = theirs !== undefined
      if (!isNews(shared, theirs)) return
      if ((yield* store.write(onClockAhead(shared, ahead))) || readings === maxReadings) return
    }
  })

  let warned = false
  const withoutStore = Effect.catch(({ detail, isReported = false }: AllowanceStoreFailed) => {
    if (warned || isReported) return Effect.void
    warned = true
    return Effect.logWarning(
      `Cannot share the allowance through ${store.name} (${detail}): this client relies only on its own replies.`
    )
  })
  // Read first: if the content is not Berth's, this process must not write anything next to it.
  const exchange = withoutStore(
    Effect.flatMap(read, (theirs) =>
      Effect.flatMap(store.meet(staleMillis), (ownProcesses) => merge(theirs, ownProcesses))
    )
  )
  const leave = Effect.andThen(
    withoutStore(Effect.flatMap(read, (theirs) => merge(theirs, estimate.get().ownProcesses))),
    store.leave
  )

  /** Whether this process is known to the others and has exchanged with them since. */
  const joined = Latch.makeUnsafe(false)
  const wanted = Latch.makeUnsafe(true)
  let isQuiet = false
  /** Whether the others may count this process. */
  let isMember = false

  // This cannot be interrupted, because an interrupted exchange would collide with the exchange of `leave`. On a busy machine, even a late
  // first exchange still announces this process.
  const exchangeNow = Effect.suspend(() => {
    noteTold()
    news.closeUnsafe()
    return Effect.uninterruptible(exchange)
  })
  /** Whether nothing is known and another process should ask first. */
  const isOthersTurn = () => {
    const { ownProcesses, sent } = estimate.get()
    return !isAnyKnown && sent === 0 && ownProcesses.before > 0
  }
  const exchangeWhileBusy = Effect.gen(function* () {
    isMember = true
    const startsBy = monotonicMillisUnsafe(clock) + maxFirstExchangeMillis
    yield* exchangeNow
    while (isOthersTurn() && monotonicMillisUnsafe(clock) < startsBy) {
      yield* sleepInBackground(lookAgainMillis)
      yield* exchangeNow
    }
    noteTold()
    isQuiet = false
    joined.openUnsafe()
    for (;;) {
      yield* Effect.raceFirst(sleepInBackground(exchangeEveryMillis), news.await)
      if (!isBusy()) break
      yield* exchangeNow
    }
    isQuiet = true
    joined.closeUnsafe()
    wanted.closeUnsafe()
    yield* Effect.uninterruptible(leave)
    isMember = false
  })

  yield* Effect.addFinalizer(() => (isMember ? leave : Effect.void))
  // This fiber does not keep the program alive.
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(wanted.await, exchangeWhileBusy)), { startImmediately: true })
  const known = Effect.timeoutOption(joined.await, maxFirstExchangeMillis)
  yield* known
  return {
    noted: () => {
      // A starting process relies on the store, so the store may state at most twice what is left.
      if ((estimate.get().report?.remaining ?? left) < left / 2) news.openUnsafe()
    },
    rejoin: () => (isQuiet ? Effect.andThen(wanted.open, known) : undefined)
  }
})

/** The shared knowledge: how many processes there are, until when nothing may be sent, and the newest report. */
export interface SharedKnowledge extends Partial<SharedAllowance> {
  readonly ownProcesses: OwnProcesses
}

/** Our own report that comes back through the store differs by no more than this. */
const echoMillis = 50

/** Takes over shared knowledge. A shared report counts if its request was sent after our own latest report was received. */
export const takeOver = (state: State, theirs: SharedKnowledge, instant: number): State => {
  const { clock, pauseAgreed, pausedUntil = 0, ownProcesses, stepped, report, writtenAt = instant } = theirs
  const statements = [state.claim?.instant, state.report?.resetAround]
  const agreed = backing(state, pausedUntil, instant, pauseAgreed, ...statements)
  const until = agreed === undefined ? Math.min(pausedUntil, writtenAt + maxUnbackedMillis) : pausedUntil
  const isNewer =
    report !== undefined &&
    report.receivedAt <= instant &&
    (state.report === undefined ? state.underWay === 0 : report.sentAt >= state.report.receivedAt)
  const ours = report === undefined || isNewer ? state : { ...state, ...crossed(state, report) }
  return {
    ...state,
    ownProcesses,
    isShared: true,
    ...(until > state.pausedUntil && { pausedUntil: until, pauseAgreed: agreed }),
    probing: state.probing && !(isNewer && report.sentAt >= state.steppedAt),
    clock: state.clock ?? clock,
    ...(isNewer
      ? { report: asOurs(state, report, statements, stepped === true ? instant : undefined) }
      : { report: ours.report, ...(report && confirmed(ours, report)) })
  }
}

/**
 * Orders replies that arrived out of order: within one period the smallest number is right. A reply from before our
 * request is older and does not count. It may be our own report that comes back through the store: a report of a
 * refusal that is over by now would say that nothing is left. The number and the end of the wait are taken over
 * together, because after a refusal the end says when we may ask again.
 */
const crossed = ({ report }: State, theirs: Report.SharedReport): Partial<State> | undefined =>
  report !== undefined &&
  theirs.receivedAt > report.sentAt - echoMillis &&
  theirs.resetSeconds === report.resetSeconds &&
  theirs.remaining < report.remaining
    ? { report: { ...report, remaining: theirs.remaining, resetBy: Math.min(report.resetBy, theirs.resetBy) } }
    : undefined

/** Uses their report as the second statement for ours, unless it is our own report. */
const confirmed = (state: State, theirs: Report.SharedReport): Partial<State> | undefined => {
  const { report } = state
  const apartMillis = Report.isRelative(theirs.resetSeconds) ? agreementMillis : echoMillis
  return report !== undefined &&
    report.agreed === undefined &&
    Math.abs(report.resetAround - theirs.resetAround) <= agreementMillis &&
    Math.abs(report.receivedAt - theirs.receivedAt) > apartMillis
    ? {
        report: { ...report, agreed: theirs.resetAround, askBy: askBy(state, report, theirs.resetAround) },
        windowMillis: windowSeen(state, theirs)
      }
    : undefined
}

/** Converts their report to one of ours. `asked` is when to ask about its reset, if given. */
const asOurs = (
  state: State,
  report: Report.SharedReport,
  statements: ReadonlyArray<number | undefined>,
  asked: number | undefined
): Report.Report => {
  const { receivedAt, resetAround, resetBy } = report
  // A refusal that moved the reset counts as a separate statement.
  const agreed =
    resetBy - resetAround > maxUnbackedMillis
      ? undefined
      : backing(state, resetAround, receivedAt, report.agreed, ...statements)
  return {
    ...report,
    agreed,
    askBy: asked ?? askBy(state, report, agreed),
    endedBefore: state.ended,
    sentBy: state.sent,
    unreportedBy: state.unreported
  }
}
