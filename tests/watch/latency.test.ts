/**
 * How late changes are seen, as it is promised for the size of an account: the widths of `observedBetween` in virtual time,
 * against the mock with an allowance of 1200 requests an hour.
 */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Nodes } from "@berth/core/client/Nodes"
import type { Event } from "@berth/watch/events/Event"
import { create, polling } from "./polling.ts"
import { serviceLayer, Wire } from "./Wire.ts"

const hour = 3_600_000

/** The longest width of each kind of change. */
const widths = (events: ReadonlyArray<Event>) => {
  const max = { created: 0, inTransition: 0, atRest: 0 }
  for (const { data, type } of events) {
    if (!("observedBetween" in data)) continue
    const [from, to] = data.observedBetween.map(({ epochMilliseconds }) => epochMilliseconds) as [number, number]
    const kind =
      type === "berth.node.created"
        ? "created"
        : "from" in data
          ? data.from === "created"
            ? "inTransition"
            : "atRest"
          : undefined
    if (kind !== undefined) max[kind] = Math.max(max[kind], to - from)
  }
  return max
}

it.effect.each([
  { fleet: 90, createdSeconds: 10, inTransitionSeconds: 5, atRestSeconds: 10 },
  { fleet: 2900, createdSeconds: 10, inTransitionSeconds: 60, atRestSeconds: 900 },
  { fleet: 9900, createdSeconds: 15, inTransitionSeconds: 120, atRestSeconds: 1200 }
])(
  "an account of $fleet nodes is seen within what is promised, without a 429",
  ({ createdSeconds, fleet, inTransitionSeconds, atRestSeconds }) =>
    Effect.gen(function* () {
      const { pass, requests } = yield* Wire
      const nodes = yield* Nodes
      const { events } = yield* polling({ intervalMillis: null, fastIntervalMillis: null })
      yield* pass(60_000)
      const [first] = yield* nodes.listPage({ perPage: 9 })
      const before = requests.length
      for (let n = 0; n < 8; n++) {
        yield* create(`new-${n}`)
        yield* pass(331_000)
        if (n === 1) yield* nodes.delete(first!.id)
      }
      yield* pass(hour - 8 * 331_000)
      const { created, inTransition, atRest } = widths(events)
      expect(created).toBeLessThanOrEqual(createdSeconds * 1000)
      expect(inTransition).toBeLessThanOrEqual(inTransitionSeconds * 1000)
      expect(atRest).toBeLessThanOrEqual(atRestSeconds * 1000)
      expect(events.map(({ type }) => type).filter((type) => type.startsWith("berth.watch"))).toEqual([
        "berth.watch.baseline"
      ])
      expect(requests.length - before).toBeLessThanOrEqual(720 + 30)
    }).pipe(
      Effect.provide(
        serviceLayer({
          scenario: { fleet },
          provisioning: "150 seconds",
          termination: "3 hours",
          rateLimit: { limit: 1200, window: hour, algorithm: "fixed-window" }
        })
      )
    ),
  120_000
)
