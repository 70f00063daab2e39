import { layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Metric } from "effect"
import { TestClock } from "effect/testing"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { BerthError } from "../../../src/domain/BerthError.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { untilNextPoll } from "../../../src/client/waiting/Waiting.ts"
import { inTime } from "../../inTime.ts"

/** Which paths were requested, and when. */
class Requests {
  readonly all: Array<{ readonly path: string; readonly at: number; readonly beginsPoll: boolean }> = []

  /**
   * Checks a wait of a minute: polls begin at once, their pauses grow slowly, and the last one comes soon after the status. Time advances
   * in steps of 250 ms while requests are under way.
   */
  assertCadence(cameAt: number): void {
    const begun = this.all.filter(({ beginsPoll }) => beginsPoll).map(({ at }) => at)
    // The nodes of one poll are requested together.
    const moments = begun.filter((at, i) => i === 0 || at - begun[i - 1]! > 100)
    assert.isAtMost(moments[0]!, 250, "the first poll goes at once")
    const pauses = moments.slice(1).map((at, i) => at - moments[i]!)
    for (const pause of pauses.slice(0, 2)) assert.isAtMost(pause, 2000, "the first pauses are short")
    assert.isTrue(moments.length >= 9 && moments.length <= 15, `a minute has ${moments.length} polls`)
    assert.isAtMost(Math.max(...pauses), 11_000, "no pause is longer than a period and a quarter")
    assert.isAtLeast(Math.max(...pauses), 7000, "pauses grow")
    const last = moments.at(-1)!
    assert.isTrue(last >= cameAt && last <= cameAt + 11_000, `the last poll is soon after ${cameAt}: ${last}`)
  }
}

/** A service with nodes 1 to `count`, which run from the instant `runsAfter` on. */
const service = (count: number, runsAfter: number, requests: Requests) =>
  layer(({ path, query }) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      requests.all.push({ path, at, beginsPoll: (query["page_no"] ?? "1") === "1" })
      const status = at >= runsAfter ? "running" : "created"
      const record = (id: number) => ({ id, name: `node-${id}`, created_at: "2026-03-01T10:20:30Z", status })
      const id = /nodes\/(\d+)\/$/.exec(path)?.[1]
      if (Number(id) > count) return { status: 404 }
      if (id !== undefined) return ok(record(Number(id)))
      const size = Number(query["per_page"])
      const start = (Number(query["page_no"]) - 1) * size
      const ids = Array.from({ length: Math.max(0, Math.min(size, count - start)) }, (_, i) => start + i + 1)
      return ok(ids.map(record))
    })
  )

/** A service that makes node 1, but does not find it before an instant. From `deletedAt` on, the node is gone again. */
const lateToFind = (foundFrom: number, deletedAt = Infinity) =>
  layer(({ method, path }) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      const node = { id: 1, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }
      if (method === "POST") return ok({ ...node, status: "Create" })
      if (method === "DELETE") return { status: 204 }
      if (!path.endsWith("/1/")) return ok([])
      return at < foundFrom || at >= deletedAt ? { status: 404 } : ok(node)
    })
  )

const createAndWait = Nodes.use((nodes) =>
  Effect.flatMap(nodes.create({ name: "web", plan: "P", image: "I" }), ({ node }) =>
    nodes.awaitStatus(node.id, "running")
  )
)

