import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { openAccount } from "../../src/account/WatchedAccount.ts"
import { openAllowance } from "../../src/account/WatchedAllowance.ts"
import { openCatalogue } from "../../src/account/WatchedCatalogue.ts"
import { NodeStateJson } from "../../src/diff/Belief.ts"
import { beginning } from "../../src/events/Cursor.ts"
import { Store } from "../../src/store/Store.ts"
import { aNode } from "../diff/aNode.ts"
import { aPlan, readAt } from "../diff/catalogue/reading.ts"
import { row } from "../store/facts.ts"
import { memoryStore as store } from "../store/memory.ts"

const writeState = Schema.encodeSync(NodeStateJson)

const begun = { order: 0, atMillis: 0, monotonicMillis: 0, serviceMillis: null }

const nodeRow = (id: number) => {
  const state = { node: aNode({ id }), incarnation: 0, life: 1, version: 0, seenMillis: 0, listed: true }
  return row(id, { body: writeState({ ...state, statusSinceMillis: 0, stuck: false, goneMillis: null }) })
}

/** A process that takes the account over. */
const take = Effect.gen(function* () {
  const { owner, snapshot, spend } = yield* openAccount({ name: "a", fingerprint: null, begun })
  const catalogue = yield* openCatalogue({ owner, condition: null, snapshot, spend })
  return { catalogue, allowance: yield* openAllowance({ owner }) }
})

const logged = Effect.gen(function* () {
  const { after } = yield* Store
  return (yield* after(beginning, 99)).map(({ body, id, node, seq, type }) => ({ id, node, seq, type, body }))
})

// The first plan has a name that looks like the id of a node.
const plans = [aPlan("7"), aPlan("b"), aPlan("c"), aPlan("A-1VCPU-1RAM-15DISK", 100)]

describe("the catalogue of an account", () => {
  it.effect("is committed with its events, counts the nodes of the store, and goes on in another process", () =>
    Effect.gen(function* () {
      const { claim, commit } = yield* Store
      yield* commit((yield* claim("a")).owner, { nodes: [nodeRow(1), nodeRow(2), nodeRow(3)] })
      const first = yield* take
      for (const minutes of [0, 10]) expect(yield* first.catalogue.observe(readAt(minutes, plans))).toEqual([])
      const dearer = [...plans.slice(0, 3), aPlan("A-1VCPU-1RAM-15DISK", 150)]
      yield* first.catalogue.observe(readAt(40, dearer))
      expect(yield* first.catalogue.observe(readAt(50, dearer))).toMatchObject([
        { type: "berth.plan.price_changed", data: { nodes: 3, differencePerMonthInr: 150 } }
      ])
      const next = yield* take
      expect(yield* next.catalogue.observe(readAt(60, dearer.slice(1)))).toEqual([])
      expect(yield* next.catalogue.observe(readAt(70, dearer.slice(1)))).toHaveLength(1)
      const events = yield* logged
      expect(events).toMatchObject([
        { seq: 1, type: "berth.plan.price_changed", node: null },
        { seq: 2, type: "berth.plan.removed", node: null }
      ])
      expect(JSON.parse(events[1]!.body)).toMatchObject({
        source: "/accounts/a",
        subject: "plans/7",
        data: { afterGap: true }
      })
      // The previous owner can write nothing more.
      expect(yield* Effect.flip(first.catalogue.observe(readAt(150, plans)))).toMatchObject({ fault: "lost" })
    }).pipe(Effect.provide(store))
  )
})

describe("the allowance of an account", () => {
  it.effect("is reported low once in a window, by whichever process", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1000)
      const read = { limit: 1200, remaining: 9, resetMillis: 90_000, ownPerHour: 1, ownLeft: 1, atMillis: 1000 }
      const first = yield* take
      expect(yield* first.allowance(read)).toHaveLength(1)
      const next = yield* take
      expect(yield* next.allowance({ ...read, atMillis: 2000 })).toEqual([])
      expect(yield* next.allowance({ ...read, remaining: 1200, atMillis: 90_000 })).toEqual([])
      expect(yield* next.allowance({ ...read, resetMillis: 190_000, atMillis: 91_000 })).toHaveLength(1)
      const events = yield* logged
      expect(events.map(({ type }) => type)).toEqual(["berth.allowance.low", "berth.allowance.low"])
      expect(new Set(events.map(({ id }) => id)).size).toBe(2)
    }).pipe(Effect.provide(store))
  )
})
