/**
 * Shares an estimate of the allowance with the other clients that spend it: that nobody may go before some instant, what is
 * left (for one that has just begun), and how many they are. Every client still goes by the replies it gets itself; what
 * it hears makes it leave room for the others.
 */
import { Clock, Effect, Option, type Scope } from "effect"
import type { AllowanceStore, AllowanceStoreFailed, Peers, SharedAllowance } from "./AllowanceStore.ts"
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

/** What is shared, told on a clock that is `millis` ahead. */
const onClockAhead = (
  { clock, pausedUntil, version, view, writtenAt }: SharedAllowance,
  millis: number
): SharedAllowance => ({
  version,
  writtenAt: writtenAt + millis,
  pausedUntil: pausedUntil === 0 ? 0 : pausedUntil + millis,
  ...(clock && {
    clock: {
      aheadAtLeastMillis: clock.aheadAtLeastMillis - millis,
      aheadAtMostMillis: clock.aheadAtMostMillis - millis
    }
  }),
  ...(view && {
    view: {
      ...view,
      resetBy: view.resetBy + millis,
      resetAround: view.resetAround + millis,
      sentAt: view.sentAt + millis,
      receivedAt: view.receivedAt + millis
    }
  })
})

/** Whether the others know less: of commands that begin, most have nothing to say. */
const isNews = ({ clock, pausedUntil, view }: SharedAllowance, known: SharedAllowance | undefined): boolean =>
  pausedUntil !== (known?.pausedUntil ?? 0) ||
  view?.receivedAt !== known?.view?.receivedAt ||
  view?.remaining !== known?.view?.remaining ||
  (clock !== undefined && known?.clock === undefined)

/** Shares an estimate for as long as the scope lasts. What the store cannot do is told once and done without. */
export const share = Effect.fnUntraced(function* (
  store: AllowanceStore,
  estimate: Estimate
): Effect.fn.Return<void, never, Scope.Scope> {
  let told = false
  const tellOnce = (what: string) =>
    Effect.suspend(() => {
      if (told) return Effect.void
      told = true
      return Effect.logWarning(`The shared allowance at ${store.name} ${what}`)
    })

  /** What the others wrote. What comes from the future is of a clock that was wrong, and so is whatever it says. */
  const read = Effect.fnUntraced(function* (now: number, ahead: number) {
    const found = yield* Effect.catch(store.read, ({ detail }) =>
      Effect.as(tellOnce(`is replaced: ${detail}.`), Option.none<SharedAllowance>())
    )
    const theirs = Option.map(found, (shared) => onClockAhead(shared, -ahead))
    return Option.getOrUndefined(Option.filter(theirs, ({ writtenAt }) => writtenAt <= now + staleMillis))
  })

  /** Takes over what the others say, and says what they do not know. */
  const tell = Effect.fnUntraced(function* (peers: Peers) {
    const now = yield* Clock.currentTimeMillis
    const ahead = (yield* store.now) - now
    const theirs = yield* read(now, ahead)
    estimate.change((state) => Estimator.shared(state, { peers, ...theirs }, now))
    const { clock, pausedUntil, view } = estimate.get()
    // The newest view is worth keeping for whoever begins next.
    const newest = view === undefined || (theirs?.view?.receivedAt ?? 0) > view.receivedAt ? theirs?.view : view
    const shared: SharedAllowance = {
      version: 1,
      writtenAt: now,
      pausedUntil,
      ...(clock && { clock }),
      ...(newest && { view: newest })
    }
    if (isNews(shared, theirs)) yield* store.write(onClockAhead(shared, ahead))
  })

  const withoutStore = Effect.catch(({ detail }: AllowanceStoreFailed) =>
    tellOnce(`is done without (${detail}): this client goes by its own replies.`)
  )
  const exchange = withoutStore(Effect.flatMap(store.meet(staleMillis), tell))
  const leave = Effect.andThen(withoutStore(Effect.suspend(() => tell(estimate.get().peers))), store.leave)

  yield* Effect.timeoutOption(exchange, firstLookMillis)
  yield* Effect.addFinalizer(() => leave)
  // Never cut in the middle, where it would get into the way of the last one.
  yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.uninterruptible(exchange), everyMillis)))
})
