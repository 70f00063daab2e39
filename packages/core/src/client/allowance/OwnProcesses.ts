/**
 * Shares an estimate of the allowance with the other clients that spend it: that nobody may go before some instant, what is
 * left (for one that has just begun), and how many they are. Every client still goes by the replies it gets itself; what
 * it hears makes it leave room for the others.
 */
import { Clock, Effect, Option, type Scope } from "effect"
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
import * as Estimator from "./Estimator.ts"

/** How often the clients look and are seen, and how long one that is not seen counts. */
const everyMillis = 500
const staleMillis = 4000

/** How long the first look may hold up whoever waits for it: a store that does not answer is done without. */
const firstLookMillis = 500

/** Access to the estimate that is shared. */
export interface Estimate {
  readonly get: () => Estimator.State
  readonly change: (change: (state: Estimator.State) => Estimator.State) => void
}

/** Instants that are no further apart are the same, however they were translated. */
const noiseMillis = 50

const isLater = (a: number, b: number | undefined = 0) => a > b + noiseMillis

/** Whether the others know less: of commands that begin, most have nothing to say. */
const isNews = ({ clock, pausedUntil, report }: SharedAllowance, known: SharedAllowance | undefined): boolean =>
  isLater(pausedUntil, known?.pausedUntil) ||
  (report !== undefined &&
    (isLater(report.receivedAt, known?.report?.receivedAt) || report.remaining !== known?.report?.remaining)) ||
  (clock !== undefined && known?.clock === undefined)

/** Shares an estimate for as long as the scope lasts. What the store cannot do is told once and done without. */
export const share = Effect.fnUntraced(function* (
  store: AllowanceStore,
  estimate: Estimate
): Effect.fn.Return<void, never, Scope.Scope> {
  const clock = yield* Clock.Clock

  /** What the others wrote, and how far the store's clock is ahead. */
  const read = Effect.gen(function* () {
    const found = yield* store.read
    const now = monotonicMillisUnsafe(clock)
    const ahead = (yield* store.now) - now
    const wallAhead = clock.currentTimeMillisUnsafe() - now
    const theirs = Option.map(found, (shared) => believable(onClockAhead(shared, -ahead), now, wallAhead))
    return { ahead, now, theirs: Option.getOrUndefined(theirs) }
  })

  /** Takes over what the others say, and says what they do not know. */
  const tell = Effect.fnUntraced(function* (
    { ahead, now, theirs }: Effect.Success<typeof read>,
    ownProcesses: OwnProcesses
  ) {
    estimate.change((state) => Estimator.shared(state, { ...theirs, ownProcesses }, now))
    const { clock, pauseAgreed, pausedUntil, report } = estimate.get()
    // The newest report is worth keeping for whoever begins next.
    const newest =
      report === undefined || (theirs?.report?.receivedAt ?? 0) > report.receivedAt ? theirs?.report : report
    const shared = { version: 1, writtenAt: now, pausedUntil, pauseAgreed, clock, report: newest } as const
    if (isNews(shared, theirs)) yield* store.write(onClockAhead(shared, ahead))
  })

  let told = false
  const withoutStore = Effect.catch(({ detail }: AllowanceStoreFailed) => {
    if (told) return Effect.void
    told = true
    return Effect.logWarning(
      `The shared allowance at ${store.name} is done without (${detail}): this client goes by its own replies.`
    )
  })
  // Read first: where what is there is not ours, nothing is put beside it.
  const exchange = withoutStore(
    Effect.flatMap(read, (theirs) =>
      Effect.flatMap(store.meet(staleMillis), (ownProcesses) => tell(theirs, ownProcesses))
    )
  )
  const leave = Effect.andThen(
    withoutStore(Effect.flatMap(read, (theirs) => tell(theirs, estimate.get().ownProcesses))),
    store.leave
  )

  yield* Effect.timeoutOption(exchange, firstLookMillis)
  yield* Effect.addFinalizer(() => leave)
  // Never cut in the middle, where it would get into the way of the last one. It keeps no program alive.
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(sleepInBackground(everyMillis), Effect.uninterruptible(exchange)))
  )
})