describe("a wait for a node that this client has just created", () => {
  it.effect("continues although the service does not find the node yet", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* inTime(createAndWait)).status, "running")
    }).pipe(Effect.provide(lateToFind(30_000)))
  )

  it.effect("fails a minute after the create", () =>
    Effect.gen(function* () {
      const { reason } = yield* inTime(Effect.flip(createAndWait))
      assert.strictEqual(reason._tag, "NodeNotFound")
      const now = yield* Clock.currentTimeMillis
      assert.isTrue(now >= 60_000 && now < 72_000, String(now))
    }).pipe(Effect.provide(lateToFind(Infinity)))
  )

  it.effect("tells at its timeout that the node was not found", () =>
    Effect.gen(function* () {
      const waited = Nodes.use((nodes) =>
        Effect.flatMap(nodes.create({ name: "web", plan: "P", image: "I" }), ({ node }) =>
          nodes.awaitStatus(node.id, "running", { timeout: "5 seconds" })
        )
      )
      const { message, reason } = yield* inTime(Effect.flip(waited))
      assert.strictEqual(reason._tag, "StatusNotReached")
      assert.include(message, "the last read failed: node 1 does not exist")
    }).pipe(Effect.provide(lateToFind(Infinity)))
  )

  it.effect("ends at once where it is for the end of a node that this client has deleted", () =>
    Effect.gen(function* () {
      const nodes = yield* Nodes
      const { node } = yield* inTime(nodes.create({ name: "web", plan: "P", image: "I" }))
      yield* inTime(nodes.delete(node.id))
      yield* inTime(nodes.awaitDeleted(node.id))
      assert.isBelow(yield* Clock.currentTimeMillis, 5000)
    }).pipe(Effect.provide(lateToFind(0, 0)))
  )

  it.effect("fails at once for a node of another client", () =>
    Effect.gen(function* () {
      const wait = Nodes.use((nodes) => nodes.awaitStatus(NodeId.make(1), "running"))
      assert.strictEqual((yield* inTime(Effect.flip(wait))).reason._tag, "NodeNotFound")
      assert.isBelow(yield* Clock.currentTimeMillis, 2000)
    }).pipe(Effect.provide(lateToFind(30_000)))
  )
})

