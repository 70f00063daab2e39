/** A deadline bounds exactly what it is set for: a call, the pages of one pull, a whole list, or several calls together. */
import { createTestClient, layer, nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Stream } from "effect"
import { endingWithin } from "../../../src/client/call/Deadline.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { BerthError } from "../../../src/domain/BerthError.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const id = NodeId.make(1)

/** A list without an end, whose pages take some time each. */
const endless = (afterMillis: number, length = 100) => {
  let page = 0
  return () => {
    const first = length * page++ + 1
    const records = Array.from({ length }, (_, i) => nodeRecord({ id: first + i }))
    return Effect.delay(Effect.succeed(ok(records)), afterMillis)
  }
}

const timed = <R>(call: Effect.Effect<unknown, BerthError, R>) =>
  Effect.gen(function* () {
    const before = yield* Clock.currentTimeMillis
    const { reason } = yield* inTime(Effect.flip(call))
    assert.strictEqual(reason._tag, "TimedOut")
    if (reason._tag !== "TimedOut") return assert.fail()
    return { took: (yield* Clock.currentTimeMillis) - before, limit: reason.limit, after: reason.afterMillis }
  })

describe("a total deadline of a list", () => {
  it.effect("ends it, however many pages come in time", () =>
    Effect.gen(function* () {
      const list = Nodes.use((nodes) => Stream.runCount(nodes.list({ totalDeadline: "3 seconds" })))
      const { after, limit, took } = yield* timed(list)
      assert.deepStrictEqual([limit, after], ["deadline", 3000])
      assert.isAtMost(took, 3500)
    }).pipe(Effect.provide(layer(endless(100))))
  )

  it.effect("counts what the program does between two pulls, which still gets what was read in time", () =>
    Effect.gen(function* () {
      const list = Nodes.use((nodes) =>
        nodes.list({ totalDeadline: "3 seconds" }).pipe(Stream.runForEachArray(() => Effect.sleep("2 seconds")))
      )
      assert.isAtMost((yield* timed(list)).took, 6500)
    }).pipe(Effect.provide(layer(endless(100))))
  )
})

describe("a deadline of a list", () => {
  it.effect("bounds each pull, also one of many requests", () => {
    // The pages have no new node, so one pull reads several pages.
    let page = 0
    const idle = layer(() => Effect.delay(Effect.succeed(ok([null, { page: page++ }])), 400))
    return Effect.gen(function* () {
      const list = Nodes.use((nodes) => Stream.runCount(nodes.list({ deadline: "1 second" })))
      const { after, took } = yield* timed(list)
      assert.strictEqual(after, 1000)
      assert.isAtMost(took, 1250)
    }).pipe(Effect.provide(idle))
  })

  it.effect("does not bound the list as a whole", () =>
    Effect.gen(function* () {
      const list = Nodes.use((nodes) => Stream.runCount(nodes.list({ deadline: "1 second" }).pipe(Stream.take(5000))))
      assert.strictEqual(yield* inTime(list), 5000)
    }).pipe(Effect.provide(layer(endless(200))))
  )
})

describe("calls that have to end together", () => {
  for (const [what, call] of [
    ["a get", Nodes.use((nodes) => nodes.get(id))],
    ["a delete", Nodes.use((nodes) => nodes.delete(id))],
    ["a list", Nodes.use((nodes) => Stream.runCount(nodes.list()))],
    ["calls one after the other", Nodes.use((nodes) => Effect.replicateEffect(Effect.ignore(nodes.get(id)), 9))]
  ] as const) {
    it.effect(`${what} on a service that hangs`, () =>
      Effect.gen(function* () {
        const once = Effect.exit(endingWithin("2 seconds")(call))
        const before = yield* Clock.currentTimeMillis
        yield* inTime(once)
        assert.isAtMost((yield* Clock.currentTimeMillis) - before, 2500)
      }).pipe(Effect.provide(layer(() => Effect.never)))
    )
  }

  it.effect("a wait ends with them, and states how long it waited", () =>
    Effect.gen(function* () {
      const wait = Nodes.use((nodes) => nodes.awaitStatus(id, "running", { timeout: "1 hour" }))
      const { reason } = yield* inTime(Effect.flip(endingWithin("4 seconds")(wait)))
      assert.deepInclude(reason, { _tag: "StatusNotReached", waitedMillis: 4000 })
    }).pipe(Effect.provide(layer(() => ok(nodeRecord({ id: 1, status: "created" })))))
  )

  it.effect("a create ends with them, and states that its outcome is not known", () =>
    Effect.gen(function* () {
      const create = Nodes.use((nodes) => nodes.create({ name: "web", plan: "p", image: "i" }))
      const before = yield* Clock.currentTimeMillis
      const { reason } = yield* inTime(Effect.flip(endingWithin("4 seconds")(create)))
      assert.strictEqual(reason._tag, "OutcomeUnknown")
      assert.isAtMost((yield* Clock.currentTimeMillis) - before, 4250)
    }).pipe(Effect.provide(layer(({ method }) => (method === "POST" ? Effect.never : ok([])))))
  )

  it.effect("an inner limit is no longer than the outer one", () =>
    Effect.gen(function* () {
      const get = Nodes.use((nodes) => nodes.get(id, { retry: false, deadline: "10 seconds" }))
      const { after, took } = yield* timed(endingWithin("2 seconds")(endingWithin("9 seconds")(get)))
      assert.deepStrictEqual([after, Math.round(took / 100)], [2000, 20])
    }).pipe(Effect.provide(layer(() => Effect.never)))
  )
})

describe("the deadline of a promise", () => {
  const rejection = (promise: Promise<unknown>) =>
    promise.then(
      () => assert.fail("it resolved"),
      (error: { readonly _tag: string; readonly limit: string; readonly afterMillis: number }) => error
    )

  it("is that of the whole list for find and toArray", async () => {
    for (const call of ["find", "toArray"] as const) {
      let requests = 0
      const service = endless(5)
      const client = createTestClient(() => {
        requests++
        return service()
      })
      const { nodes } = client
      const promise = call === "find" ? nodes.find("web", { deadline: 300 }) : nodes.list({ deadline: 300 }).toArray()
      assert.deepInclude(await rejection(promise), { _tag: "TimedOut", limit: "deadline", afterMillis: 300 }, call)
      assert.isAtMost(requests, 100)
      await client.close()
    }
  })

  it("is that of each page where pages are taken", async () => {
    const client = createTestClient(endless(5))
    let pages = 0
    for await (const _ of client.nodes.list({ deadline: 60_000 }).pages()) if (++pages === 100) break
    assert.strictEqual(pages, 100)
    await client.close()
  })
})
