/** The signals of the process, as effects to wait for: SIGINT and SIGTERM end it, SIGHUP reloads the config. */
import { Context, Deferred, Effect, Layer, Queue } from "effect"

const stopSignals = ["SIGINT", "SIGTERM"] as const

export class StopSignal extends Context.Service<
  StopSignal,
  {
    /** Completes once a signal asks the process to end. */
    readonly received: Effect.Effect<void>
    /** Whether a signal has asked the process to end. */
    readonly isReceived: Effect.Effect<boolean>
  }
>()("@berthkit/watch/process/StopSignal") {
  static readonly layer = Layer.effect(
    StopSignal,
    Effect.gen(function* () {
      const received = yield* Deferred.make<void>()
      const onSignal = () => Deferred.doneUnsafe(received, Effect.void)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          for (const signal of stopSignals) process.on(signal, onSignal)
        }),
        () =>
          Effect.sync(() => {
            for (const signal of stopSignals) process.off(signal, onSignal)
          })
      )
      return StopSignal.of({ received: Deferred.await(received), isReceived: Deferred.isDone(received) })
    })
  )
}

/**
 * Returns an effect that waits for the next SIGHUP. Until the scope closes, the signal does not end the process. Several
 * signals at once count as one.
 */
export const reloadSignal = Effect.gen(function* () {
  const signals = yield* Queue.sliding<void>(1)
  const onSignal = () => void Queue.offerUnsafe(signals, undefined)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("SIGHUP", onSignal)),
    () => Effect.sync(() => process.off("SIGHUP", onSignal))
  )
  return Queue.take(signals)
})
