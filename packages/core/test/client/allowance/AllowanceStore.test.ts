/**
 * How a client reads any content of the store.
 */
import { layer, ok, scripted } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import {
  AllowanceStore,
  believable,
  onClockAhead,
  type SharedAllowance
} from "../../../src/client/allowance/AllowanceStore.ts"
import * as Estimator from "../../../src/client/allowance/Estimator.ts"
import { initial } from "../../../src/client/allowance/EstimatorState.ts"
import { takeOver } from "../../../src/client/allowance/OwnProcesses.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"

const now = 5_000_000_000
const day = 86_400_000
const ownProcesses = { count: 0, before: 0 }
const alone = { ownProcesses }

/** Any value, valid ones among them. */
const value = fc.oneof(
  fc.constantFrom(0, 1, -1, 1e308, -1e308, 0.5, 1e15, null, "", "7", true, {}, []),
  fc.integer({ min: now - 3 * day, max: now + 3 * day }),
  fc.integer({ min: now - 10_000, max: now + 10_000 }),
  fc.integer({ min: now, max: now + 2 * day }),
  fc.integer({ min: 0, max: 2000 })
)
const garbage = fc.record(
  {
    version: fc.constant(1),
    writtenAt: fc.oneof(fc.constant(now - 100), value),
    pausedUntil: value,
    pauseAgreed: value,
    clock: fc.oneof(value, fc.record({ minAheadMillis: value, maxAheadMillis: value })),
    report: fc.oneof(
      value,
      fc.record(
        {
          limit: fc.oneof(fc.integer({ min: 0, max: 1200 }), value),
          remaining: fc.oneof(fc.integer({ min: 0, max: 2 }), value),
          resetSeconds: value,
          resetBy: value,
          resetAround: value,
          agreed: value,
          sentAt: fc.oneof(fc.constant(now - 200), value),
          receivedAt: fc.oneof(fc.constant(now - 100), value)
        },
        { requiredKeys: ["limit", "remaining", "sentAt", "receivedAt"] }
      )
    )
  },
  { requiredKeys: ["version", "writtenAt"] }
)

const near = (a: unknown, b: number) => typeof a === "number" && Math.abs(a - b) <= 3000

describe("any content of the store", () => {
  it("delays a client by two minutes at most, unless two instants in it agree, and never by more than a day", () => {
    fc.assert(
      fc.property(garbage, (found) => {
        const shared = believable(onClockAhead(found as unknown as SharedAllowance, 0), now, 0)
        const state = takeOver(initial, { ...shared, ...alone }, now)
        for (const reserve of [0, 0.02]) {
          let instant = now
          let verdicts = 0
          let turnOf = Estimator.admit(state, instant, reserve)
          while (turnOf._tag !== "Now") {
            assert.isBelow(++verdicts, 10, "verdicts of a call")
            if (turnOf._tag !== "At") return assert.fail("waits for a reply without a request")
            assert.isAbove(turnOf.instant, instant)
            instant = turnOf.instant
            turnOf = Estimator.admit(state, instant, reserve)
          }
          assert.isAtMost(instant - now, day + 4000)
          const { pauseAgreed, pausedUntil, report } = state
          const agree = near(pauseAgreed, pausedUntil) || near(report?.agreed, report?.resetAround ?? 0)
          if (!agree) assert.isAtMost(instant - now, 124_000)
        }
      }),
      { numRuns: 4000 }
    )
  })

  it("is believed when it is sound", () => {
    const report = {
      limit: 100,
      remaining: 3,
      resetSeconds: 7,
      resetBy: now + 61_000,
      resetAround: now + 60_000,
      sentAt: now - 20,
      receivedAt: now
    }
    const sound = {
      version: 1,
      writtenAt: now,
      pausedUntil: 0,
      clock: { minAheadMillis: -5, maxAheadMillis: 5 },
      report
    } as const
    assert.deepInclude(believable(sound, now, 0), { report, clock: sound.clock })
    const viewOf = (over: object) =>
      believable({ ...sound, report: { ...report, ...over } } as unknown as SharedAllowance, now, 0)?.report
    for (const over of [
      { limit: 0 },
      { limit: -1 },
      { limit: 1e308 },
      { limit: "100" },
      { remaining: -1 },
      { remaining: 101 },
      { remaining: Number.NaN },
      { remaining: "3" },
      { resetSeconds: Number.POSITIVE_INFINITY },
      { resetBy: now + 365 * day },
      { resetAround: now - 2 * day },
      { sentAt: now + 1 },
      { receivedAt: now + 5000 }
    ]) {
      assert.isUndefined(viewOf(over), JSON.stringify(over))
    }
    for (const clock of [
      { minAheadMillis: 5, maxAheadMillis: -5 },
      { minAheadMillis: 0, maxAheadMillis: 3_600_000 },
      { minAheadMillis: 3 * day, maxAheadMillis: 3 * day }
    ]) {
      assert.isUndefined(believable({ ...sound, clock }, now, 0)?.clock)
    }
    for (const writtenAt of [now + 365 * day, now + 5000, now - 2 * day]) {
      assert.isUndefined(believable({ ...sound, writtenAt }, now, 0))
    }
  })
})

