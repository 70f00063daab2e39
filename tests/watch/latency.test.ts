/**
 * Checks the promised latency for accounts of each size: the widths of `observedBetween` over hours of virtual time, against the mock with
 * an allowance of 1200 requests an hour, for each kind of window. Five nodes are in transition all the time.
 */
import { isSoak } from "@berthkit/testing/chance"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Event } from "@berthkit/watch/events/Event"
import { failure } from "@berthkit/core/testing"
import { firstStatus } from "../account.ts"
import { cheapest, polling } from "./polling.ts"
import { serviceLayer, Wire } from "./Wire.ts"

const hour = 3_600_000

/** The longest width of each kind of change, in seconds, over all hours. */
const widths = (events: ReadonlyArray<Event>) => {
  const max = { created: 0, inTransition: 0, atRest: 0, deleted: 0 }
  const count = { created: 0, inTransition: 0, atRest: 0, deleted: 0 }
  for (const { data, type } of events) {
    if (!("observedBetween" in data)) continue
    const [from, to] = data.observedBetween.map(({ epochMilliseconds }) => epochMilliseconds) as [number, number]
    const kind =
      type === "berth.node.created"
        ? "created"
        : type === "berth.node.deleted"
          ? "deleted"
          : "from" in data
            ? data.from === firstStatus
              ? "inTransition"
              : "atRest"
            : undefined
    if (kind === undefined) continue
    max[kind] = Math.max(max[kind], (to - from) / 1000)
    count[kind]++
  }
  return { max, count }
}

interface Life {
  /** The number of nodes that exist at the beginning. */
  readonly fleet: number
  /** How many nodes are created at a time. */
  readonly created: number
  readonly createEveryMillis: number
}

/** The longest time that a reply takes. */
const stepMillis = isSoak ? 100 : 250

/** One of all nodes is deleted this often. */
const deleteEveryMillis = 400_000

/** Plays one hour of such a life. */
const live = Effect.fnUntraced(function* ({ createEveryMillis, created, fleet }: Life) {
  const { pass } = yield* Wire
  const nodes = yield* Nodes
  const smallest = yield* cheapest
  const happen = Effect.fnUntraced(function* (at: number) {
    for (let n = 0; n < created; n++) yield* nodes.create({ name: `new-${at}-${n}`, ...smallest })
    if (at % deleteEveryMillis >= createEveryMillis) return
    const [node] = yield* nodes.listPage({ page: 1 + (((at / createEveryMillis) * 37) % (fleet - 10)), perPage: 1 })
    if (node?.status === "running") yield* nodes.delete(node.id)
  })
  for (let at = 0; at < hour; at += createEveryMillis) {
    // Do this in a fiber, because the client may have to wait, and only this test lets time pass.
    yield* Effect.forkChild(happen(at))
    yield* pass(createEveryMillis, stepMillis)
  }
})

/**
 * At the start, the daemon reads the list of an account twice in a row. So the promise for 10 000 nodes holds only from an hour later on,
 * once the sweep that is running then is over.
 */
const steady = Effect.fnUntraced(function* (fleet: number) {
  const { pass } = yield* Wire
  const polled = yield* polling({ intervalMillis: null, fastIntervalMillis: null })
  yield* pass(fleet > 3000 ? 1.4 * hour : 60_000)
  return polled
})

const troubles = (events: ReadonlyArray<Event>) =>
  events.map(({ type }) => type).filter((type) => type.startsWith("berth.watch"))

const service = (
  fleet: number,
  algorithm: "fixed-window" | "sliding-window" | "token-bucket",
  termination: "2 minutes" | "20 minutes"
) =>
  serviceLayer({
    scenario: { fleet },
    provisioning: "150 seconds",
    termination,
    rateLimit: { limit: 1200, window: hour, algorithm }
  })

