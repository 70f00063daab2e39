import { layer, nodeRecord, ok, type Script } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Logger, Option } from "effect"
import { TestClock } from "effect/testing"
import { Allowance } from "../../../src/client/Allowance.ts"
import {
  AllowanceStore,
  AllowanceStoreFailed,
  type SharedAllowance
} from "../../../src/client/allowance/AllowanceStore.ts"
import * as Admission from "../../../src/client/allowance/Admission.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const get = Nodes.use((nodes) => nodes.get(NodeId.make(7), { retry: false }))

/** A store for several machines, on a clock of its own. */
const makeStore = (clock: Clock.Clock) => {
  let kept: Option.Option<SharedAllowance> = Option.none()
  const seen = new Map<object, number>()
  const now = Effect.sync(() => clock.currentTimeMillisUnsafe())
  return Effect.sync((): AllowanceStore => {
    const me = {}
    return {
      name: "redis",
      now,
      read: Effect.sync(() => kept),
      write: (shared) => Effect.sync(() => ((kept = Option.some(shared)), true)),
      meet: (withinMillis) =>
        Effect.map(now, (instant) => {
          seen.set(me, instant)
          const there = Array.from(seen).filter(([, at]) => instant - at < withinMillis)
          return { count: there.length - 1, before: there.findIndex(([who]) => who === me) }
        }),
      leave: Effect.sync(() => void seen.delete(me))
    }
  })
}

/** A clock that is ahead of another by some milliseconds. */
const ahead = (clock: Clock.Clock, millis: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + millis,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + millis),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(millis) * 1_000_000n,
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(millis) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

/** A reply that leaves this many of 100. */
const leaving = (remaining: number) =>
  ok(nodeRecord({ id: 7 }), {
    "ratelimit-limit": "100",
    "ratelimit-remaining": String(remaining),
    "ratelimit-reset": "1790003600"
  })

const refusing = { status: 429, headers: { "retry-after": "60" } }

describe("clients on several machines that share a store", () => {
  it.effect("pause together when one of them is refused, for any skew of their clocks", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_790_000_000_000)
      const clock = yield* Clock.Clock
      const store = Layer.succeed(AllowanceStore, makeStore(clock))
      const client = Layer.provide(
        layer(() => refusing),
        store
      )
      const machine = Effect.fnUntraced(function* (millis: number) {
        const theirs = ahead(clock, millis)
        const services = yield* Effect.provideService(Layer.build(Layer.fresh(client)), Clock.Clock, theirs)
        return <A, E>(effect: Effect.Effect<A, E, Nodes | Allowance>) =>
          effect.pipe(Effect.provideContext(services), Effect.provideService(Clock.Clock, theirs))
      })
      const fast = yield* machine(180_000)
      // If neither has sent a request yet, the second one lets the first one begin.
      const opening = yield* Effect.forkScoped(machine(-180_000))
      yield* TestClock.adjust("2 seconds")
      const slow = yield* Fiber.join(opening)

      yield* fast(Effect.flip(get))
      yield* TestClock.adjust("1 second")
      const { pausedMillis } = yield* slow(Allowance.use(({ current }) => current))
      assert.strictEqual(pausedMillis, 59_000)
      const error = yield* slow(Effect.flip(Nodes.use((nodes) => nodes.get(NodeId.make(7), { deadline: "5 seconds" }))))
      assert.strictEqual(error.reason._tag, "WouldExceedDeadline")
    }).pipe(Effect.scoped)
  )
})

describe("a client without requests", () => {
  const granting = ok(nodeRecord({ id: 7 }), { "ratelimit-limit": "100", "ratelimit-remaining": "90" })
  /** Opens clients on one store, and counts how often they read it. */
  const sharing = Effect.gen(function* () {
    const make = makeStore(yield* Clock.Clock)
    let asked = 0
    const counting = Effect.map(make, (store): AllowanceStore => ({
      ...store,
      meet: (millis) => Effect.tap(store.meet(millis), () => Effect.sync(() => void asked++))
    }))
    const open = (script: Script) =>
      Layer.build(Layer.fresh(Layer.provide(layer(script), Layer.succeed(AllowanceStore, counting))))
    return { asked: () => asked, open }
  })

  it.effect("leaves the store alone, until it has one again", () =>
    Effect.gen(function* () {
      const { asked, open } = yield* sharing
      const again = Effect.provide(get, yield* open(() => granting))
      yield* again
      yield* TestClock.adjust("10 seconds")
      const before = asked()
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(asked(), before)
      yield* again
      assert.strictEqual(asked(), before + 1)
      yield* TestClock.adjust("2 seconds")
      assert.isAbove(asked(), before + 3)
    }).pipe(Effect.scoped)
  )

  it.effect("knows before its next one what the others have learned meanwhile", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_790_000_000_000)
      const { open } = yield* sharing
      const second = yield* open(() => granting)
      yield* Effect.provide(get, second)
      yield* TestClock.adjust("10 minutes")
      const first = yield* open(() => refusing)
      yield* Effect.provide(Effect.flip(get), first)
      yield* TestClock.adjust("1 second")
      const within = Nodes.use((nodes) => nodes.get(NodeId.make(7), { deadline: "5 seconds" }))
      const error = yield* Effect.provide(Effect.flip(within), second)
      assert.strictEqual(error.reason._tag, "WouldExceedDeadline")
    }).pipe(Effect.scoped)
  )
})