/** A client whose store has this content, on the test's clock. */
const finding = (found: (now: number) => object) => {
  const store = Effect.map(Clock.Clock, (clock): AllowanceStore => ({
    name: "redis",
    now: Effect.sync(() => clock.currentTimeMillisUnsafe()),
    read: Effect.sync(() => Option.some(found(clock.currentTimeMillisUnsafe()) as SharedAllowance)),
    write: () => Effect.succeed(true),
    meet: () => Effect.succeed(ownProcesses),
    leave: Effect.void
  }))
  const headers = { "ratelimit-limit": "100", "ratelimit-remaining": "50", "ratelimit-reset": "60" }
  const service = scripted(() => ok({ id: 7, name: "web", created_at: "2026-03-01T10:20:30Z" }, headers))
  return { client: Layer.provide(layer(service), Layer.succeed(AllowanceStore, store)), requests: service.requests }
}

describe("a client whose store has garbage", () => {
  const report = (now: number) => ({
    limit: 100,
    remaining: 0,
    resetSeconds: 7,
    resetBy: now + 3_600_000,
    resetAround: now + 3_600_000,
    sentAt: now,
    receivedAt: now
  })
  const all: Record<string, (now: number) => object> = {
    "a limit of 0": (now) => ({ report: { ...report(now), limit: 0 } }),
    "a reset in an hour from a single statement": (now) => ({ report: report(now) }),
    "a reset in a year": (now) => ({
      report: { ...report(now), resetBy: now + 365 * day, resetAround: now + 365 * day }
    }),
    "a pause of an hour that moves on": (now) => ({ pausedUntil: now + 3_600_000 }),
    "a pause for ever": () => ({ pausedUntil: 1e308 }),
    "a clock inside out": () => ({ clock: { minAheadMillis: 1e9, maxAheadMillis: -1e9 } }),
    "numbers that are texts": () => ({ report: { limit: "100", remaining: "0" }, pausedUntil: "9e15" })
  }
  for (const [what, found] of Object.entries(all)) {
    it.effect(`${what}: a call is answered within two minutes, by one request`, () => {
      const written = { at: 0 }
      const { client, requests } = finding((now) => {
        written.at ||= now
        return {
          version: 1,
          writtenAt: written.at,
          pausedUntil: 0,
          ...found(what.includes("moves") ? now : written.at)
        }
      })
      return Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        const call = yield* Effect.forkChild(
          Nodes.use((nodes) => nodes.get(NodeId.make(7), { deadline: "10 minutes" }))
        )
        for (let second = 0; second < 122; second++) yield* TestClock.adjust("1 second")
        assert.isDefined(call.pollUnsafe())
        yield* Fiber.join(call)
        assert.lengthOf(requests, 1)
      }).pipe(Effect.provide(client))
    })
  }
})
