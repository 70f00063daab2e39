/**
 * SIGINT or SIGTERM, as something to wait for.
 */
import { Context, Deferred, Effect, Layer } from "effect"

const signals = ["SIGINT", "SIGTERM"] as const

export class StopSignal extends Context.Service<
  StopSignal,
  {
    /** Done once the process is asked to end. */
    readonly received: Effect.Effect<void>
  }
>()("@berthkit/watch/process/StopSignal") {
  static readonly layer = Layer.effect(
    StopSignal,
    Effect.gen(function* () {
      const received = yield* Deferred.make<void>()
      const onSignal = () => Deferred.doneUnsafe(received, Effect.void)
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          for (const signal of signals) process.on(signal, onSignal)
        }),
        () =>
          Effect.sync(() => {
            for (const signal of signals) process.off(signal, onSignal)
          })
      )
      return StopSignal.of({ received: Deferred.await(received) })
    })
  )
}
