/**
 * The allowance (how much of the rate limit is left) as known from the replies of all other calls: how many requests are left, when they
 * refill, how many calls wait. Reading it costs no request.
 */
import { Context, Effect, Layer, Stream } from "effect"
import type { KnownAllowance } from "../domain/Allowance.ts"
import { Engine } from "./call/Engine.ts"
import { monotonicMillis } from "./time/Monotonic.ts"

/**
 * The service that reports how much of the rate limit is left now, and each change.
 *
 * @example
 * ```ts
 * import { Allowance } from "@berthkit/core/client/Allowance"
 * import { Nodes } from "@berthkit/core/client/Nodes"
 * import { Console, Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const allowance = yield* Allowance
 *   yield* Nodes.use((nodes) => nodes.listPage())
 *   const { limit, remaining } = yield* allowance.current
 *   yield* Console.log(limit, remaining) // 1200 1199
 * })
 * ```
 */
export class Allowance extends Context.Service<
  Allowance,
  {
    /** The current estimate. */
    readonly current: Effect.Effect<KnownAllowance>
    /** The current estimate, and then every change. A slow reader gets the latest estimate and skips those in between. */
    readonly changes: Stream.Stream<KnownAllowance>
    /** The next estimate that differs from `seen` by more than the time that has passed. */
    readonly changeAfter: (seen: KnownAllowance) => Effect.Effect<KnownAllowance>
    /**
     * A time that the service's clock has certainly reached, from the `Date` of its replies: milliseconds since the epoch; 0 if unknown.
     */
    readonly serviceMillis: Effect.Effect<number>
  }
>()("@berthkit/core/client/Allowance") {
  static readonly layer = Layer.effect(
    Allowance,
    Effect.gen(function* () {
      const { allowance, serviceTimeAt } = yield* Engine
      const { current, changeAfter } = allowance
      const changes = Stream.unfold(undefined, (seen: KnownAllowance | undefined) =>
        Effect.map(seen === undefined ? current : changeAfter(seen), (next) => [next, next])
      )
      return Allowance.of({ current, changes, changeAfter, serviceMillis: Effect.map(monotonicMillis, serviceTimeAt) })
    })
  )
}
