/** A service that answers a page after the end of the list with 404, as web frameworks do, and lists that say that one page is all. */
import { failure, layer, lost, nodeRecord, ok, type Reply, scripted } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { IntentStore, makeMemory } from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { inTime } from "../../inTime.ts"

const invalidPage: Reply = { ...failure(404, "Not found"), body: JSON.stringify({ detail: "Invalid page." }) }
const invalidPageWith200: Reply = {
  ...ok([]),
  body: JSON.stringify({ code: 404, data: [], errors: "Invalid page", message: "Error" })
}

const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-22.04" }

/** A service with these nodes in pages of `size`, which answers `after` to each page after the end, and once by mistake to another page. */
const serviceOf = (
  count: number,
  after: Reply,
  { mistakenAt = 0, order = "ascending", size = 100, totals = false } = {}
) => {
  let requests = 0
  const ids = Array.from({ length: count }, (_, i) => 101 + i)
  const records = (order === "ascending" ? ids : ids.toReversed()).map((id) => nodeRecord({ id, name: `n-${id}` }))
  return scripted(({ body, method, query }) => {
    if (method === "POST") return Effect.succeed(ok(nodeRecord({ id: 900, name: (body as typeof spec).name })))
    const page = Number(query["page_no"] ?? 1)
    const shown = records.slice((page - 1) * size, page * size)
    const isMistake = ++requests === mistakenAt
    if (page > 1 && (shown.length === 0 || isMistake)) return Effect.succeed(after)
    const reply = ok(shown)
    const stated = { total_count: count, total_page_number: Math.max(1, Math.ceil(count / size)) }
    return Effect.succeed(
      totals ? { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body!), ...stated }) } : reply
    )
  })
}

const pagesAsked = ({ requests }: ReturnType<typeof serviceOf>) =>
  requests.filter(({ method }) => method === "GET").map(({ query }) => query["page_no"])

for (const [what, after] of [
  ["404", invalidPage],
  ["200 with the code 404", invalidPageWith200]
] as const) {
  describe(`a page after the end that is ${what}`, () => {
    for (const count of [0, 1, 2, 45, 100, 250]) {
      for (const order of ["ascending", "descending"]) {
        it.effect(`ends a list of ${count} nodes that is ${order}`, () =>
          Effect.gen(function* () {
            const nodes = yield* Stream.runCollect(Stream.unwrap(Effect.map(Nodes, (nodes) => nodes.list())))
            assert.lengthOf(nodes, count)
            if (count > 0) assert.lengthOf(yield* Nodes.use((nodes) => nodes.named("n-101")), 1)
            assert.strictEqual((yield* Nodes.use((nodes) => nodes.create(spec))).outcome, "created")
          }).pipe(Effect.provide(layer(serviceOf(count, after, { order, size: 20 }))))
        )
      }
    }

    for (const order of ["ascending", "descending"]) {
      it.effect(`hides no nodes of a list that is ${order} if it is a single mistake`, () =>
        Effect.gen(function* () {
          for (let moment = 2; moment <= 6; moment++) {
            for (const exact of [true, false]) {
              const service = serviceOf(250, after, { order, size: 60, mistakenAt: moment })
              const list = Stream.runCollect(Stream.unwrap(Effect.map(Nodes, (nodes) => nodes.list({ exact }))))
              assert.lengthOf(yield* Effect.provide(list, layer(service)), 250, `at request ${moment}, exact: ${exact}`)
            }
          }
        })
      )
    }

    it.effect("is an empty page", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* Nodes.use((nodes) => nodes.listPage({ page: 2 })), [])
      }).pipe(Effect.provide(layer(serviceOf(3, after))))
    )

    it.effect("is a failure if it is the first page", () =>
      Effect.gen(function* () {
        const { reason } = yield* Effect.flip(Nodes.use((nodes) => nodes.listPage()))
        assert.strictEqual(reason._tag, "PathNotFound")
      }).pipe(Effect.provide(layer(() => Effect.succeed(after))))
    )
  })
}

describe("a create", () => {
  for (const order of ["ascending", "descending"]) {
    it.effect(`asks for no second page if the first one states that it is the only one (${order})`, () =>
      Effect.gen(function* () {
        const service = serviceOf(3, invalidPage, { order, totals: true })
        yield* Effect.provide(
          Nodes.use((nodes) => nodes.create(spec)),
          layer(service)
        )
        assert.deepStrictEqual(new Set(pagesAsked(service)), new Set(["1"]))
      })
    )
  }
})

/**
 * A service that shows the first `size` nodes, answers every other page with 404, and loses the replies to creates. A create makes a node
 * only if `makes` is true.
 */
const cutService = (count: number, size: number, makes: boolean, order: string, totals: boolean) => {
  const ids = Array.from({ length: count }, (_, i) => 101 + i)
  let posts = 0
  const service = layer(({ method, query }) =>
    Effect.map(Clock.currentTimeMillis, (now): Reply => {
      if (method === "POST") {
        posts++
        if (makes) ids.push(101 + ids.length)
        return lost
      }
      if (Number(query["page_no"] ?? 1) > 1) return invalidPage
      const shown = (order === "ascending" ? ids : ids.toReversed()).slice(0, size)
      const records = shown.map((id) =>
        nodeRecord({ id, name: id > 100 + count ? "web" : `n-${id}`, created_at: new Date(now).toISOString() })
      )
      const reply = ok(records, { date: new Date(now).toUTCString() })
      const stated = totals ? { total_count: shown.length, total_page_number: 1 } : {}
      return { ...reply, body: JSON.stringify({ ...JSON.parse(reply.body!), ...stated }) }
    })
  )
  return { posts: () => posts, service }
}

describe("a create whose reply is lost, and whose list ends with a 404", () => {
  const create = inTime(Effect.result(Nodes.use((nodes) => nodes.create(spec, { key: "job" }))))
  for (const [what, count, size, order] of [
    ["the list is cut", 3, 3, "ascending"],
    ["the list is cut at a likely size", 20, 20, "ascending"],
    ["the newest nodes are cut off", 5, 3, "ascending"]
  ] as const) {
    it.effect(`is not sent again, because nothing proves the end: ${what}`, () => {
      const { posts, service } = cutService(count, size, true, order, false)
      return Effect.gen(function* () {
        for (let call = 0; call < 3; call++) {
          yield* create
          yield* TestClock.adjust("702 seconds")
        }
        assert.strictEqual(posts(), 1)
      }).pipe(Effect.provide(service), Effect.provideService(IntentStore, makeMemory()))
    })
  }

  it.effect("is sent again if both totals prove that the list is whole", () => {
    const { posts, service } = cutService(3, 3, false, "ascending", true)
    return Effect.gen(function* () {
      yield* create
      yield* TestClock.adjust("702 seconds")
      yield* create
      assert.strictEqual(posts(), 2)
    }).pipe(Effect.provide(service), Effect.provideService(IntentStore, makeMemory()))
  })
})
