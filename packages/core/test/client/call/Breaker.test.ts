import { layer, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { admit, initial, type Outcome, record, type State, waitOf } from "../../../src/client/call/Breaker.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"

/** A call that is admitted and ends at once. */
const call = (state: State, outcome: Outcome, now = 0): State => {
  const answer = admit(state, now)
  assert.strictEqual(answer._tag, "Go")
  return answer._tag === "Go" ? record(answer.state, answer.state.era, outcome, now) : state
}
const calls = (outcomes: ReadonlyArray<Outcome>, from = initial, now = 0) =>
  outcomes.reduce((state, outcome) => call(state, outcome, now), from)
const times = (count: number, outcome: Outcome) => Array.from({ length: count }, () => outcome)

/** A breaker that opened at 0, for two seconds. */
const opened = calls(times(10, "fault"))

describe("the breaker", () => {
  it("opens when ten calls have failed", () => {
    assert.strictEqual(calls(times(9, "fault")).phase, "closed")
    assert.deepStrictEqual(admit(opened, 500), { _tag: "Refused", retryAfterMillis: 1500, isFirst: true })
  })

  it("opens by the share of faults among the last twenty calls", () => {
    const mixed = [...times(4, "ok"), ...times(15, "fault")]
    assert.strictEqual(calls(mixed).phase, "closed")
    assert.strictEqual(calls([...mixed, "fault"]).phase, "open")
    assert.strictEqual(calls([...times(20, "ok"), ...times(15, "fault")]).phase, "closed")
    assert.strictEqual(calls([...times(20, "ok"), ...times(16, "fault")]).phase, "open")
  })

  it("does not count calls that show nothing about the service", () => {
    assert.strictEqual(calls([...times(9, "fault"), ...times(100, "nothing")]).phase, "closed")
    assert.strictEqual(calls([...times(9, "fault"), ...times(100, "nothing"), "fault"]).phase, "open")
  })

  it("admits one trial call when its time is over, and no other meanwhile", () => {
    const answer = admit(opened, 2000)
    assert.strictEqual(answer._tag, "Go")
    if (answer._tag === "Go")
      assert.deepStrictEqual(admit(answer.state, 2000), {
        _tag: "Refused",
        retryAfterMillis: null,
        isFirst: true
      })
  })

  it("makes a call wait while it is open for the first time, for ten seconds at most and within the deadline", () => {
    const refused = { _tag: "Refused", retryAfterMillis: 1500, isFirst: true } as const
    assert.strictEqual(waitOf(refused, 0, 60_000, 0), 2000)
    assert.strictEqual(waitOf(refused, 0, 60_000, 0.5), 2250, "those that wait come one by one")
    assert.strictEqual(waitOf({ ...refused, retryAfterMillis: null }, 0, 60_000, 0), 500)
    assert.isUndefined(waitOf(refused, 8001, 60_000, 0))
    assert.isUndefined(waitOf(refused, 0, 2000, 0))
    assert.isUndefined(waitOf({ ...refused, isFirst: false }, 0, 60_000, 0))
    const again = admit(call(opened, "fault", 2000), 2001)
    assert.deepStrictEqual(again, { _tag: "Refused", retryAfterMillis: 3999, isFirst: false })
  })

  it("closes when that call succeeds, and admits another when it shows nothing", () => {
    assert.strictEqual(call(opened, "ok", 2000).phase, "closed")
    assert.strictEqual(call(call(opened, "nothing", 2000), "ok", 2000).phase, "closed")
  })

  it("stays open for twice as long each time, up to a minute", () => {
    let state = opened
    let now = 0
    for (const expected of [4000, 8000, 16_000, 32_000, 60_000, 60_000]) {
      now = state.openUntil
      state = call(state, "fault", now)
      assert.strictEqual(state.openUntil - now, expected)
    }
  })

  it("resets its time once it was closed for as long as it was open", () => {
    const again = (now: number) => calls(times(10, "fault"), call(opened, "ok", 2000), now).openUntil - now
    assert.strictEqual(again(3999), 4000)
    assert.strictEqual(again(4000), 2000)
  })

  it("ignores calls that started before it opened", () => {
    const trying = admit(opened, 2000)
    assert.strictEqual(trying._tag, "Go")
    if (trying._tag === "Go") assert.deepStrictEqual(record(trying.state, initial.era, "ok", 2001), trying.state)
    const recovered = call(opened, "ok", 2000)
    assert.deepStrictEqual(record(recovered, initial.era, "fault", 2001), recovered)
  })

  it("starts over after an hour without a call", () => {
    const nine = calls(times(9, "fault"))
    assert.strictEqual(call(nine, "fault", 3_599_999).phase, "open")
    assert.strictEqual(call(nine, "fault", 3_600_000).phase, "closed")
  })
})

/** One call after the other, each without a second attempt: the tags of their outcomes. */
const tags = (count: number) =>
  Effect.forEach(Array.from({ length: count }), () =>
    Nodes.use((nodes) => nodes.get(NodeId.make(7), { retry: false })).pipe(
      Effect.as("ok"),
      Effect.catch((error) => Effect.succeed(error.reason._tag))
    )
  )

const node = { id: 7, name: "web", created_at: "2026-03-01T10:20:30Z", status: "running" }

/** Makes a client over a service with replies that the test sets, and counts its requests. */
const switched = () => {
  const service = { reply: { status: 500 } as Reply, asked: 0 }
  return { service, client: layer(() => (service.asked++, service.reply)) }
}

describe("a client", () => {
  it.effect("sends nothing for two seconds to a service that failed ten calls, then tries once", () => {
    const { client, service } = switched()
    return Effect.gen(function* () {
      assert.deepStrictEqual(yield* tags(11), [...Array.from({ length: 10 }, () => "ServiceFault"), "CircuitOpen"])
      assert.strictEqual(service.asked, 10)
      service.reply = ok(node)
      assert.deepStrictEqual(yield* tags(1), ["CircuitOpen"])
      yield* TestClock.adjust("2 seconds")
      assert.deepStrictEqual(yield* tags(2), ["ok", "ok"])
    }).pipe(Effect.provide(client))
  })

  it.effect("continues to call a service that refuses", () => {
    const { client, service } = switched()
    service.reply = { status: 404 }
    return Effect.gen(function* () {
      assert.deepStrictEqual(
        yield* tags(30),
        Array.from({ length: 30 }, () => "NodeNotFound")
      )
    }).pipe(Effect.provide(client))
  })

  it.effect("continues to call a service that is slower than its callers' deadlines", () =>
    Effect.gen(function* () {
      const get = Nodes.use((nodes) => nodes.get(NodeId.make(7), { deadline: "1 second" }))
      for (let i = 0; i < 20; i++) {
        const fiber = yield* Effect.forkChild(Effect.flip(get))
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Fiber.join(fiber)).reason._tag, "TimedOut")
      }
    }).pipe(Effect.provide(layer(() => Effect.never)))
  )

  it.effect("whose trial call is interrupted admits the next one", () => {
    const { client, service } = switched()
    return Effect.gen(function* () {
      yield* tags(10)
      yield* TestClock.adjust("2 seconds")
      const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))
      yield* Effect.raceFirst(get, Effect.void)
      service.reply = ok(node)
      assert.deepStrictEqual(yield* tags(1), ["ok"])
    }).pipe(Effect.provide(client))
  })
})
