import { describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import { type Reported, reportTroubles } from "../../src/daemon/reportTroubles.ts"
import { Sinks } from "../../src/deliver/Sinks.ts"
import { Stdout } from "../../src/deliver/Stdout.ts"
import { beginning } from "../../src/events/Cursor.ts"
import { Store } from "../../src/store/Store.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { Troubles } from "../../src/troubles/Troubles.ts"
import { memoryStore as store } from "../store/memory.ts"

/** Everything that a process needs apart from its store. */
const process = Troubles.layer(null).pipe(
  Layer.provideMerge(Layer.mergeAll(Sinks.layer([], []), Progress.layer(["acme"]))),
  Layer.provide(Stdout.layer)
)

const unreadable = { count: 2, example: "node 4, whose name is not a string" }
const swept = { endedMillis: 1e15, durationMillis: 1, requests: 1 }

/** Runs a process that has completed a sweep over the test's store for a time; returns its stderr. */
const during = Effect.fnUntraced(function* (
  seconds: number,
  progress: { readonly unreadable: typeof unreadable | null },
  reported: Reported = new Map()
) {
  const before = (yield* TestConsole.errorLines).length
  yield* Effect.gen(function* () {
    yield* (yield* Progress).report("acme", { state: "watching", lastSweep: swept, ...progress })
    const reporting = yield* Effect.forkChild(reportTroubles(reported))
    yield* TestClock.adjust(seconds * 1000)
    yield* Fiber.interrupt(reporting)
  }).pipe(Effect.provide(process))
  return (yield* TestConsole.errorLines).slice(before).map(String)
})

const events = Effect.map(
  Effect.flatMap(Store, ({ after }) => after(beginning, 99)),
  (all) => all.map(({ body }) => JSON.parse(body)).map(({ data, type }) => [type, data.trouble, data.since])
)

const began = ["berth.watch.trouble", "records-unreadable", "1970-01-01T00:00:00.000Z"]
const ended = ["berth.watch.trouble_ended", "records-unreadable", "1970-01-01T00:00:00.000Z"]

const line =
  "berth-watch: records-unreadable (acme): Some records of nodes cannot be read, so nothing is reported about those nodes. There are 2, for example node 4, whose " +
  "name is not a string. Compare the example that berth-watch status shows with the API's documentation; a newer berth-watch may be able to read it."
const over = "berth-watch: records-unreadable (acme) is over; it began at 1970-01-01T00:00:00.000Z."

describe("the report of troubles", () => {
  it.effect("prints one line and one event at the start and at the end of a trouble, however long it lasts", () =>
    Effect.gen(function* () {
      const reported: Reported = new Map()
      expect(yield* during(60, { unreadable }, reported)).toEqual([line])
      expect(yield* events).toEqual([began])
      // After a reload, the daemon may not have met the trouble yet, so it is not over at once.
      expect(yield* during(14, { unreadable: null }, reported)).toEqual([])
      expect(yield* during(20, { unreadable: null }, reported)).toEqual([over])
      expect(yield* events).toEqual([began, ended])
    }).pipe(Effect.provide(store))
  )

  it.effect("has no second event after a restart, and keeps its start time", () =>
    Effect.gen(function* () {
      expect(yield* during(5, { unreadable })).toEqual([line])
      // The next process begins a new log on stderr, so it reports the trouble again.
      expect(yield* during(30, { unreadable })).toEqual([line])
      expect(yield* events).toEqual([began])
      expect(yield* during(30, { unreadable: null })).toEqual([])
      expect(yield* events).toEqual([began, ended])
    }).pipe(Effect.provide(store))
  )

  it.effect("reports a trouble that returns with its old start time", () =>
    Effect.gen(function* () {
      const doubt = { message: "It is that of another account.", sinceMillis: 0, isOther: true }
      const beat = { kind: "refused", reason: "it answered 404", retryAfterMillis: null, _tag: "Failed" } as const
      yield* Effect.gen(function* () {
        const { report } = yield* Progress
        const { noteHeartbeat } = yield* Troubles
        yield* Effect.forkChild(reportTroubles(new Map()))
        const outage = { message: "refused", sinceMillis: 0, isRefusal: true }
        yield* report("acme", { lastSweep: swept, outage, doubt })
        yield* TestClock.adjust("30 seconds")
        yield* report("acme", { outage: null })
        yield* TestClock.adjust("30 seconds")
        yield* report("acme", { outage })
        yield* noteHeartbeat(beat)
        yield* TestClock.adjust("30 seconds")
      }).pipe(Effect.provide(process))
      expect((yield* events).map(([type, trouble]) => [type.slice("berth.watch.".length), trouble])).toEqual([
        ["trouble", "account-refused"],
        ["trouble_ended", "account-refused"],
        ["trouble", "account-refused"],
        ["trouble", "heartbeat-failing"]
      ])
    }).pipe(Effect.provide(store))
  )

  it.effect("says nothing of the troubles of an account that another process has taken over", () =>
    Effect.gen(function* () {
      const reported: Reported = new Map()
      let isOwner = true
      const owned = Effect.updateService(Store, (held) => ({
        ...held,
        epochOf: (account: string) => (account === "acme" && !isOwner ? null : held.epochOf(account))
      }))
      expect(yield* owned(during(30, { unreadable }, reported))).toEqual([line])
      isOwner = false
      expect(yield* owned(during(30, { unreadable }, reported))).toEqual([])
      isOwner = true
      expect(yield* owned(during(30, { unreadable }, reported))).toEqual([line])
      expect(yield* owned(during(30, { unreadable: null }, reported))).toEqual([over])
    }).pipe(Effect.provide(store))
  )

  it.effect("is silent while all is well", () =>
    Effect.gen(function* () {
      expect(yield* during(60, { unreadable: null })).toEqual([])
      expect(yield* events).toEqual([])
    }).pipe(Effect.provide(store))
  )
})
