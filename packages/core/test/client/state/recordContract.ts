/** The contract of every store of an account's state. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option, type Scope } from "effect"
import { keyAt, type RecordStore, type StateFailed } from "../../../src/client/state/RecordStore.ts"

const value = (text: string) => JSON.stringify({ version: 1, text })

/** `open` returns the stores of several processes for one account. */
export const recordContract = (
  what: string,
  open: (count: number) => Effect.Effect<ReadonlyArray<RecordStore>, StateFailed, Scope.Scope>
) =>
  describe(`records in ${what}`, () => {
    it.live("have the values that were put last, sorted by key, in every process", () =>
      Effect.gen(function* () {
        const [one, other] = yield* open(2)
        assert.isTrue(Option.isNone(yield* other!.get("lease", "b")))
        for (const key of ["b", "a.1", "_z", "B"]) yield* one!.put("lease", key, value(key))
        yield* one!.put("lease", "b", value("again"))
        yield* one!.put("fleet", "a", value("of another kind"))
        // A lock of nodes, around a record of the account.
        yield* one!.withLock("fleet.a")((lock) => one!.put("proposal", "a", value("under it"), lock))
        assert.deepStrictEqual(yield* other!.get("proposal", "a"), Option.some(value("under it")))
        assert.deepStrictEqual(yield* other!.get("lease", "b"), Option.some(value("again")))
        const listed = yield* other!.list("lease")
        assert.deepStrictEqual(
          listed.map(({ key, value }) => [key, value]),
          [
            ["B", value("B")],
            ["_z", value("_z")],
            ["a.1", value("a.1")],
            ["b", value("again")]
          ]
        )
        yield* other!.remove("lease", "b")
        yield* other!.remove("lease", "b")
        assert.isTrue(Option.isNone(yield* one!.get("lease", "b")))
        assert.deepStrictEqual(yield* one!.elsewhere("lease"), [])
      })
    )

    it.live("that are appended come last, and only so many are kept", () =>
      Effect.gen(function* () {
        const [one, other] = yield* open(2)
        const keys: Array<string> = []
        for (let i = 0; i < 5; i++) keys.push(yield* [one!, other!][i % 2]!.append("change", value(String(i)), 3))
        assert.strictEqual(new Set(keys).size, 5)
        const listed = yield* one!.list("change")
        assert.strictEqual(listed.length, 3)
        const kept = listed.map(({ key }) => key)
        assert.include(kept, keys.at(-1))
        const rest = yield* one!.list("change", kept[0])
        assert.deepStrictEqual(
          rest.map(({ key }) => key),
          kept.slice(1)
        )
        assert.isEmpty(yield* one!.list("change", keyAt(Number.parseInt(kept.at(-1)!) + 1)))
        assert.lengthOf(yield* one!.list("change", keyAt(Number.parseInt(kept[0]!) - 1)), 3)
      })
    )

    it.live("are written under a lock that one process has at a time", () =>
      Effect.gen(function* () {
        const [one, other] = yield* open(2)
        const inside = yield* Deferred.make<void>()
        const done = yield* Deferred.make<void>()
        const first = yield* Effect.forkChild(
          one!.withLock("lease.a")((lock) =>
            Effect.gen(function* () {
              yield* Deferred.succeed(inside, undefined)
              yield* Deferred.await(done)
              yield* lock.confirm
              yield* one!.put("lease", "a", value("first"), lock)
            })
          )
        )
        yield* Deferred.await(inside)
        const second = yield* Effect.forkChild(
          other!.withLock("lease.a")((lock) =>
            Effect.tap(other!.get("lease", "a"), () => other!.put("lease", "a", value("second"), lock))
          )
        )
        yield* Deferred.succeed(done, undefined)
        yield* Fiber.join(first)
        assert.deepStrictEqual(yield* Fiber.join(second), Option.some(value("first")))
        assert.deepStrictEqual(yield* one!.get("lease", "a"), Option.some(value("second")))
        assert.strictEqual(yield* Effect.flip(one!.withLock("lease.a")(() => Effect.fail("mine"))), "mine")
      })
    )
  })
