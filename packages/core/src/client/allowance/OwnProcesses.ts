/**
 * Shares an estimate of the allowance between own processes: until when nothing may be sent, what is left (for a process that
 * has just started), and how many they are. Every process still relies on the replies it gets itself; the shared part makes
 * it leave room for the rest.
 */
import { Clock, Effect, Latch, Option, type Scope } from "effect"
import { sleepInBackground } from "../time/Background.ts"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"
import {
  type AllowanceStore,
  type AllowanceStoreFailed,
  believable,
  onClockAhead,
  type OwnProcesses,
  type SharedAllowance
} from "./AllowanceStore.ts"
import type { State } from "./EstimatorState.ts"
import { takeOver } from "./SharedKnowledge.ts"

/** How often a process reads the store and shows itself, and how long one counts that does not. */
const exchangeEveryMillis = 500
const staleMillis = 4000

/** How often what another process wrote meanwhile is read before the next exchange. */
const maxReadings = 3

/** Longest time that the first exchange may delay a client: without an answer the client starts without it. */
const maxFirstExchangeMillis = 500

/** Access to the estimate that is shared. */
export interface Estimate {
  readonly get: () => State
  readonly change: (change: (state: State) => State) => void
}

/** Instants that are no further apart count as the same: translating between clocks moves them. */
const noiseMillis = 50

const isLater = (a: number, b: number | undefined = 0) => a > b + noiseMillis

/** Whether the store knows less. Most commands that start know nothing new. */
const isNews = ({ clock, pausedUntil, report }: SharedAllowance, known: SharedAllowance | undefined): boolean =>
  isLater(pausedUntil, known?.pausedUntil) ||
  (report !== undefined &&
    (isLater(report.receivedAt, known?.report?.receivedAt) || report.remaining !== known?.report?.remaining)) ||
  (clock !== undefined && known?.clock === undefined)

export interface Sharing {
  /**
   * For a request that comes after a while without one: has this process known to the others, and learns what they know, as when it
   * began. Undefined where neither is needed.
   */
  readonly rejoin: () => Effect.Effect<void> | undefined
}

/**
 * Shares an estimate for as long as the scope lasts. A process that is not busy leaves the others alone, and costs nothing: one may be a
 * client of thousands of accounts. A failure of the store is reported once, and the client continues without it.
 */
export const share = Effect.fnUntraced(function* (
  store: AllowanceStore,
  estimate: Estimate,
  isBusy: () => boolean = () => true
): Effect.fn.Return<Sharing, never, Scope.Scope> {
  const clock = yield* Clock.Clock

  /** What own processes wrote, and how far the store's clock is ahead. */
  const read = Effect.gen(function* () {
    const found = yield* store.read
    const now = monotonicMillisUnsafe(clock)
    const ahead = (yield* store.now) - now
    const wallAhead = clock.currentTimeMillisUnsafe() - now
    const theirs = Option.map(found, (shared) => believable(onClockAhead(shared, -ahead), now, wallAhead))
    return { ahead, now, theirs: Option.getOrUndefined(theirs) }
  })

  /** Takes over what own processes share, and shares what they do not know. */
  const merge = Effect.fnUntraced(function* (first: Effect.Success<typeof read>, ownProcesses: OwnProcesses) {
    for (let found = first, readings = 1; ; found = yield* read, readings++) {
      const { ahead, now, theirs } = found
      estimate.change((state) => takeOver(state, { ...theirs, ownProcesses }, now))
      const { clock, pauseAgreed, pausedUntil, report } = estimate.get()
      // The newest report is kept for the next process that starts.
      const newest =
        report === undefined || (theirs?.report?.receivedAt ?? 0) > report.receivedAt ? theirs?.report : report
      const shared = { version: 1, writtenAt: now, pausedUntil, pauseAgreed, clock, report: newest } as const
      if (!isNews(shared, theirs)) return
      if ((yield* store.write(onClockAhead(shared, ahead))) || readings === maxReadings) return
    }
  })

  let warned = false
  const withoutStore = Effect.catch(({ detail, isReported = false }: AllowanceStoreFailed) => {
    if (warned || isReported) return Effect.void
    warned = true
    return Effect.logWarning(
      `Cannot share the allowance through ${store.name} (${detail}): this client goes by its own replies.`
    )
  })
  // Read first: nothing is written beside content that is not ours.
  const exchange = withoutStore(
    Effect.flatMap(read, (theirs) =>
      Effect.flatMap(store.meet(staleMillis), (ownProcesses) => merge(theirs, ownProcesses))
    )
  )
  const leave = Effect.andThen(
    withoutStore(Effect.flatMap(read, (theirs) => merge(theirs, estimate.get().ownProcesses))),
    store.leave
  )

  /** Whether this process is known to the others, and since then has exchanged with them. */
  const joined = Latch.makeUnsafe(false)
  const wanted = Latch.makeUnsafe(true)
  let isQuiet = false
  /** Whether the others may count this process. */
  let isMember = false

  const exchangeWhileBusy = Effect.gen(function* () {
    isMember = true
    do {
      // Never interrupted halfway, where it would collide with the last exchange: on a busy machine a first exchange that is late
      // still makes this process known.
      yield* Effect.uninterruptible(exchange)
      isQuiet = false
      joined.openUnsafe()
      yield* sleepInBackground(exchangeEveryMillis)
    } while (isBusy())
    isQuiet = true
    joined.closeUnsafe()
    wanted.closeUnsafe()
    yield* Effect.uninterruptible(leave)
    isMember = false
  })

  yield* Effect.addFinalizer(() => (isMember ? leave : Effect.void))
  // It keeps no program alive.
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(wanted.await, exchangeWhileBusy)), { startImmediately: true })
  const known = Effect.asVoid(Effect.timeoutOption(joined.await, maxFirstExchangeMillis))
  yield* known
  return {
    rejoin: () => (isQuiet ? Effect.andThen(wanted.open, known) : undefined)
  }
})
