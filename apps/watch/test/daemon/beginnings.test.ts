import { expect, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { makeBeginnings } from "../../src/daemon/beginnings.ts"

it.effect("starts few accounts at once, and waits only briefly for an account that never learns its nodes", () =>
  Effect.gen(function* () {
    const { inTurn } = yield* makeBeginnings
    const known = yield* Deferred.make<void>()
    const begun: Array<number> = []
    const begin = (account: number, isKnown: Effect.Effect<void>) =>
      Effect.forkScoped(
        Effect.scoped(
          inTurn(
            Effect.andThen(
              Effect.sync(() => begun.push(account)),
              Effect.never
            ),
            isKnown
          )
        )
      )
    for (let account = 1; account <= 120; account++)
      yield* begin(account, account <= 20 ? Deferred.await(known) : Effect.never)
    yield* TestClock.adjust(1)
    expect(begun).toHaveLength(50)
    yield* Deferred.succeed(known, undefined)
    yield* TestClock.adjust(1)
    expect(begun).toHaveLength(70)
    yield* TestClock.adjust("10 seconds")
    expect(begun).toHaveLength(120)
  }).pipe(Effect.scoped)
)
