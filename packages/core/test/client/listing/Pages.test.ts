import { layer, ok, type Reply, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Listed } from "../../../src/client/listing/Listed.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { inTime } from "../../inTime.ts"

const recordsOf = (total: number, { query }: Request) => {
  const page = Number(query["page_no"])
  const size = Number(query["per_page"])
  const ids = Array.from({ length: total }, (_, i) => i + 1).slice((page - 1) * size, page * size)
  return ids.map((id) => ({ id, name: `n${id}`, created_at: "2026-03-01T10:20:30Z", status: "running" }))
}

const pageOf = (total: number, request: Request): Reply => ok(recordsOf(total, request))

/** A service with 250 nodes that answers the `n`-th request, from 1, with `answer`. */
const service = (
  requests: { count: number },
  answer: (n: number, page: Reply) => Reply | Effect.Effect<Reply> = (_, page) => page
) => layer((request) => answer(++requests.count, pageOf(250, request)))

describe("records without an id", () => {
  /** A node that can be read, and three records that are alike and have neither an id nor a name. */
  const data = [{ id: 1, name: "n1", status: "running" }, {}, {}, {}]

  for (const [what, isFollowed] of [
    ["", true],
    [" where paging is ignored", false]
  ] as const) {
    it.effect(`are counted once each, also if they are alike${what}`, () =>
      Effect.gen(function* () {
        const nodes = yield* Nodes
        let end: Listed | undefined
        const onEnd = (listed: Listed) => Effect.sync(() => void (end = listed))
        assert.lengthOf(yield* Stream.runCollect(nodes.list({ onEnd })), 1)
        assert.lengthOf(end!.unreadable, 3)
      }).pipe(Effect.provide(layer(({ query }) => ok(isFollowed && Number(query["page_no"] ?? 1) > 1 ? [] : data))))
    )
  }
})

describe("a list that states how many nodes it has", () => {
  const stating = (shown: number, totalAt: (n: number) => unknown) => {
    const requests = { count: 0 }
    return layer((request) => {
      const data = recordsOf(shown, request)
      return { status: 200, body: JSON.stringify({ code: 200, data, total_count: totalAt(++requests.count) }) }
    })
  }
  const read = Nodes.use((nodes) => Stream.runCollect(nodes.list()))

  for (const [shown, exact] of [
    [1, true],
    [1, false],
    [250, true],
    [250, false]
  ] as const) {
    it.effect(
      `and shows ${shown} of ${shown + 2} is not whole${exact ? "" : ", also inexact"}: nothing is absent from it`,
      () =>
        Effect.gen(function* () {
          const nodes = yield* Nodes
          let end: Listed | undefined
          const onEnd = (listed: Listed) => Effect.sync(() => void (end = listed))
          assert.lengthOf(yield* Stream.runCollect(nodes.list({ exact, onEnd })), shown)
          assert.deepInclude(end, { complete: false, readToEnd: false, total: shown + 2 })
          const named = yield* Effect.flip(nodes.named("another"))
          assert.include(String(named), `expected ${shown + 2} nodes (total_count) at data`)
        }).pipe(Effect.provide(stating(shown, () => shown + 2)))
    )
  }

  /** The result of a list of `length` nodes if the service returns its pages in this way and states the totals of `totalAt`. */
  const endOf = (
    length: number,
    pageAt: (ids: ReadonlyArray<number>, page: number, size: number) => ReadonlyArray<number>,
    totalAt: (n: number) => number
  ) => {
    let [requests, end]: [number, Listed | undefined] = [0, undefined]
    const ids = Array.from({ length }, (_, i) => i + 1)
    const onEnd = (listed: Listed) => Effect.sync(() => void (end = listed))
    return Nodes.use((nodes) => Stream.runDrain(nodes.list({ onEnd }))).pipe(
      Effect.map(() => end),
      Effect.provide(
        layer(({ query }) => {
          const data = pageAt(ids, Number(query["page_no"] ?? 1), Number(query["per_page"])).map((id) => ({
            id,
            name: `n${id}`,
            status: "Running"
          }))
          const total_page_number = Math.ceil(length / Math.max(1, data.length))
          return {
            status: 200,
            body: JSON.stringify({ code: 200, data, total_count: totalAt(++requests), total_page_number })
          }
        })
      )
    )
  }
  const newestFirst = (ids: ReadonlyArray<number>, page: number, size: number) =>
    ids.toReversed().slice((page - 1) * size, page * size)

  it.effect("and shows all of them, beside each page, is whole in any order", () =>
    Effect.gen(function* () {
      assert.deepInclude(yield* endOf(131, newestFirst, () => 131), { nodes: 131, complete: true })
      assert.deepInclude(
        yield* endOf(
          130,
          (ids) => ids,
          () => 130
        ),
        { nodes: 130, complete: true }
      )
    })
  )

  it.effect("and another number beside another page is not whole out of order: a node may have moved", () =>
    Effect.gen(function* () {
      const moved = yield* endOf(131, newestFirst, (n) => (n === 1 ? 132 : 131))
      const steady = yield* endOf(131, newestFirst, () => 131)
      assert.deepInclude(moved, { nodes: 131, complete: false, requests: steady!.requests })
    })
  )

  it.effect("and shows nothing fails: it is no list of an empty account", () =>
    Effect.gen(function* () {
      assert.include(String(yield* Effect.flip(read)), "expected 2 nodes (total_count) at data")
    }).pipe(Effect.provide(stating(0, () => 2)))
  )

  it.effect("counts as its last page does: nodes may be deleted while it is read", () =>
    Effect.map(read, (nodes) => assert.lengthOf(nodes, 250)).pipe(
      Effect.provide(stating(250, (n) => (n === 1 ? 260 : 250)))
    )
  )

  for (const total of [100, 0, -1, "many", null]) {
    it.effect(`is whole beside a count of ${total}, which may be that of a page`, () =>
      Effect.map(read, (nodes) => assert.lengthOf(nodes, 250)).pipe(Effect.provide(stating(250, () => total)))
    )
  }
})

