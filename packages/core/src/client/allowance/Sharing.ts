/**
 * Shares an estimate of the allowance with the other clients that spend it: that nobody may go before some instant, what is
 * left (for one that has just begun), and how many they are. Every client still goes by the replies it gets itself; what
 * it hears makes it leave room for the others.
 */
import { Clock, Effect, Option, Schedule, type Scope } from "effect"
import type { AllowanceStore, SharedAllowance } from "./AllowanceStore.ts"
import * as Estimator from "./Estimator.ts"

/** How often the clients look and are seen, and how long one that is not seen counts. */
const everyMillis = 500
const staleMillis = 4000

/** Access to the estimate that is shared. */
export interface Estimate {
  readonly get: () => Estimator.State
  readonly change: (change: (state: Estimator.State) => Estimator.State) => void
}

/** What is shared, told on a clock that is `millis` ahead. */
const onClockAhead = ({ clock, pausedUntil, view, ...shared }: SharedAllowance, millis: number): SharedAllowance => ({
  ...shared,
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

/** Shares an estimate for as long as the scope lasts. What the store cannot do is told once and done without. */
export const share = Effect.fnUntraced(function* (
  store: AllowanceStore,
  estimate: Estimate
): Effect.fn.Return<void, never, Scope.Scope> {
  let told = false
  const tellOnce = ({ detail }: { readonly detail: string }) =>
    Effect.suspend(() => {
      if (told) return Effect.void
      told = true
      return Effect.logWarning(`The shared allowance ${detail}; this client goes by its own replies.`)
    })

  const exchange = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const ahead = (yield* store.now) - now
    const peers = yield* store.meet(staleMillis)
    const found = yield* Effect.catch(store.read, (error) => Effect.as(tellOnce(error), Option.none()))
    const theirs = Option.getOrUndefined(Option.map(found, (shared) => onClockAhead(shared, -ahead)))
    estimate.change((state) => Estimator.shared(state, { peers, ...theirs }, now))
    const { clock, pausedUntil, view } = estimate.get()
    // The newest view is worth keeping for whoever begins next.
    const newest = view === undefined || (theirs?.view?.receivedAt ?? 0) > view.receivedAt ? theirs?.view : view
    const shared: SharedAllowance = {
      version: 1,
      pausedUntil: Math.max(pausedUntil, theirs?.pausedUntil ?? 0),
      ...(clock && { clock }),
      ...(newest && { view: newest })
    }
    yield* store.write(onClockAhead(shared, ahead))
  }).pipe(Effect.catch(tellOnce))

  yield* exchange
  yield* Effect.forkScoped(Effect.repeat(exchange, Schedule.spaced(everyMillis)))
  yield* Effect.addFinalizer(() => Effect.andThen(exchange, store.leave))
})
