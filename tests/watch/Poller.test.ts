import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Redacted, Stream } from "effect"
import { Allowance } from "@berthkit/core/client/Allowance"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import { failure, ok } from "@berthkit/core/testing"
import { TestServer } from "@berthkit/server/testing"
import { makeMoments } from "@berthkit/watch/observe/Moments"
import { budgetOf, hourly } from "@berthkit/watch/observe/RequestShare"
import { firstStatus, isToday } from "../account.ts"
import { create, polling } from "./polling.ts"
import { serviceLayer, Wire } from "./Wire.ts"

const hour = 3_600_000
const isList = (request: string) => request.startsWith("GET /nodes/?")
const isPoll = (request: string) => /^GET \/nodes\/\d+\/$/.test(request)
const unavailable = failure(503, "Maintenance.")

describe("a quiet account", () => {
  it.effect("is planned for a few times with each reply", () =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      const moments = yield* makeMoments
      let planned = 0
      const now = Effect.tap(moments.now, () => Effect.sync(() => planned++))
      yield* polling({ moments: { ...moments, now } })
      yield* pass(60_000)
      const [before, sent] = [planned, requests.length]
      yield* pass(hour)
      expect(requests.length - sent).toBeGreaterThan(100)
      // The poller also wakes every 5 s, to see whether the process was suspended.
      expect((planned - before - 2 * 720) / (requests.length - sent)).toBeLessThan(20)
    }).pipe(Effect.provide(serviceLayer()))
  )
})

describe("the life of a node", () => {
  it.effect("is reported from its creation to its end", () =>
    Effect.gen(function* () {
      const { pass } = yield* Wire
      const { published } = yield* polling()
      yield* pass(1000)
      const id = yield* create("short")
      yield* pass(60_000)
      yield* (yield* Nodes).delete(id)
      yield* pass(120_000)
      expect(published()).toEqual([
        "baseline of 0",
        `created as ${firstStatus}`,
        `${firstStatus} to running`,
        "running to terminate",
        "deleted as terminate"
      ])
    }).pipe(Effect.provide(serviceLayer({ provisioning: "45 seconds", termination: "40 seconds" })))
  )

  it.effect("is seen within a second or so of each change once the node is in transition", () =>
    Effect.gen(function* () {
      const { pass } = yield* Wire
      const { events } = yield* polling()
      yield* pass(29_000)
      yield* create("quick")
      yield* pass(10_000)
      expect(events.map(({ type }) => type)).toEqual([
        "berth.watch.baseline",
        "berth.node.created",
        "berth.node.status_changed"
      ])
      const changed = events[2]!
      expect(changed.time.epochMilliseconds).toBeLessThanOrEqual(29_000 + 4000 + 1100)
    }).pipe(Effect.provide(serviceLayer({ provisioning: "4 seconds" })))
  )

  it.effect("is seen by a sweep before its time when many nodes are in transition", () =>
    Effect.gen(function* () {
      const { pass } = yield* Wire
      for (const name of ["one", "two", "three", "four"]) yield* create(name)
      const { published } = yield* polling({ intervalMillis: 600_000 })
      yield* pass(60_000)
      expect(published()).toEqual(["baseline of 4", ...Array.from({ length: 4 }, () => `${firstStatus} to running`)])
    }).pipe(Effect.provide(serviceLayer({ provisioning: "30 seconds" })))
  )

  it.effect("ends in a deletion also when it was not seen terminating, after the grace", () =>
    Effect.gen(function* () {
      const { pass } = yield* Wire
      const id = yield* create("last")
      yield* pass(10_000)
      const { published } = yield* polling()
      yield* pass(5000)
      yield* (yield* Nodes).delete(id)
      yield* pass(80_000)
      expect(published()).toEqual(["baseline of 1"])
      yield* pass(70_000)
      expect(published()).toEqual(["baseline of 1", "deleted as running"])
    }).pipe(Effect.provide(serviceLayer({ termination: "1 second" })))
  )
})