describe("a service that gives shorter pages than it gave before", () => {
  for (const exact of [true, false]) {
    it.effect(`has all its nodes in the next list${exact ? "" : ", also inexact"}`, () => {
      let [total, longest] = [150, 100]
      return Effect.gen(function* () {
        const nodes = yield* Nodes
        const read = Effect.map(Stream.runCollect(nodes.list({ exact })), (list) => list.length)
        assert.strictEqual(yield* read, 150)
        ;[total, longest] = [45, 45]
        assert.strictEqual(yield* read, 45)
        longest = 20
        assert.strictEqual(yield* read, 45)
      }).pipe(
        Effect.provide(
          layer((request) => {
            const size = String(Math.min(longest, Number(request.query["per_page"])))
            return pageOf(total, { ...request, query: { ...request.query, per_page: size } })
          })
        )
      )
    })
  }
})

describe("the pages of a list", () => {
  it.effect("are requested one ahead: the next while the consumer works on this one, and no other", () => {
    const requests = { count: 0 }
    const atNode: Record<number, number> = {}
    return Effect.gen(function* () {
      const nodes = yield* Nodes
      yield* inTime(
        Stream.runForEach(nodes.list(), ({ id }) =>
          Effect.andThen(
            Effect.sleep("1 second"),
            Effect.sync(() => (atNode[id] = requests.count))
          )
        )
      )
      assert.strictEqual(atNode[1], 2)
      assert.strictEqual(atNode[100], 2)
      assert.strictEqual(atNode[101], 3)
      assert.strictEqual(atNode[250], 3)
    }).pipe(Effect.provide(service(requests)))
  })

  it.effect("are not requested before the first pull, nor after a consumer that stops in the first page", () => {
    const requests = { count: 0 }
    return Effect.gen(function* () {
      const list = (yield* Nodes).list()
      yield* Effect.scoped(Effect.asVoid(Stream.toPull(list)))
      assert.strictEqual(requests.count, 0)
      yield* Stream.runDrain(Stream.take(list, 50))
      assert.strictEqual(requests.count, 1)
    }).pipe(Effect.provide(service(requests)))
  })

  it.effect("are interrupted when the consumer stops", () => {
    const requests = { count: 0 }
    let interrupted = 0
    const answer = (request: number, page: Reply) =>
      request === 1 ? page : Effect.onInterrupt(Effect.never, () => Effect.sync(() => void interrupted++))
    return Effect.gen(function* () {
      const nodes = yield* Nodes
      const few = Stream.runForEach(Stream.take(nodes.list(), 3), () => Effect.sleep("1 second"))
      yield* inTime(few.pipe(Effect.andThen(Effect.sync(() => assert.strictEqual(interrupted, 1)))))
      assert.deepStrictEqual([requests.count, interrupted], [2, 1])
    }).pipe(Effect.provide(service(requests, answer)))
  })

  it.effect("fail after the nodes before them, and report the end with the last of them", () => {
    const requests = { count: 0 }
    const seen: Array<number | string> = []
    const answer = (request: number, page: Reply) => (request === 5 ? { status: 400 } : page)
    return Effect.gen(function* () {
      const nodes = yield* Nodes
      const read = Stream.runForEach(
        nodes.list({ onEnd: ({ nodes }) => Effect.sync(() => void seen.push(`${nodes} nodes`)) }),
        ({ id }) =>
          Effect.andThen(
            Effect.sleep("1 second"),
            Effect.sync(() => void seen.push(id))
          )
      )
      yield* inTime(read)
      // The total is reported once the last page (199 to 250) has arrived, not when it is requested.
      assert.strictEqual(seen.indexOf("250 nodes"), 198)
      seen.length = 0
      const { reason } = yield* inTime(Effect.flip(read))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.strictEqual(seen.length, 100)
    }).pipe(Effect.provide(service(requests, answer)))
  })
})
