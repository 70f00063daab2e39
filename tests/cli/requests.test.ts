/**
 * How many requests commands take, as the service's journal has them.
 */
import { readdirSync, statSync, utimesSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect, isToday } from "../account.ts"
import { berth, json } from "./berth.ts"
import { stateFolder } from "./stateFolder.ts"

/** Deletes all but the first so many nodes. */
const deleteAllBut = Effect.fnUntraced(function* (count: number) {
  const { advance, control, id: world } = yield* TestServer
  const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { skip: count } }))
  for (const { id } of nodes) {
    yield* Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status: "terminate" } }))
  }
  yield* advance("1 day")
})

describe("node list", () => {
  it.live(
    "of an account of one page takes a second request, each time, unless the service states how many nodes there are",
    () =>
      Effect.gen(function* () {
        const { journal } = yield* TestServer
        const env = { XDG_STATE_HOME: yield* stateFolder }
        const list = Effect.gen(function* () {
          const before = (yield* journal).length
          const ended = yield* berth(["node", "list", "-o", "json"], { env })
          assert.strictEqual(ended.stderr, "")
          const { length } = json<ReadonlyArray<unknown>>(ended)
          return { nodes: length, requests: (yield* journal).length - before }
        })
        assert.deepStrictEqual(yield* list, { nodes: 110, requests: 2 })
        yield* deleteAllBut(30)
        const requests = isToday ? 1 : 2
        assert.deepStrictEqual(yield* list, { nodes: 30, requests })
        assert.deepStrictEqual(yield* list, { nodes: 30, requests })
      }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 110 } }))))
  )
})

describe("the index of names", () => {
  it.live("is written by the first list, and by a later one only when it is an hour old", () =>
    Effect.gen(function* () {
      const cache = yield* stateFolder
      const env = { XDG_CACHE_HOME: cache }
      const accounts = join(cache, "berth", "accounts")
      const writtenAt = () => statSync(join(accounts, readdirSync(accounts)[0]!, "nodes.json")).mtimeMs
      yield* berth(["node", "list"], { env })
      const first = writtenAt()
      yield* berth(["node", "list"], { env })
      assert.strictEqual(writtenAt(), first)
      const old = first / 1000 - 3700
      utimesSync(join(accounts, readdirSync(accounts)[0]!, "nodes.json"), old, old)
      yield* berth(["node", "list"], { env })
      assert.isAtLeast(writtenAt(), first)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )
})
