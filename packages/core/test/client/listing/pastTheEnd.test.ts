/** A service that answers a page after the end of the list with 404, as web frameworks do, and lists that say that one page is all. */
import { failure, layer, nodeRecord, ok, type Reply, scripted } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"

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