describe("a service that fails", () => {
  it.effect("is reported once when it begins and once when it ends, and no change meanwhile is lost", () =>
    Effect.gen(function* () {
      const { fail, heal, pass } = yield* Wire
      const { published } = yield* polling()
      yield* pass(1000)
      const id = yield* create("unseen")
      yield* fail(isList, unavailable)
      yield* pass(300_000)
      expect(published()).toEqual(["baseline of 5", "degraded: sweep-failed"])
      yield* heal
      yield* pass(180_000)
      expect(published().slice(2)).toEqual(["created as running", "recovered: sweep-failed, reachable"])
      expect(id).toBeGreaterThan(0)
    }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
  )

  it.effect.each([
    { what: "cannot be reached", fault: "cut" as const },
    // The client's circuit breaker does not count such replies, so the pauses are the poller's own.
    { what: "sends replies that cannot be read", fault: { status: 200, body: '"Maintenance"' } }
  ])("and $what gets requests again and again, with longer and longer pauses", ({ fault }) =>
    Effect.gen(function* () {
      const { fail, pass, requests } = yield* Wire
      yield* polling()
      yield* fail(isList, fault)
      const requestsWithin = (millis: number) =>
        Effect.gen(function* () {
          const before = requests.length
          yield* pass(millis)
          return requests.length - before
        })
      // The requests come at once, and then after pauses that double: from between half a second and a second, up to between half a minute
      // and a minute.
      expect(yield* requestsWithin(30_000)).toBeGreaterThanOrEqual(5)
      yield* pass(120_000)
      const late = yield* requestsWithin(300_000)
      expect(late).toBeGreaterThanOrEqual(4)
      expect(late).toBeLessThanOrEqual(11)
    }).pipe(Effect.provide(serviceLayer()))
  )

  it.effect(
    "only when one node is read gets no more than a read of it a minute, and is asked for its lists as before",
    () =>
      Effect.gen(function* () {
        const { fail, pass, requests } = yield* Wire
        yield* create("pending")
        yield* polling()
        yield* fail(isPoll, { status: 200, body: '"Maintenance"' })
        yield* pass(300_000)
        const polls = requests.filter(isPoll).length
        expect(polls).toBeGreaterThanOrEqual(1)
        expect(polls).toBeLessThanOrEqual(6)
        expect(requests.filter(isList).length).toBeGreaterThan(30)
      }).pipe(Effect.provide(serviceLayer({ provisioning: "2 hours", scenario: { fleet: 250 } })))
  )

  it.effect("only at reads of one node gets that read less and less often, and everything else as before", () =>
    Effect.gen(function* () {
      const { fail, pass, requests } = yield* Wire
      yield* create("pending")
      const { published } = yield* polling()
      yield* fail(isPoll, unavailable)
      yield* pass(600_000)
      const polls = requests.filter(isPoll).length
      expect(polls).toBeGreaterThanOrEqual(2)
      expect(polls).toBeLessThanOrEqual(12)
      expect(requests.filter(isList).length).toBeGreaterThan(60)
      expect(published()).toEqual(["baseline of 251"])
    }).pipe(Effect.provide(serviceLayer({ provisioning: "2 hours", scenario: { fleet: 250 } })))
  )

  it.effect("by asking for a long pause is reported when the list was not read for a minute", () =>
    Effect.gen(function* () {
      const { fail, pass } = yield* Wire
      const { events, published } = yield* polling()
      yield* pass(1000)
      yield* fail(isList, { ...unavailable, status: 429, headers: { "retry-after": "300" } })
      yield* pass(120_000)
      expect(published()).toEqual(["baseline of 5", "degraded: sweep-failed"])
      // The last complete sweep ended in the first second.
      expect(events[1]!.time.epochMilliseconds).toBeLessThanOrEqual(67_000)
    }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
  )

  it.effect("gets no request during the pause that it asks for, and one soon afterwards", () =>
    Effect.gen(function* () {
      const { fail, pass, requests } = yield* Wire
      yield* polling()
      yield* pass(1000)
      yield* fail(isList, { ...unavailable, status: 429, headers: { "retry-after": "300" } })
      yield* pass(30_000)
      const before = requests.length
      yield* pass(298_000)
      expect(requests.length - before).toBe(0)
      yield* pass(10_000)
      expect(requests.length - before).toBeGreaterThan(0)
    }).pipe(Effect.provide(serviceLayer()))
  )

  it.effect("in the middle of the list applies what came and deletes nothing", () =>
    Effect.gen(function* () {
      const { fail, heal, pass } = yield* Wire
      const { published } = yield* polling()
      yield* pass(10_000)
      yield* fail((request) => request.startsWith("GET /nodes/?page_no=2"), unavailable)
      yield* pass(120_000)
      yield* heal
      yield* pass(180_000)
      expect(published()).toEqual(["baseline of 250", "degraded: sweep-failed", "recovered: sweep-failed, reachable"])
    }).pipe(Effect.provide(serviceLayer({ scenario: { fleet: 250 } })))
  )

  it.effect("by listing nothing while every node answers gets no node reported deleted", () =>
    Effect.gen(function* () {
      const { fail, heal, pass } = yield* Wire
      const { published } = yield* polling()
      yield* pass(1000)
      yield* fail(isList, ok([]))
      yield* pass(hour, 500)
      expect(published()).toEqual(["baseline of 5", "degraded: list-empty"])
      yield* heal
      yield* pass(180_000)
      expect(published().slice(2)).toEqual(["recovered: list-empty, plausible"])
    }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
  )

  it.effect("by answering 404 for a node it lists gets no node reported deleted", () =>
    Effect.gen(function* () {
      const { fail, pass } = yield* Wire
      const { published } = yield* polling()
      yield* pass(1000)
      yield* create("stuck")
      yield* fail(isPoll, failure(404, "Not found."))
      yield* pass(300_000)
      expect(published()).toEqual(["baseline of 0", `created as ${firstStatus}`])
    }).pipe(Effect.provide(serviceLayer({ provisioning: "1 hour" })))
  )
})

describe("a thousand nodes that are deleted at once", () => {
  it.effect.each([
    { what: "and were seen terminating", termination: "10 minutes" as const },
    { what: "and were never seen terminating", termination: "1 second" as const }
  ])("$what take two reads each, and are all reported", ({ termination }) =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      const nodes = yield* Nodes
      const budget = Effect.succeed(hourly(12_000))
      const { published } = yield* polling({ intervalMillis: null, fastIntervalMillis: null, budget })
      yield* pass(60_000)
      const ids = yield* nodes.list().pipe(
        Stream.map(({ id }) => id),
        Stream.take(1000),
        Stream.runCollect
      )
      yield* Effect.forEach(ids, (id) => nodes.delete(id), { concurrency: 50, discard: true })
      const deleted = () => published().filter((event) => event.startsWith("deleted"))
      for (let minutes = 0; minutes < 60 && deleted().length < 1000; minutes++) yield* pass(60_000, 1000)
      expect(deleted()).toHaveLength(1000)
      expect(requests.filter(isPoll).length).toBeLessThanOrEqual(2100)
    }).pipe(
      Effect.provide(
        serviceLayer({
          scenario: { fleet: 1100 },
          termination,
          rateLimit: { limit: 100_000, window: hour, algorithm: "fixed-window" }
        })
      )
    )
  )
})

describe("credentials that the service refuses", () => {
  const refused = Layer.unwrap(
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const credentials = { apiKey: Redacted.make("wrong"), accessToken: Redacted.make("wrong") }
      return Berth.layer({ baseUrl, credentials })
    })
  ).pipe(Layer.provideMerge(serviceLayer()))

  it.effect("end the polling before it has begun", () =>
    Effect.gen(function* () {
      const { ended, events } = yield* polling()
      yield* (yield* Wire).pass(100)
      const exit = yield* ended
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toMatchObject({ reason: { _tag: "Unauthorized" } })
      expect(events).toEqual([])
    }).pipe(Effect.provide(refused))
  )

  it.effect("are an outage like any other once the nodes were seen", () =>
    Effect.gen(function* () {
      const { fail, heal, pass } = yield* Wire
      const { published } = yield* polling()
      yield* pass(1000)
      yield* fail(isList, failure(401, "No."))
      yield* pass(120_000)
      yield* heal
      yield* pass(180_000)
      expect(published()).toEqual(["baseline of 5", "degraded: sweep-failed", "recovered: sweep-failed, reachable"])
    }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
  )
})

