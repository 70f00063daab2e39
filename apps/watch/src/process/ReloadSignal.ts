/**
 * SIGHUP, as something to wait for: the config has to be read anew.
 */
import { Effect, Queue } from "effect"

/** Gives the wait for the next signal. While the scope is open the signal does not end the process; many at once count as one. */
export const reloadSignal = Effect.gen(function* () {
  const signals = yield* Queue.sliding<void>(1)
  const onSignal = () => void Queue.offerUnsafe(signals, undefined)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", onSignal)),
    () => Effect.sync(() => process.off("SIGHUP", onSignal))
  )
  return Queue.take(signals)
})
