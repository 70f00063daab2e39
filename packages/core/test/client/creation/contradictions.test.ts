/**
 * Services of today's API that contradict themselves: list and read name a node differently, a refusal because of missing credit comes with
 * a counted node, or a reply hides its node. Under one key at most one create is sent, whether the call is repeated at once, after twelve
 * minutes or after half an hour.
 */
import { layer, lost, ok, type Reply, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, DateTime, Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { IntentStore, makeMemory } from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const spec = { name: "web", plan: "P", image: "I" }
const place = { project: 7, location: "Delhi" }

/** The list after a create was sent, without dates, as in today's API. */
const listed = (id: number, name = "web") => ({ id, name, status: "Running", plan: "P", is_locked: false })

interface Service {
  /** The reply to a create. */
  readonly created: Reply
  readonly list: ReadonlyArray<object>
  readonly read?: object
}

/** The results of calls with one key, each by a new client, and the number of creates that were sent. */
const called = Effect.fnUntraced(function* ({ created, list, read }: Service) {
  let posts = 0
  const first = DateTime.formatIso(yield* DateTime.now)
  const answer = ({ method, path, query }: Request) =>
    Effect.map(Clock.currentTimeMillis, (now): Reply => {
      const headers = { date: new Date(now).toUTCString() }
      if (method === "POST") {
        posts++
        return created
      }
      if (path.startsWith("/images")) return ok([], headers)
      if (path !== "/nodes/") return read === undefined ? { status: 404 } : ok({ created_at: first, ...read }, headers)
      const known = posts === 0 ? [] : list
      return ok(Number(query["page_no"] ?? 1) > 1 ? [] : [listed(100, "old"), ...known], headers)
    })
  const store = Layer.succeed(IntentStore, makeMemory())
  const results: Array<Result.Result<unknown, unknown>> = []
  for (const minutes of [0, 12, 24]) {
    yield* TestClock.adjust(`${minutes} minutes`)
    const create = Nodes.use((nodes) => nodes.create(spec, { key: "job", deadline: "40 seconds" }))
    const client = Layer.provide(layer(answer, place), store)
    results.push(yield* inTime(Effect.result(Effect.provide(create, client))))
  }
  return { posts, results }
})

describe("under one key a create is sent once", () => {
  const cases: Readonly<Record<string, Service>> = {
    "if a read names the listed node otherwise": {
      created: lost,
      list: [listed(105)],
      read: { ...listed(105, "web.internal") }
    },
    "if a node is counted beside credit that does not suffice": {
      created: ok({
        is_credit_sufficient: false,
        total_number_of_node_requested: 1,
        total_number_of_node_created: 1
      }),
      list: [listed(105)],
      read: listed(105)
    },
    "if its only record is not in a list": {
      created: ok({ node_create_response: listed(105, "web-1") }),
      list: [listed(105, "web-1")],
      read: listed(105, "web-1")
    },
    "if it says that the node is in another location": {
      created: ok({ ...listed(105), location: "Chennai" }),
      list: []
    },
    "if the data is a list of one record": { created: ok([listed(105, "web-1")]), list: [listed(105, "web-1")] }
  }
  for (const [what, service] of Object.entries(cases)) {
    it.effect(what, () =>
      Effect.gen(function* () {
        const { posts } = yield* called(service)
        assert.strictEqual(posts, 1)
      })
    )
  }

  it.effect("but a refusal for lack of credit that lists no node is one at once", () =>
    Effect.gen(function* () {
      const data = { is_credit_sufficient: false, node_create_response: [], total_number_of_node_created: 0 }
      const { results } = yield* called({ created: ok(data), list: [] })
      const [first] = results
      if (first === undefined || Result.isSuccess(first)) return assert.fail("it succeeded")
      assert.match(String(first.failure), /precondition/i)
    })
  )

  it.effect("and a reply that counts no node is named as such, after a look at the list", () =>
    Effect.gen(function* () {
      const data = { total_number_of_node_requested: 1, total_number_of_node_created: 0, node_create_response: [] }
      const { results } = yield* called({ created: ok(data), list: [] })
      const [first] = results
      if (first === undefined || Result.isSuccess(first)) return assert.fail("it succeeded")
      assert.include(String(first.failure), "the reply (200) says that the service made no node")
      assert.notInclude(String(first.failure), "not understood")
      const found = yield* called({ created: ok(data), list: [listed(105)], read: listed(105) })
      assert.strictEqual(found.posts, 1)
    })
  )

  it.effect("and errors beside no data keep the words of the service", () =>
    Effect.gen(function* () {
      const body = { code: 200, data: {}, errors: { plan: ["Plan is out of stock"] }, message: "Failed" }
      const created = { status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
      const { posts, results } = yield* called({ created, list: [] })
      const [first] = results
      if (first === undefined || Result.isSuccess(first)) return assert.fail("it succeeded")
      assert.include(String(first.failure), "Plan is out of stock")
      assert.isAtMost(posts, 3)
    })
  )
})

describe("a list that says it has more nodes than it shows", () => {
  for (const [what, shown, total] of [
    ["is no empty account", [], 2],
    ["is not read to its end", [listed(101), listed(102), listed(103)], 6]
  ] as const) {
    it.effect(`${what}: nothing is created`, () => {
      let posts = 0
      const body = JSON.stringify({ code: 200, data: shown, total_count: total, total_page_number: 2 })
      const service = layer(({ method }) => {
        if (method === "POST") posts++
        return { status: 200, headers: { "content-type": "application/json" }, body }
      }, place)
      return Effect.gen(function* () {
        const create = Nodes.use((nodes) => nodes.create(spec, { key: "job", deadline: "40 seconds" }))
        const result = yield* inTime(Effect.result(create))
        if (Result.isSuccess(result)) return assert.fail("it succeeded")
        assert.include(String(result.failure), `expected ${total} nodes (total_count)`)
        assert.strictEqual(posts, 0)
      }).pipe(Effect.provide(Layer.provide(service, Layer.succeed(IntentStore, makeMemory()))))
    })
  }
})

describe("a reply about another node without a date", () => {
  const other = { id: 999, name: "other", plan: "P" }
  const replying = (data: object) => layer(() => ok(data), place)

  it.effect("is no success of a commitment", () =>
    Effect.gen(function* () {
      const set = Nodes.use((nodes) => nodes.setCommitment(NodeId.make(5), "auto_renew"))
      assert.isTrue(Result.isFailure(yield* inTime(Effect.result(Effect.provide(set, replying(other))))))
    })
  )

  it.effect("is no success of a delete", () =>
    Effect.gen(function* () {
      const remove = Nodes.use((nodes) => nodes.delete(NodeId.make(5)))
      assert.isTrue(Result.isFailure(yield* inTime(Effect.result(Effect.provide(remove, replying({ node: other }))))))
    })
  )
})
