import { layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Allowance } from "../../../src/client/Allowance.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))

/** A service that grants 100 requests a minute, and refuses the ones beyond that. */
const service = (granted: number) => {
  let remaining = granted
  return layer(() =>
    Effect.map(DateTime.now, (now) => {
      const headers = {
        "ratelimit-limit": "100",
        "ratelimit-remaining": String(Math.max(0, --remaining)),
        "ratelimit-reset": "60",
        date: DateTime.toDateUtc(now).toUTCString()
      }
      if (remaining < 0) return { status: 429, headers: { ...headers, "retry-after": "60" } }
      return ok({ id: 7, name: "web", created_at: "2026-03-01T10:20:30Z" }, headers)
    })
  )
}

describe("the allowance of a client", () => {
  it.effect("is unknown before the first reply, and then as the replies report it", () =>
    Effect.gen(function* () {
      const allowance = yield* Allowance
      const before = yield* allowance.current
      assert.deepStrictEqual(before, {
        limit: null,
        windowMillis: null,
        remaining: null,
        keptForReads: null,
        resetInMillis: null,
        pausedMillis: 0,
        underWay: 0,
        waiting: 0
      })
      yield* get
      const after = yield* allowance.current
      assert.deepInclude(after, { limit: 100, remaining: 49, underWay: 0, waiting: 0, pausedMillis: 0 })
      assert.strictEqual(after.resetInMillis, 60_000)
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* allowance.current).resetInMillis, 40_000)
    }).pipe(Effect.provide(service(50)))
  )

  it.effect("tells the length of the window once a refill has shown it", () => {
    let left = 40
    let resetSeconds = 25
    const partOfWindow = layer(() =>
      Effect.map(DateTime.now, (now) =>
        ok(
          { id: 7, name: "web", created_at: "2026-03-01T10:20:30Z" },
          {
            "ratelimit-limit": "100",
            "ratelimit-remaining": String(--left),
            "ratelimit-reset": String(resetSeconds),
            date: DateTime.toDateUtc(now).toUTCString()
          }
        )
      )
    )
    return Effect.gen(function* () {
      const { current } = yield* Allowance
      yield* get
      // The window may have begun long before.
      assert.strictEqual((yield* current).windowMillis, null)
      yield* TestClock.adjust("30 seconds")
      left = 100
      resetSeconds = 60
      yield* get
      assert.strictEqual((yield* current).windowMillis, 60_000)
    }).pipe(Effect.provide(partOfWindow))
  })

  it.effect("takes a reset further away than an hour for a part of a longer window", () => {
    const aDay = layer(() =>
      Effect.map(DateTime.now, (now) =>
        ok(
          { id: 7, name: "web", created_at: "2026-03-01T10:20:30Z" },
          {
            "ratelimit-limit": "5000",
            "ratelimit-remaining": "4000",
            "ratelimit-reset": "72000",
            date: DateTime.toDateUtc(now).toUTCString()
          }
        )
      )
    )
    return Effect.gen(function* () {
      const { current } = yield* Allowance
      yield* get
      yield* TestClock.adjust("10 seconds")
      yield* get
      yield* TestClock.adjust("10 seconds")
      yield* get
      const { windowMillis } = yield* current
      assert.isTrue(windowMillis === null || windowMillis > 3_600_000)
    }).pipe(Effect.provide(aDay))
  })

  it.effect("emits every change to a watcher, and the newest to a slow one", () =>
    Effect.gen(function* () {
      const allowance = yield* Allowance
      const seen: Array<number | null> = []
      const watcher = yield* Effect.forkChild(
        Stream.runForEach(allowance.changes, ({ remaining }) => Effect.sync(() => seen.push(remaining)))
      )
      yield* Effect.yieldNow
      for (let i = 0; i < 3; i++) {
        yield* get
        yield* TestClock.adjust("1 second")
      }
      yield* Fiber.interrupt(watcher)
      assert.deepStrictEqual(
        seen.filter((value, i) => value !== seen[i - 1]),
        [null, 49, 48, 47]
      )

      const slow = yield* allowance.changes.pipe(
        Stream.take(2),
        Stream.mapEffect((current) => Effect.as(Effect.all([get, get, get]), current.remaining)),
        Stream.runCollect
      )
      assert.deepStrictEqual(slow, [47, 44])
    }).pipe(Effect.provide(service(50)))
  )

  it.effect("shows the waiting calls", () =>
    Effect.gen(function* () {
      const { current } = yield* Allowance
      yield* get
      const next = Nodes.use((nodes) => nodes.get(NodeId.make(7), { deadline: "5 minutes" }))
      const waiters = yield* Effect.forkChild(Effect.all([next, next], { concurrency: 2 }))
      yield* TestClock.adjust("10 seconds")
      assert.deepInclude(yield* current, { remaining: 0, waiting: 2, underWay: 0 })
      yield* Fiber.interrupt(waiters)
      assert.deepInclude(yield* current, { remaining: 0, waiting: 0, underWay: 0 })
    }).pipe(Effect.provide(service(1)))
  )

  it.effect("shows how many requests are kept for reads; a delayed change names the number", () =>
    Effect.gen(function* () {
      const { current } = yield* Allowance
      const remove = Nodes.use((nodes) => nodes.delete(NodeId.make(7), { deadline: "5 seconds" }))
      yield* get
      assert.deepInclude(yield* current, { remaining: 2, keptForReads: 1 })
      yield* remove
      assert.deepInclude(yield* current, { remaining: 1, keptForReads: 1 })
      const held = yield* Effect.flip(remove)
      assert.deepInclude(held.reason, { _tag: "WouldExceedDeadline", heldBack: { remaining: 1, kept: 1 } })
      yield* get
      const spent = yield* Effect.flip(remove)
      assert.deepInclude(spent.reason, { _tag: "WouldExceedDeadline", heldBack: null })
    }).pipe(Effect.provide(service(3)))
  )

  it.effect("shows the pause after a refusal", () =>
    Effect.gen(function* () {
      const { current } = yield* Allowance
      yield* Effect.flip(get)
      assert.strictEqual((yield* current).pausedMillis, 60_000)
      yield* TestClock.adjust("25 seconds")
      assert.strictEqual((yield* current).pausedMillis, 35_000)
    }).pipe(Effect.provide(service(0)))
  )
})
