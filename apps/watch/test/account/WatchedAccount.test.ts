import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { type Believer, makeAccount } from "../../src/account/WatchedAccount.ts"
import { beginning } from "../../src/events/Cursor.ts"
import type { EventFact } from "../../src/events/Event.ts"
import { Store } from "../../src/store/Store.ts"
import { StoreFailed } from "../../src/store/StoreFailed.ts"
import { created, row } from "../store/facts.ts"
import { memoryStore as store } from "../store/memory.ts"

interface Difference {
  readonly facts: ReadonlyArray<EventFact>
  readonly id: number
}

/** A believer that reports a node as created if its id is new. */
const believing = (known: Set<number>): Believer<number, Difference> => ({
  diff: (id) => ({ id, facts: known.has(id) ? [] : [created(id, id)] }),
  durable: ({ facts, id }) => (facts.length === 0 ? {} : { nodes: [row(id)] }),
  apply: ({ id }) => void known.add(id)
})

const account = Effect.fnUntraced(function* (known: Set<number>) {
  const { owner } = yield* Effect.flatMap(Store, (store) => store.claim("a"))
  return yield* makeAccount({ owner, belief: believing(known) })
})

const kept = Effect.gen(function* () {
  const { after, nodes } = yield* Store
  const ids = (yield* Stream.runCollect(nodes("a"))).map(({ id }) => id)
  return { nodes: ids, events: (yield* after(beginning, 99)).map(({ node }) => node) }
})

describe("an account", () => {
  it.effect("commits what an observation changes, and believes it then", () =>
    Effect.gen(function* () {
      const known = new Set<number>()
      const { observe } = yield* account(known)
      expect((yield* observe(1)).length).toBe(1)
      expect((yield* observe(1)).length).toBe(0)
      expect(yield* kept).toEqual({ nodes: [1], events: [1] })
      expect(known).toEqual(new Set([1]))
    }).pipe(Effect.provide(store))
  )

  it.effect("writes nothing when nothing changed", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { observe } = yield* account(new Set([1]))
      const version = sql`SELECT version FROM account`.values
      const before = yield* version
      yield* observe(1)
      expect(yield* version).toEqual(before)
    }).pipe(Effect.provide(store))
  )

  it.effect("takes one observation after the other, however many come at once", () =>
    Effect.gen(function* () {
      const { observe } = yield* account(new Set())
      yield* Effect.forEach([1, 2, 1, 3, 2, 1], observe, { concurrency: "unbounded" })
      expect(yield* kept).toEqual({ nodes: [1, 2, 3], events: [1, 2, 3] })
    }).pipe(Effect.provide(store))
  )

  it.effect("ends when another process owns it, and believes nothing that was not committed", () =>
    Effect.gen(function* () {
      const known = new Set<number>()
      const { observe } = yield* account(known)
      yield* observe(1)
      const next = yield* account(new Set([1]))
      expect(yield* Effect.flip(observe(2))).toMatchObject({ fault: "lost" })
      expect(known).toEqual(new Set([1]))
      yield* next.observe(2)
      expect(yield* kept).toEqual({ nodes: [1, 2], events: [1, 2] })
    }).pipe(Effect.provide(store))
  )

  it.effect("can be stopped while it waits for shared knowledge, and then believes none", () =>
    Effect.gen(function* () {
      const known = new Set<number>()
      const { owner } = yield* Effect.flatMap(Store, (store) => store.claim("a"))
      const belief = { ...believing(known), complete: () => Effect.interruptible(Effect.never) }
      const { observe } = yield* makeAccount({ owner, belief })
      const observing = yield* Effect.forkChild(observe(1), { startImmediately: true })
      yield* Effect.repeat(Effect.yieldNow, { times: 50 })
      yield* Fiber.interrupt(observing)
      expect(yield* kept).toEqual({ nodes: [], events: [] })
      expect(known.size).toBe(0)
    }).pipe(Effect.provide(store))
  )

  it.effect("counts a commit as made if its answer was lost but its events exist", () =>
    Effect.gen(function* () {
      const own = yield* Store
      const cut = new StoreFailed({ fault: "unavailable", detail: "the connection broke" })
      let answers = 0
      const commit: typeof own.commit = (...args) =>
        Effect.andThen(own.commit(...args), ++answers === 1 ? Effect.fail(cut) : Effect.succeed([]))
      const known = new Set<number>()
      const { observe } = yield* Effect.provideService(account(known), Store, Store.of({ ...own, commit }))
      const observed = yield* Effect.forkChild(observe(1), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      expect((yield* Fiber.join(observed)).length).toBe(1)
      expect(yield* kept).toEqual({ nodes: [1], events: [1] })
      const again = yield* account(new Set())
      expect(yield* Effect.flip(again.observe(1))).toMatchObject({ fault: "repeated" })
    }).pipe(Effect.provide(store))
  )

  it.effect("waits for room on a full disk, which the store shows until it is written again, and loses nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { health, probe } = yield* Store
      const known = new Set<number>()
      const { observe } = yield* account(known)
      const [{ page_count: pages }] = (yield* sql`PRAGMA page_count`) as unknown as [{ page_count: number }]
      yield* sql.unsafe(`PRAGMA max_page_count = ${pages}`)
      const observing = yield* Effect.forkChild(
        Effect.forEach(
          Array.from({ length: 50 }, (_, index) => index + 1),
          observe
        ),
        { startImmediately: true }
      )
      yield* Effect.repeat(Effect.yieldNow, { times: 500 })
      yield* TestClock.adjust("1 minute")
      expect(observing.pollUnsafe()).toBe(undefined)
      expect(yield* health).toMatchObject({ failure: { fault: "full" }, sinceMillis: 0 })
      // A small write may find room where a large one finds none.
      yield* probe
      expect(yield* health).not.toBe(null)
      expect((yield* kept).nodes).toEqual(Array.from(known))
      yield* sql`PRAGMA max_page_count = 100000`
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(observing)
      expect((yield* kept).events.length).toBe(50)
      yield* TestClock.adjust("9 seconds")
      yield* probe
      expect(yield* health).toBe(null)
    }).pipe(Effect.provide(store))
  )
})
