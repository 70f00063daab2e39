/**
 * The allowance as the client knows it: how many requests are left, when it refills, who waits. It costs no request: it is
 * what the replies of all other calls said.
 */
import { Context, Effect, Layer, Stream } from "effect"
import type { KnownAllowance } from "../domain/Allowance.ts"
import { Engine } from "./call/Engine.ts"

export class Allowance extends Context.Service<
  Allowance,
  {
    /** What is known now. */
    readonly current: Effect.Effect<KnownAllowance>
    /** What is known now, and then every change. Whoever is slow gets the newest, and none of those between. */
    readonly changes: Stream.Stream<KnownAllowance>
    /** The next current that differs from this one in more than the time that has passed. */
    readonly changeAfter: (seen: KnownAllowance) => Effect.Effect<KnownAllowance>
  }
>()("@berth/core/client/Allowance") {
  static readonly layer = Layer.effect(
    Allowance,
    Effect.gen(function* () {
      const { current, changeAfter } = (yield* Engine).allowance
      const changes = Stream.unfold(undefined, (seen: KnownAllowance | undefined) =>
        Effect.map(seen === undefined ? current : changeAfter(seen), (next) => [next, next])
      )
      return Allowance.of({ current, changes, changeAfter })
    })
  )
}