/** The largest accounts take a while to compute. */
const accounts = [
  // The nodes are in transition for two thirds of the hour.
  {
    fleet: 45,
    created: 5,
    createEveryMillis: 450_000,
    seconds: [10, 5, 10],
    algorithm: "fixed-window" as const,
    termination: "2 minutes" as const
  },
  // Together with three terminating nodes, five nodes are always in transition.
  {
    fleet: 2900,
    created: 1,
    createEveryMillis: 75_000,
    seconds: [10, 60, 900],
    algorithm: "sliding-window" as const,
    termination: "20 minutes" as const
  },
  {
    fleet: 9900,
    created: 1,
    createEveryMillis: 75_000,
    seconds: [15, 120, 1200],
    algorithm: "token-bucket" as const,
    termination: "20 minutes" as const
  }
]

it.effect.each(isSoak ? accounts : accounts.slice(0, 2))(
  "an account of $fleet nodes is seen within what is promised, without a 429: $algorithm",
  ({ algorithm, seconds, termination, ...life }) =>
    Effect.gen(function* () {
      const { requests, statuses } = yield* Wire
      const { events, readCatalogue } = yield* steady(life.fleet)
      const changes = yield* readCatalogue
      yield* live(life)
      expect(changes).toEqual([])
      expect(requests.filter((request) => request === "GET /images/").length).toBeGreaterThanOrEqual(2)
      const { count, max } = widths(events)
      expect(Math.min(count.created, count.inTransition)).toBeGreaterThan(30)
      expect(count.atRest).toBeGreaterThan(5)
      expect(max.created).toBeLessThanOrEqual(seconds[0]!)
      expect(max.inTransition).toBeLessThanOrEqual(seconds[1]!)
      expect(max.atRest).toBeLessThanOrEqual(seconds[2]!)
      expect(troubles(events)).toEqual(["berth.watch.baseline"])
      expect(statuses.filter((status) => status === 429)).toEqual([])
    }).pipe(Effect.provide(service(life.fleet, algorithm, termination)))
)

it.effect(
  "an account of one page with nodes in transition all the time is seen within 10 s, and at first within 5 s",
  () =>
    Effect.gen(function* () {
      const { events } = yield* steady(45)
      yield* live({ fleet: 45, created: 1, createEveryMillis: 75_000 })
      const { max } = widths(events)
      expect(Math.max(max.created, max.inTransition, max.atRest)).toBeLessThanOrEqual(10)
      const early = events.filter(({ time }) => time.epochMilliseconds < hour / 2)
      expect(widths(early).max.inTransition).toBeLessThanOrEqual(5)
    }).pipe(Effect.provide(service(45, "sliding-window", "20 minutes")))
)

const sweptFleet = isSoak ? 9900 : 2900

it.effect(
  `an account of ${sweptFleet} nodes is swept again and again while three requests of a hundred fail, from the first one on`,
  () =>
    Effect.gen(function* () {
      const { fail } = yield* Wire
      let pages = 0
      // Whether a request is the daemon's. The test itself requests pages of one node.
      const isPage = (request: string) => request.startsWith("GET /nodes/?") && !request.endsWith("per_page=1")
      yield* fail((request) => isPage(request) && ++pages % 33 === 0, failure(503, "Maintenance."))
      const { events, sweeps } = yield* polling({ intervalMillis: null, fastIntervalMillis: null })
      yield* Effect.andThen(Wire, ({ pass }) => pass(60_000))
      yield* live({ fleet: sweptFleet, created: 1, createEveryMillis: 75_000 })
      const { max } = widths(events)
      expect(sweeps.length).toBeGreaterThanOrEqual(4)
      // In the first hour the daemon is slower by a quarter, and it requests a failed page again.
      expect(max.created).toBeLessThanOrEqual(30)
      expect(max.inTransition).toBeLessThanOrEqual(120)
      expect(troubles(events)).toEqual(["berth.watch.baseline"])
    }).pipe(Effect.provide(service(sweptFleet, "fixed-window", "20 minutes")))
)