describe("the allowance", () => {
  it.effect("is spent to at most 60 % in any hour, however many nodes there are to poll", () =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      for (const name of Array.from({ length: 30 }, (_, index) => `node-${index}`)) yield* create(name)
      const before = requests.length
      yield* polling({ intervalMillis: 1000, fastIntervalMillis: 500 })
      yield* pass(hour, 500)
      expect(requests.length - before).toBeGreaterThan(400)
      expect(requests.length - before).toBeLessThanOrEqual(720)
    }).pipe(Effect.provide(serviceLayer({ provisioning: "2 hours" })))
  )

  it.effect("is spent mostly on nothing but sweeps while nothing changes", () =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      yield* polling()
      yield* pass(hour, 500)
      expect(requests.filter(isPoll)).toEqual([])
      // One request for each of 122 sweeps, and a second one for the first sweep and every tenth. In today's dialect, each page states that
      // it is the only one.
      expect(requests.filter(isList).length).toBe(isToday ? 122 : 135)
    }).pipe(Effect.provide(serviceLayer({ scenario: "small" })))
  )

  it.effect("is spent on no more than the regular sweeps again once many nodes in transition have come to rest", () =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      yield* polling()
      yield* pass(1000)
      for (const name of ["one", "two", "three", "four"]) yield* create(name)
      yield* pass(120_000)
      const before = requests.length
      yield* pass(600_000)
      // One request for each of 20 sweeps, and a second one for every tenth, unless the page states that it is the only one.
      expect(requests.length - before).toBe(isToday ? 20 : 22)
    }).pipe(Effect.provide(serviceLayer({ provisioning: "45 seconds" })))
  )

  it.effect("is left to people when it runs short", () =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      yield* polling({ intervalMillis: 1000, budget: Effect.succeed(hourly(3600)) })
      yield* pass(180_000)
      const before = requests.length
      yield* pass(60_000)
      // The client does not trust a single statement about a long wait, so it sends a request now and then.
      expect(requests.length - before).toBeLessThanOrEqual(1)
      // A command at a terminal still gets an answer.
      yield* (yield* Nodes).listPage()
    }).pipe(
      Effect.provide(
        serviceLayer({ rateLimit: { limit: 100, window: hour, algorithm: "fixed-window" }, scenario: "small" })
      )
    )
  )
})

