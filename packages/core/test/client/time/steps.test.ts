/**
 * The effects of a step of the wall clock: no wait changes by more than a second; a wait for a reset is checked at once.
 */
import { type HttpReply, layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Nodes } from "../../../src/client/Nodes.ts"
import type { CallOptions } from "../../../src/client/call/Operation.ts"
import type { ClientOptions } from "../../../src/client/options/Settings.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { steppingClock, steps } from "../../steppingClock.ts"

const id = NodeId.make(7)
const node = (status = "running") => ok({ id: 7, name: "web", created_at: "2026-03-01T10:20:30Z", status })

/** A client whose wall clock can be stepped, unlike the service's. */
const world = Effect.fnUntraced(function* (
  answer: (requests: number, elapsedMillis: number) => Effect.Effect<HttpReply>,
  options?: Partial<ClientOptions>
) {
  yield* TestClock.setTime(1_790_000_000_000)
  const right = yield* Clock.Clock
  const startedAt = right.currentTimeMillisUnsafe()
  const { clock, step } = yield* steppingClock
  /** When each request was sent, in milliseconds since the beginning. */
  const sentAt: Array<number> = []
  const client = layer(() => {
    const elapsed = right.currentTimeMillisUnsafe() - startedAt
    sentAt.push(elapsed)
    return Effect.map(answer(sentAt.length, elapsed), (reply) => ({
      ...reply,
      headers: { date: new Date(right.currentTimeMillisUnsafe()).toUTCString(), ...reply.headers }
    }))
  }, options)
  const services = yield* Effect.provideService(Layer.build(Layer.fresh(client)), Clock.Clock, clock)
  const run = <A, E>(effect: Effect.Effect<A, E, Nodes>) =>
    effect.pipe(Effect.provideContext(services), Effect.provideService(Clock.Clock, clock))
  const get = (options?: CallOptions) => run(Nodes.use((nodes) => nodes.get(id, options)))
  const elapsed = Effect.sync(() => right.currentTimeMillisUnsafe() - startedAt)
  return { run, get, step, sentAt, elapsed }
})

/** Lets time pass in small steps, so that the effects of each timer begin before the next timer ends. */
const pass = (seconds: number) =>
  Effect.forEach(Array.from({ length: seconds * 10 }), () => TestClock.adjust("100 millis"), { discard: true })

const reply = (headers: Record<string, string | number> = {}, status = 200): Effect.Effect<HttpReply> =>
  Effect.succeed({
    ...node(),
    status,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  })

const inSeconds = (seconds: number) => 1_790_000_000 + seconds