describe("a client with news for the other clients", () => {
  it.effect("does so at once for its first reply, and whenever half of what they know is gone", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_790_000_000_000)
      const make = makeStore(yield* Clock.Clock)
      const client = layer([90, 80, 46, 45, 44, 22, 21].map(leaving))
      const services = yield* Layer.build(Layer.provide(client, Layer.succeed(AllowanceStore, make)))
      const shared = yield* make
      const seen: Array<number | undefined> = []
      for (let i = 0; i < 7; i++) {
        yield* Effect.provide(get, services)
        yield* TestClock.adjust("1 millis")
        seen.push(Option.getOrUndefined(yield* shared.read)?.report?.remaining)
      }
      assert.deepStrictEqual(seen, [90, 90, 90, 90, 44, 44, 21])
    }).pipe(Effect.scoped)
  )
})

describe("clients that begin while nobody knows what is left", () => {
  it.effect("wait for the reply to one of them, and go by it", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_790_000_000_000)
      const make = makeStore(yield* Clock.Clock)
      const store = Layer.succeed(AllowanceStore, make)
      const open = (script: Script) => Layer.build(Layer.fresh(Layer.provide(layer(script), store)))
      const first = yield* open([leaving(90)])
      const second = yield* Effect.forkScoped(open([]))
      yield* TestClock.adjust("100 millis")
      assert.isUndefined(second.pollUnsafe())
      yield* Effect.provide(get, first)
      yield* TestClock.adjust("50 millis")
      const known = yield* Effect.provide(
        Allowance.use(({ current }) => current),
        yield* Fiber.join(second)
      )
      assert.strictEqual(known.remaining, 90)
    }).pipe(Effect.scoped)
  )
})

describe("a store that is slow to answer", () => {
  it.effect("is used as soon as it answers, and does not delay the client by more than half a second", () =>
    Effect.gen(function* () {
      const begun: Array<number> = []
      const slow: AllowanceStore = {
        name: "redis",
        now: monotonicMillis,
        read: Effect.succeedNone,
        write: () => Effect.succeed(true),
        meet: () =>
          Effect.gen(function* () {
            begun.push(yield* monotonicMillis)
            yield* Effect.sleep("2 seconds")
            return { count: 7, before: 3 }
          }),
        leave: Effect.void
      }
      const startedAt = yield* monotonicMillis
      const building = yield* Effect.forkScoped(Admission.make(slow))
      yield* TestClock.adjust("499 millis")
      assert.isUndefined(building.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      const { state } = yield* Fiber.join(building)
      assert.strictEqual(state().ownProcesses.count, 0)
      yield* TestClock.adjust("1500 millis")
      assert.deepStrictEqual(state().ownProcesses, { count: 7, before: 3 })
      assert.deepStrictEqual(begun, [startedAt])
    }).pipe(Effect.scoped)
  )
})

describe("a store that cannot be used", () => {
  it.effect("is reported once, and the client continues without it", () => {
    const warnings: Array<unknown> = []
    const logger = Logger.make(({ message }) => void warnings.push(message))
    const fails = Effect.fail(new AllowanceStoreFailed({ detail: "no answer" }))
    const broken: AllowanceStore = {
      name: "redis",
      now: Clock.currentTimeMillis,
      read: fails,
      write: () => fails,
      meet: () => fails,
      leave: Effect.void
    }
    return Effect.gen(function* () {
      yield* Effect.flip(get)
      yield* TestClock.adjust("1 minute")
      yield* Effect.flip(get)
      assert.deepStrictEqual(warnings, [
        ["Cannot share the allowance through redis (no answer): this client relies only on its own replies."]
      ])
    }).pipe(
      Effect.provide(
        Layer.provide(
          layer(() => ({ status: 404 })),
          [Layer.succeed(AllowanceStore, Effect.succeed(broken)), Logger.layer([logger])]
        )
      )
    )
  })

  it.effect("is not asked at every reply", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_790_000_000_000)
      let asked = 0
      const fails = Effect.suspend(() => {
        asked++
        return Effect.fail(new AllowanceStoreFailed({ detail: "no answer", isReported: true }))
      })
      const broken: AllowanceStore = {
        name: "redis",
        now: monotonicMillis,
        read: fails,
        write: () => fails,
        meet: () => fails,
        leave: Effect.void
      }
      const client = layer([90, 89, 88, 87, 86, 85, 84, 83].map(leaving))
      const services = yield* Layer.build(Layer.provide(client, Layer.succeed(AllowanceStore, Effect.succeed(broken))))
      for (let i = 0; i < 8; i++) {
        yield* Effect.provide(get, services)
        yield* TestClock.adjust("10 millis")
      }
      // It read the store when it began, and for its first reply.
      assert.strictEqual(asked, 2)
    }).pipe(Effect.scoped)
  )
})
