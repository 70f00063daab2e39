/** The contract of every store of the allowance. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schedule, type Scope } from "effect"
import type { AllowanceStore, SharedAllowance } from "../../../src/client/allowance/AllowanceStore.ts"
import * as Estimator from "../../../src/client/allowance/Estimator.ts"
import { initial, type State } from "../../../src/client/allowance/EstimatorState.ts"
import { share } from "../../../src/client/allowance/OwnProcesses.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"

/** An estimate that only the store changes. */
export const makeEstimate = (state = initial) => ({
  get: () => state,
  change: (change: (state: State) => State) => {
    state = change(state)
  }
})

/** An estimate after one reply that left this many of 10. */
export const knowing = (remaining: number) =>
  Effect.map(monotonicMillis, (now) =>
    makeEstimate(
      Estimator.received(Estimator.sent(initial, now), {
        ...Estimator.sending(initial, now),
        receivedAt: now,
        refused: false,
        fault: false,
        retryAfterMillis: null,
        wallAheadMillis: 0,
        date: null,
        limit: 10,
        remaining,
        reset: 3600
      })
    )
  )

const withinMillis = 4000

/** Waits until this many other clients are counted. */
export const meeting = (store: AllowanceStore, count: number) =>
  Effect.repeat(store.meet(withinMillis), {
    until: (seen) => seen.count === count,
    schedule: Schedule.spaced("20 millis")
  })

/** An estimate in the form that a client writes. */
export const content = (now: number, remaining: number): SharedAllowance => ({
  version: 1,
  writtenAt: now,
  pausedUntil: now + 5000,
  pauseAgreed: now + 5000,
  report: {
    limit: 10,
    remaining,
    resetSeconds: 3600,
    resetBy: now + 3_601_000,
    resetAround: now + 3_600_000,
    agreed: now + 3_600_000,
    sentAt: now - 20,
    receivedAt: now - 10
  }
})

/** `open` returns stores of one account for several processes. */
export const storeContract = (
  what: string,
  open: (count: number) => Effect.Effect<ReadonlyArray<AllowanceStore>, never, Scope.Scope>
) =>
  describe(`a store in ${what}`, () => {
    it.live("has nothing at first, then what was written last, on the reader's own clock", () =>
      Effect.gen(function* () {
        const [first, second] = yield* open(2)
        assert.isTrue(Option.isNone(yield* first!.read))
        const now = yield* monotonicMillis
        assert.isTrue(yield* first!.write(content(now, 7)))
        const found = Option.getOrThrow(yield* second!.read)
        assert.deepInclude(found.report, { limit: 10, remaining: 7, resetSeconds: 3600 })
        assert.closeTo(found.pausedUntil, now + 5000, 1000)
        assert.closeTo(found.report!.receivedAt, now - 10, 1000)
        assert.isAtLeast(found.report!.resetBy, now + 3_600_000)
        yield* second!.read
        assert.isTrue(yield* second!.write(content(now + 1, 6)))
      }).pipe(Effect.scoped)
    )

    it.live("counts the other running processes, in the same order for all, without those that left", () =>
      Effect.gen(function* () {
        const stores = yield* open(3)
        yield* Effect.forEach(stores, (store) => store.meet(withinMillis))
        const seen = yield* Effect.forEach(stores, (store) => meeting(store, 2))
        assert.deepStrictEqual(seen.map(({ before }) => before).toSorted(), [0, 1, 2])
        yield* stores[0]!.leave
        yield* meeting(stores[1]!, 1)
      }).pipe(Effect.scoped)
    )

    it.live(
      "gives a process that has left and returned everything that was written meanwhile, and counts it again",
      () =>
        Effect.gen(function* () {
          const [first, second] = yield* open(2)
          yield* Effect.forEach([first!, second!], (store) => meeting(store, 1), { concurrency: "unbounded" })
          yield* first!.leave
          yield* meeting(second!, 0)
          yield* second!.read
          assert.isTrue(yield* second!.write(content(yield* monotonicMillis, 6)))
          const found = yield* first!.read
          assert.strictEqual(Option.getOrUndefined(found)?.report?.remaining, 6)
          assert.isTrue(yield* first!.write(content(yield* monotonicMillis, 5)))
          yield* Effect.all([first!.meet(withinMillis), meeting(second!, 1)])
        }).pipe(Effect.scoped)
    )

    it.live("shares what is left with later processes", () =>
      Effect.gen(function* () {
        const [first, second] = yield* open(2)
        yield* Effect.scoped(share(first!, yield* knowing(7)))
        const estimate = makeEstimate()
        yield* Effect.scoped(share(second!, estimate))
        assert.deepInclude(estimate.get().report, { limit: 10, remaining: 7 })
        assert.strictEqual(estimate.get().ownProcesses.count, 0)
      }).pipe(Effect.scoped)
    )
  })
