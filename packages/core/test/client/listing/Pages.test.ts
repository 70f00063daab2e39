import { layer, ok, type Reply, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Nodes } from "../../../src/client/Nodes.ts"
import { inTime } from "../../inTime.ts"

const pageOf = (total: number, { query }: Request): Reply => {
  const page = Number(query["page_no"])
  const size = Number(query["per_page"])
  const ids = Array.from({ length: total }, (_, i) => i + 1).slice((page - 1) * size, page * size)
  const records = ids.map((id) => ({ id, name: `n${id}`, created_at: "2026-03-01T10:20:30Z", status: "running" }))
  return ok(records)
}

/** A service with 250 nodes that answers the `n`-th request, from 1, with `answer`. */
const service = (
  requests: { count: number },
  answer: (n: number, page: Reply) => Reply | Effect.Effect<Reply> = (_, page) => page
) => layer((request) => answer(++requests.count, pageOf(250, request)))

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
      // Reported with the last page, 199 to 250, and not when that is requested.
      assert.strictEqual(seen.indexOf("250 nodes"), 198)
      seen.length = 0
      const { reason } = yield* inTime(Effect.flip(read))
      assert.strictEqual(reason._tag, "InvalidRequest")
      assert.strictEqual(seen.length, 100)
    }).pipe(Effect.provide(service(requests, answer)))
  })
})