describe("waits", () => {
  it.effect("500 at once share requests, which grow with the pages of the list and not with the waits", () => {
    const requests = new Requests()
    return Effect.gen(function* () {
      const nodes = yield* inTime(
        Nodes.use((nodes) =>
          Effect.forEach(
            Array.from({ length: 500 }, (_, i) => NodeId.make(i + 1)),
            (id) => nodes.awaitStatus(id, "running"),
            { concurrency: "unbounded" }
          )
        )
      )
      assert.strictEqual(nodes.length, 500)
      // A minute has about ten polls, and a poll of 500 nodes reads six or seven pages.
      requests.assertCadence(60_000)
      assert.isTrue(requests.all.length >= 50 && requests.all.length <= 90, String(requests.all.length))
    }).pipe(Effect.provide(service(500, 60_000, requests)))
  })

  it.effect("for several nodes in one call return them in the order of the ids", () => {
    const requests = new Requests()
    return Effect.gen(function* () {
      const ids = [42, 7, 300].map((id) => NodeId.make(id))
      const nodes = yield* inTime(Nodes.use((nodes) => nodes.awaitStatus(ids, "running")))
      assert.deepStrictEqual(
        nodes.map(({ id }) => id),
        ids
      )
      assert.isTrue(nodes.every(({ status }) => status === "running"))
      requests.assertCadence(60_000)
    }).pipe(Effect.provide(service(500, 60_000, requests)))
  })

  it.effect("for several nodes end with the first one that cannot reach the status", () =>
    Effect.gen(function* () {
      const { reason } = yield* inTime(
        Effect.flip(Nodes.use((nodes) => nodes.awaitStatus([NodeId.make(1), NodeId.make(501)], "running")))
      )
      assert.strictEqual(reason._tag, "NodeNotFound")
    }).pipe(Effect.provide(service(500, 60_000, new Requests())))
  )

  it.effect("end at once where the service says that the node has failed", () =>
    Effect.gen(function* () {
      const { reason } = yield* inTime(
        Effect.flip(Nodes.use((nodes) => nodes.awaitStatus(NodeId.make(1), "running", { timeout: "10 minutes" })))
      )
      assert.isTrue(reason._tag === "StatusNotReached" && reason.impossible)
      assert.isBelow(yield* Clock.currentTimeMillis, 3000)
      assert.strictEqual(
        reason.message,
        "Node 1 is Build_Error, a status that Berth does not know, which cannot become running."
      )
    }).pipe(
      Effect.provide(
        layer(() => Effect.succeed(ok({ id: 1, name: "a", created_at: "2026-03-01T10:20:30Z", status: "Build_Error" })))
      )
    )
  )

  it.effect("of one node share one request at a time", () => {
    const requests = new Requests()
    return Effect.gen(function* () {
      yield* inTime(
        Nodes.use((nodes) =>
          Effect.replicateEffect(nodes.awaitStatus(NodeId.make(7), "running"), 100, { concurrency: "unbounded" })
        )
      )
      requests.assertCadence(60_000)
      assert.isAtMost(requests.all.length, 14)
    }).pipe(Effect.provide(service(500, 60_000, requests)))
  })

  it.effect("poll in the given lane, and report the last status when they time out", () =>
    Effect.gen(function* () {
      const reason = yield* inTime(
        Effect.flip(
          Nodes.use((nodes) => nodes.awaitStatus(NodeId.make(7), "running", { timeout: "20 seconds", lane: "sweep" }))
        )
      )
      assert.strictEqual(reason.reason._tag, "StatusNotReached")
      assert.include(reason.message, "node 7 is created, expected running")
      const waits = (yield* Metric.snapshot).filter(({ id }) => id === "berth_queue_wait_seconds")
      assert.deepStrictEqual(
        waits.map(({ attributes }) => attributes),
        [{ lane: "sweep" }]
      )
    }).pipe(
      Effect.provide(service(500, 60_000, new Requests())),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )

  it.effect("of one node requests that node alone", () => {
    const requests = new Requests()
    return Effect.gen(function* () {
      yield* inTime(Nodes.use((nodes) => nodes.awaitStatus(NodeId.make(7), "running")))
      requests.assertCadence(60_000)
      assert.deepStrictEqual(new Set(requests.all.map(({ path }) => path)), new Set(["/nodes/7/"]))
    }).pipe(Effect.provide(service(500, 60_000, requests)))
  })

  it("poll at common moments, whenever they began", () => {
    for (const phase of [0, 0.3, 0.99]) {
      const moments = [10_001, 12_345, 17_999].map((now) => (now + untilNextPoll(9, now, phase)) % 8000)
      for (const moment of moments) assert.closeTo(moment, (phase * 8000) % 8000, 0.001)
      for (let now = 0; now < 20_000; now += 37) {
        const wait = untilNextPoll(9, now, phase)
        assert.isTrue(wait >= 2000 && wait <= 10_000)
      }
    }
  })

  const record = { id: 7, name: "node-7", created_at: "2026-03-01T10:20:30Z", status: "running" }
  const notReached = (error: BerthError) => {
    assert.strictEqual(error.reason._tag, "StatusNotReached")
    return error.reason._tag === "StatusNotReached" ? error.reason : assert.fail("another reason")
  }
  const awaitSeven = (timeout: `${number} seconds`) =>
    Nodes.use((nodes) => nodes.awaitStatus(NodeId.make(7), "running", { timeout }))

  const spent = (reset: number) => ({
    "ratelimit-limit": "1200",
    "ratelimit-remaining": "0",
    "ratelimit-reset": String(reset)
  })

  it.effect("end at once where the allowance refills after their end, and state when", () =>
    Effect.gen(function* () {
      yield* Nodes.use((nodes) => nodes.get(NodeId.make(7)))
      for (const wait of [
        awaitSeven("1 seconds"),
        Nodes.use((nodes) => nodes.awaitDeleted(NodeId.make(7), { timeout: 1000 }))
      ]) {
        // The wait ends at once, so no time has to pass.
        const reason = notReached(yield* Effect.flip(wait))
        assert.closeTo(reason.refillsInMillis ?? 0, 30_000, 1000)
        assert.deepStrictEqual([reason.waitedMillis, reason.exit, reason.retryable], [0, "rateLimited", true])
      }
    }).pipe(Effect.provide(layer(() => ok(record, spent(30)))))
  )

  it.effect("outlast a refill before their end, whichever other wait ends before it", () => {
    let requests = 0
    return Effect.gen(function* () {
      yield* Nodes.use((nodes) => nodes.get(NodeId.make(7)))
      const [short, long] = yield* inTime(
        Effect.all([Effect.flip(awaitSeven("10 seconds")), awaitSeven("60 seconds")], { concurrency: 2 })
      )
      assert.closeTo(notReached(short).refillsInMillis ?? 0, 30_000, 1000)
      assert.strictEqual(notReached(short).waitedMillis, 0)
      assert.strictEqual(long.status, "running")
      assert.strictEqual(requests, 2)
    }).pipe(Effect.provide(layer(() => (requests++, ok(record, spent(30))))))
  })

  /** 429s that state some seconds, in one header or in two that agree, until a reply succeeds. */
  const refusing = (seconds: number, refusals: number, isAgreed: boolean, counts: { requests: number }) =>
    layer(() => {
      const left = seconds - 120 * counts.requests++
      return counts.requests > refusals
        ? ok(record)
        : { status: 429, headers: { "retry-after": String(left), ...(isAgreed && spent(left)) } }
    })

  it.effect("end with the 429 that shows it, and not with their next poll", () => {
    const counts = { requests: 0 }
    return Effect.gen(function* () {
      const reason = notReached(yield* inTime(Effect.flip(awaitSeven("300 seconds"))))
      assert.closeTo(reason.refillsInMillis ?? 0, 3_600_000, 1000)
      assert.isAtMost(reason.waitedMillis, 250)
      assert.match(reason.failure ?? "none", /^The service refused the call over its rate limit/)
      assert.strictEqual(counts.requests, 1)
    }).pipe(Effect.provide(refusing(3600, 9, true, counts)))
  })

  it.effect(
    "go on where only one statement puts the refill after their end: it is asked for again in two minutes",
    () => {
      const counts = { requests: 0 }
      return Effect.gen(function* () {
        assert.strictEqual((yield* inTime(awaitSeven("300 seconds"))).status, "running")
        assert.strictEqual(counts.requests, 2)
      }).pipe(Effect.provide(refusing(3600, 1, false, counts)))
    }
  )

  it.effect("end where the second statement agrees, and at once where they end before it", () => {
    const counts = { requests: 0 }
    return Effect.gen(function* () {
      const [short, long] = yield* inTime(
        Effect.all([Effect.flip(awaitSeven("60 seconds")), Effect.flip(awaitSeven("300 seconds"))], { concurrency: 2 })
      )
      assert.closeTo(notReached(short).refillsInMillis ?? 0, 120_000, 1000)
      assert.isAtMost(notReached(short).waitedMillis, 250)
      assert.closeTo(notReached(long).refillsInMillis ?? 0, 3_480_000, 3000)
      assert.closeTo(notReached(long).waitedMillis, 120_000, 2000)
      assert.strictEqual(counts.requests, 2)
    }).pipe(Effect.provide(refusing(3600, 9, false, counts)))
  })

  it.effect("that time out while the service is silent report it, with the attempt", () =>
    Effect.gen(function* () {
      const error = yield* inTime(Effect.flip(awaitSeven("1 seconds")))
      assert.match(notReached(error).failure ?? "none", /^The call exceeded its deadline/)
      assert.deepStrictEqual(
        error.attempts.map(({ outcome, status }) => [outcome, status]),
        [["interrupted", null]]
      )
    }).pipe(Effect.provide(layer(() => Effect.never)))
  )

  it.effect("that share a read interrupt it with the last of them, and not before", () => {
    let requests = 0
    let interrupted = 0
    const endless = Effect.andThen(
      Effect.sync(() => requests++),
      Effect.onInterrupt(Effect.never, () => Effect.sync(() => interrupted++))
    )
    return Effect.gen(function* () {
      const waits = yield* Effect.forEach([1, 2], () => Effect.forkChild(awaitSeven("60 seconds")))
      while (requests === 0) yield* Effect.yieldNow
      yield* Fiber.interrupt(waits[0]!)
      assert.deepStrictEqual([requests, interrupted], [1, 0])
      yield* Fiber.interrupt(waits[1]!)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual([requests, interrupted], [1, 1])
    }).pipe(Effect.provide(layer(() => endless)))
  })

  it.effect("that share a read end at their own timeouts, and the read ends with the last of them", () => {
    let requests = 0
    const slow = Effect.andThen(
      Effect.sync(() => requests++),
      Effect.delay(Effect.succeed(ok(record)), "3 seconds")
    )
    return Effect.gen(function* () {
      const [short, long] = yield* inTime(
        Effect.all([Effect.flip(awaitSeven("1 seconds")), awaitSeven("20 seconds")], { concurrency: 2 })
      )
      assert.closeTo(notReached(short).waitedMillis, 1000, 250)
      assert.strictEqual(long.status, "running")
      assert.strictEqual(requests, 1)
    }).pipe(Effect.provide(layer(() => slow)))
  })
})