for (const [name, millis] of steps) {
  describe(`a wall clock that steps by ${name}`, () => {
    it.effect("does not change how long the breaker is open", () =>
      Effect.gen(function* () {
        const { get, run, sentAt, step } = yield* world(() => Effect.succeed({ status: 500 }), { maxAttempts: 1 })
        for (let i = 0; i < 10; i++) yield* Effect.flip(get())
        yield* pass(1)
        yield* step(millis)
        const { reason } = yield* Effect.flip(get())
        assert.deepInclude(reason, { _tag: "CircuitOpen", retryAfterMillis: 1000 })
        yield* pass(1)
        assert.strictEqual((yield* Effect.flip(get())).reason._tag, "ServiceFault")
        assert.lengthOf(sentAt, 11)
        yield* run(Effect.void)
      })
    )

    it.effect("does not change a pause that the service asked for", () =>
      Effect.gen(function* () {
        const { get, sentAt, step } = yield* world((count) =>
          count === 1 ? reply({ "retry-after": 60 }, 429) : reply()
        )
        yield* Effect.flip(get({ retry: false }))
        const waiting = yield* Effect.forkChild(get({ deadline: "2 minutes" }))
        yield* pass(1)
        yield* step(millis)
        const { reason } = yield* Effect.flip(get({ deadline: "30 seconds" }))
        assert.deepInclude(reason, { _tag: "WouldExceedDeadline", predictedMillis: 59_000, leftMillis: 30_000 })
        yield* pass(60)
        yield* Fiber.join(waiting)
        assert.lengthOf(sentAt, 2)
        assert.closeTo(sentAt[1]!, 60_000, 1000)
      })
    )

    it.effect("sends one of the calls that wait for a reset at once, and the others wait for its reply", () =>
      Effect.gen(function* () {
        const spent = { "ratelimit-limit": 100, "ratelimit-remaining": 0, "ratelimit-reset": inSeconds(90) }
        const full = { "ratelimit-limit": 100, "ratelimit-remaining": 99, "ratelimit-reset": inSeconds(3600) }
        const { get, sentAt, step } = yield* world((count) =>
          count === 1 ? reply(spent) : Effect.delay(reply(full), "1 second")
        )
        yield* get()
        const waiting = yield* Effect.forkChild(
          Effect.all(
            [1, 2, 3, 4, 5].map(() => get({ deadline: "10 minutes" })),
            { concurrency: "unbounded" }
          )
        )
        yield* pass(10)
        assert.lengthOf(sentAt, 1)
        yield* step(millis)
        yield* pass(5.5)
        assert.lengthOf(sentAt, 2, "one asks")
        yield* pass(4)
        yield* Fiber.join(waiting)
        assert.lengthOf(sentAt, 6)
        assert.isAtLeast(sentAt[2]! - sentAt[1]!, 1000, "the others go by its reply")
      })
    )

    it.effect("sends the next call at once, whatever is known of the reset; its reply is believed again", () =>
      Effect.gen(function* () {
        const spent = { "ratelimit-limit": 100, "ratelimit-remaining": 0, "ratelimit-reset": inSeconds(90) }
        const { get, sentAt, step } = yield* world(() => reply(spent))
        const soon = { deadline: "10 seconds" } as const
        yield* get()
        assert.strictEqual((yield* Effect.flip(get(soon))).reason._tag, "WouldExceedDeadline")
        yield* step(millis)
        yield* get(soon)
        const { reason } = yield* Effect.flip(get(soon))
        assert.strictEqual(reason._tag, "WouldExceedDeadline")
        if (reason._tag === "WouldExceedDeadline") assert.closeTo(reason.predictedMillis, 91_000, 1500)
        assert.lengthOf(sentAt, 2)
      })
    )

    it.effect("sends no second purchase if the first gets no reply", () =>
      Effect.gen(function* () {
        const spent = { "ratelimit-limit": 100, "ratelimit-remaining": 0, "ratelimit-reset": inSeconds(90) }
        const { get, sentAt, step } = yield* world((count) => (count === 1 ? reply(spent) : Effect.never), {
          maxAttempts: 1,
          attemptTimeout: "2 seconds"
        })
        yield* get()
        const waiting = yield* Effect.forkChild(
          Effect.all(
            [1, 2, 3].map(() => Effect.exit(get({ deadline: "5 minutes" }))),
            { concurrency: "unbounded" }
          )
        )
        yield* step(millis)
        yield* pass(60)
        assert.lengthOf(sentAt, 2)
        yield* Fiber.interrupt(waiting)
      })
    )

    it.effect("does not change the deadlines of calls in the queue, on the wire and in backoff", () =>
      Effect.gen(function* () {
        const { elapsed, get, sentAt, step } = yield* world(() => Effect.never, { attemptTimeout: "1 hour" })
        const calls = yield* Effect.forEach([20, 30, 40], (seconds) =>
          Effect.forkChild(Effect.andThen(Effect.flip(get({ deadline: `${seconds} seconds` })), elapsed))
        )
        yield* pass(5)
        yield* step(millis)
        yield* pass(40)
        const ended = yield* Effect.forEach(calls, Fiber.join)
        for (const [i, at] of ended.entries()) assert.closeTo(at, [20_000, 30_000, 40_000][i]!, 1000)
        assert.strictEqual(sentAt[0], 0)
      })
    )

    it.effect("does not change the backoff between attempts, nor their times in the ledger", () =>
      Effect.gen(function* () {
        const { get, sentAt, step } = yield* world((count) =>
          count === 1 ? reply({ "retry-after": 30 }, 503) : Effect.succeed({ status: 404 })
        )
        const call = yield* Effect.forkChild(Effect.flip(get()))
        yield* pass(1)
        yield* step(millis)
        yield* pass(30)
        const { attempts } = yield* Fiber.join(call)
        assert.deepStrictEqual(sentAt, [0, 30_000])
        assert.deepStrictEqual(
          attempts.map(({ backoffMillis, durationMillis, startedAtMillis }) => [
            startedAtMillis,
            backoffMillis,
            durationMillis
          ]),
          [
            [0, 0, 0],
            [30_000, 30_000, 0]
          ]
        )
      })
    )

    it.effect("does not change a wait for a status: when it polls, and when it ends", () =>
      Effect.gen(function* () {
        const { elapsed, run, step } = yield* world((_, at) =>
          Effect.succeed(node(at >= 60_000 ? "running" : "created"))
        )
        const awaiting = (timeout: `${number} seconds`) =>
          Effect.forkChild(
            Effect.andThen(
              Effect.exit(run(Nodes.use((nodes) => nodes.awaitStatus(id, "running", { timeout })))),
              elapsed
            )
          )
        const short = yield* awaiting("20 seconds")
        const long = yield* awaiting("120 seconds")
        yield* pass(5)
        yield* step(millis)
        yield* pass(70)
        assert.closeTo(yield* Fiber.join(short), 20_000, 1000)
        const reached = yield* Fiber.join(long)
        assert.isTrue(reached >= 60_000 && reached <= 69_000, String(reached))
      })
    )
  })
}

it.effect("a slewed clock, as by NTP, does not count as a step", () =>
  Effect.gen(function* () {
    const spent = { "ratelimit-limit": 100, "ratelimit-remaining": 0, "ratelimit-reset": inSeconds(90) }
    const { get, sentAt, step } = yield* world(() => reply(spent))
    yield* get()
    const waiting = yield* Effect.forkChild(get({ deadline: "10 minutes" }))
    for (let second = 0; second < 60; second++) {
      yield* step(100)
      yield* pass(1)
    }
    assert.lengthOf(sentAt, 1)
    yield* Fiber.interrupt(waiting)
  })
)
