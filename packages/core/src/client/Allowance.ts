/**
 * The allowance as the client knows it: how many requests are left, when it refills, who waits. It costs no request: it is
 * what the replies of all other calls said.
 */
import { Context, Effect, Layer, Stream } from "effect"
import type { AllowanceLevel } from "../domain/Allowance.ts"
import { Engine } from "./Engine.ts"

export class Allowance extends Context.Service<
  Allowance,
  {
    /** What is known now. */
    readonly level: Effect.Effect<AllowanceLevel>
    /** What is known now, and then every change. Whoever is slow gets the newest, and none of those between. */
    readonly changes: Stream.Stream<AllowanceLevel>
    /** The next level that differs from this one in more than the time that has passed. */
    readonly levelAfter: (seen: AllowanceLevel) => Effect.Effect<AllowanceLevel>
  }
>()("@berth/core/client/Allowance") {
  static readonly layer = Layer.effect(
    Allowance,
    Effect.gen(function* () {
      const { level, levelAfter } = (yield* Engine).allowance
      const changes = Stream.unfold(undefined, (seen: AllowanceLevel | undefined) =>
        Effect.map(seen === undefined ? level : levelAfter(seen), (next) => [next, next])
      )
      return Allowance.of({ level, changes, levelAfter })
    })
  )
}
