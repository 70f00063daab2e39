/** How many requests commands send, counted in the service's journal. */
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Effect } from "effect"
import { inDialect, isToday } from "../account.ts"
import { berth, json } from "./berth.ts"
import { stateFolder } from "./stateFolder.ts"

/** Deletes all nodes except the first few. */
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

describe("a name", () => {
  it.live("costs the list, and so does what only the list has of a node, as far as its first 1000 nodes", () =>
    Effect.gen(function* () {
      const { control, id: world, journal } = yield* TestServer
      const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { skip: 1100 } }))
      const [last] = nodes.slice(-1)
      const first = yield* Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
      const get = Effect.fnUntraced(function* (given: string) {
        const before = (yield* journal).length
        const ended = yield* berth(["node", "get", given, "-o", "json"])
        assert.strictEqual(ended.code, 0, ended.stderr)
        return { node: json<{ id: number; plan: string | null }>(ended), requests: (yield* journal).length - before }
      })
      const named = yield* get(last!.name)
      assert.deepStrictEqual([named.node.id, named.requests], [last!.id, 15])
      const near = yield* get(String(first[0]!.id))
      assert.match(String(near.node.plan), /^[BC]/)
      assert.isAtMost(near.requests, 3)
      // The reply to a get has the plan in today's form.
      const far = yield* get(String(last!.id))
      assert.deepStrictEqual([far.node.plan === null, far.requests <= 13], [!isToday, true])
    }).pipe(
      Effect.scoped,
      Effect.provide(TestServer.layer(inDialect({ scenario: { fleet: 1200 }, rateLimit: { limit: 100_000 } })))
    )
  )
})