describe("the share of the rate limit", () => {
  const following = Effect.gen(function* () {
    const { pass, requests } = yield* Wire
    const { current } = yield* Allowance
    yield* polling({ intervalMillis: 200, budget: Effect.map(current, (known) => budgetOf(0.6, known)) })
    return Effect.fnUntraced(function* (millis: number) {
      const before = requests.length
      yield* pass(millis)
      return requests.length - before
    })
  })

  it.effect("is used up where the service grants much", () =>
    Effect.gen(function* () {
      const within = yield* following
      yield* within(10_000)
      expect(yield* within(60_000)).toBeGreaterThan(250)
    }).pipe(
      Effect.provide(
        serviceLayer({ rateLimit: { limit: 100_000, window: hour, algorithm: "fixed-window" }, scenario: "small" })
      )
    )
  )

  it.effect("is no more where the service grants little", () =>
    Effect.gen(function* () {
      const within = yield* following
      expect(yield* within(hour)).toBeLessThanOrEqual(181)
    }).pipe(
      Effect.provide(
        serviceLayer({ rateLimit: { limit: 300, window: hour, algorithm: "fixed-window" }, scenario: "small" })
      )
    )
  )

  it.effect("is that of a minute once the service has shown that its window is one", () =>
    Effect.gen(function* () {
      const within = yield* following
      yield* within(5 * 60_000)
      const sent = yield* within(10 * 60_000)
      expect(sent).toBeLessThanOrEqual(660)
      expect(sent).toBeGreaterThan(400)
    }).pipe(
      Effect.provide(
        serviceLayer({ rateLimit: { limit: 100, window: 60_000, algorithm: "fixed-window" }, scenario: "small" })
      )
    )
  )
})

describe("readiness", () => {
  it.effect("comes with the first complete sweep, not before", () =>
    Effect.gen(function* () {
      const { fail, heal, pass } = yield* Wire
      yield* fail(isList, unavailable)
      const { isReady } = yield* polling()
      yield* pass(10_000)
      expect(yield* isReady).toBe(false)
      yield* heal
      yield* pass(60_000)
      expect(yield* isReady).toBe(true)
    }).pipe(Effect.provide(serviceLayer()))
  )
})
