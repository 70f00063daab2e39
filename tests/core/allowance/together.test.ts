/**
 * Processes of one machine that start within a second of each other, before any of them knows what is left: the real client against the
 * mock service, in virtual time. They share a store in memory that is as slow as a file on a busy machine.
 */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Option, Random, Scope } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { TestServer } from "@berthkit/server/testing"
import * as Berth from "@berthkit/core/client/Berth"
import { AllowanceStore, type SharedAllowance } from "@berthkit/core/client/allowance/AllowanceStore"
import { Nodes } from "@berthkit/core/client/Nodes"
import { inDialect, optionsOf } from "../../account.ts"

interface Beginning {
  readonly algorithm: "fixed-window" | "sliding-window" | "token-bucket"
  readonly limit: number
  readonly windowMillis: number
  /** When each process begins, in milliseconds. */
  readonly begin: ReadonlyArray<number>
  /** How many calls of each process run at the same time. */
  readonly callers: number
  /** The longest time that a request or a reply takes on its way, and that a step of the store takes. */
  readonly wayMillis: number
  readonly storeMillis: number
  readonly seed: number
}

const upTo = (millis: number) => Effect.flatMap(Random.nextIntBetween(1, millis + 1), Effect.sleep)

/** Makes a store in memory. Each call returns its interface for one more process. */
const makeStore = (storeMillis: number) => {
  let kept: Option.Option<SharedAllowance> = Option.none()
  const seen = new Map<number, number>()
  const step = upTo(storeMillis)
  const now = Clock.currentTimeMillis
  return (me: number): AllowanceStore => ({
    name: "memory",
    now,
    read: Effect.tap(
      Effect.sync(() => kept),
      step
    ),
    write: (shared) => Effect.map(step, () => ((kept = Option.some(shared)), true)),
    meet: (withinMillis) =>
      Effect.gen(function* () {
        yield* step
        const instant = yield* now
        seen.set(me, instant)
        const others = Array.from(seen).filter(([other, at]) => other !== me && instant - at < withinMillis)
        return { count: others.length, before: others.filter(([other]) => other < me).length }
      }),
    leave: Effect.sync(() => void seen.delete(me))
  })
}

/** How many requests are granted and refused while the processes send as many as they may. */
const run = ({ algorithm, begin, callers, limit, seed, storeMillis, wayMillis, windowMillis }: Beginning) =>
  Effect.gen(function* () {
    const account = yield* TestServer
    const carry = yield* HttpClient.HttpClient
    const way = upTo(wayMillis)
    const wire = HttpClient.make((request) => way.pipe(Effect.andThen(carry.execute(request)), Effect.tap(way)))
    const storeOf = makeStore(storeMillis)
    const ask = Nodes.use((nodes) => nodes.listPage({ perPage: 1, deadline: "1 day" }))
    const processes = yield* Scope.make()
    yield* Effect.forEach(begin, (millis, me) =>
      Effect.gen(function* () {
        yield* Effect.sleep(millis)
        const store = Layer.succeed(AllowanceStore, Effect.succeed(storeOf(me)))
        const berth = yield* Layer.build(Layer.fresh(Layer.provide(Berth.layer(optionsOf(account)), store)))
        for (let i = 0; i < callers; i++) {
          yield* Effect.forkScoped(Effect.forever(Effect.ignore(Effect.provide(ask, berth))))
        }
      }).pipe(Effect.provideService(HttpClient.HttpClient, wire), Effect.forkIn(processes), Scope.provide(processes))
    )
    yield* TestClock.adjust(1000 + windowMillis / 4)
    const journal = yield* account.journal
    const refused = journal.filter(({ status }) => status === 429).length
    // Closing the processes takes time in the store, too.
    const ended = yield* Effect.forkChild(Scope.close(processes, Exit.void))
    yield* TestClock.adjust("1 second")
    yield* Fiber.join(ended)
    return { granted: journal.length - refused, refused }
  }).pipe(
    Effect.provide(
      TestServer.layerHttpClient(inDialect({ clock: "real", rateLimit: { algorithm, limit, window: windowMillis } })),
      { local: true }
    ),
    (running) => Effect.andThen(TestClock.setTime(1_790_000_000_000), running),
    Effect.provide(TestClock.layer(), { local: true }),
    Random.withSeed(seed),
    Effect.runPromise
  )

const beginnings = fc.record({
  limit: fc.integer({ min: 100, max: 300 }),
  windowMillis: fc.integer({ min: 20_000, max: 120_000 }),
  begin: fc.array(fc.integer({ min: 0, max: 1000 }), { minLength: 2, maxLength: 8 }),
  callers: fc.integer({ min: 1, max: 3 }),
  wayMillis: fc.integer({ min: 1, max: 10 }),
  storeMillis: fc.integer({ min: 1, max: 20 }),
  seed: fc.integer()
})

describe("processes that begin together", () => {
  for (const algorithm of ["fixed-window", "sliding-window", "token-bucket"] as const) {
    it(`use a ${algorithm} up, and get a 429 in at most one of a hundred beginnings`, async () => {
      const all = fc.sample(beginnings, { numRuns: 40 })
      const refused: Array<unknown> = []
      for (const beginning of all) {
        const outcome = await run({ ...beginning, algorithm })
        if (outcome.refused > 0) refused.push({ ...beginning, ...outcome })
        assert.isAtLeast(outcome.granted, 0.9 * beginning.limit)
      }
      // A process that starts in the milliseconds in which another one uses the last requests may get a 429. With the seeds of `pnpm test`
      // this never happens.
      assert.isAtMost(refused.length, all.length / 100, JSON.stringify(refused))
    })
  }
})
