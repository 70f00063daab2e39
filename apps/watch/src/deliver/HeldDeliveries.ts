/**
 * What silences hold of one sink: it waits in the store alone, and is no part of what the sink has left to deliver, until `release` finds
 * that they are over. Which delivery that is about is decided by `Silences.ts`.
 */
import { Clock, Effect, Metric } from "effect"
import type { StoredEvent } from "../store/accounts.ts"
import type { Delivery, DeliveryKey } from "../store/deliveries.ts"
import type { Silence, SilencedEvent } from "../store/silences.ts"
import type { SilencedIntake } from "../store/sinks.ts"
import { Store } from "../store/Store.ts"
import { type Courier, whileItMayPass } from "./Courier.ts"
import { covers, fateOf, HeldNodes, nextEnd, withSilences } from "./Silences.ts"

/** Held deliveries that are settled at once: each is a statement of its own. */
const maxSettledAtOnce = 100

/** The end of a silence is noticed so late at most, where the clock was set or the machine slept meanwhile. */
const maxSilenceWaitMillis = 10_000

const outcomes = { hand: "delivered", hold: "held", drop: "dropped" } as const

const droppedCount = Metric.counter("berth_silence_dropped_events_total", {
  description: "Events that silences gave up since the process began, by sink.",
  incremental: true
})

export const makeHeldDeliveries = Effect.fnUntraced(function* (sink: string, courier: Pick<Courier, "take">) {
  const store = yield* Store
  const replayedMillis = yield* whileItMayPass(store.replayedAt(sink))
  const heldNodes = new HeldNodes()
  /** How far a pass over what silences hold has got; null where none is under way. */
  let pass: { readonly after: DeliveryKey | null } | null = null
  /** When the next silence ends; null where there is none. */
  let nextEndMillis: number | null = null

  const countDropped = (count: number) =>
    count === 0 ? Effect.void : Metric.update(Metric.withAttributes(droppedCount, { sink }), count)

  /** Sorts what was read by what silences do to it. They are read later than the events: one that is not among them covers none. */
  const sortOut = Effect.fnUntraced(function* (
    read: ReadonlyArray<{ readonly delivery: Delivery; readonly event: StoredEvent }>
  ) {
    const silences = yield* store.silences
    const now = yield* Clock.currentTimeMillis
    const deliveries: Array<Delivery> = []
    const held: Array<Delivery> = []
    const events: Array<SilencedEvent> = []
    let givenUp = 0
    for (const { delivery, event } of read) {
      const covering = silences.filter((silence) => covers(silence, sink, event))
      const fate = heldNodes.fateOfNew(delivery, fateOf(covering, now, replayedMillis))
      const { account, id, node, seq } = delivery
      const outcome = outcomes[fate]
      for (const { id: silence } of covering) events.push({ silence, account, seq, node, id, outcome })
      const body = delivery.body ?? event.body
      if (fate === "hold") held.push({ ...delivery, body })
      else if (fate === "drop") givenUp++
      else deliveries.push(covering.length === 0 ? delivery : { ...delivery, body: withSilences(body, covering) })
    }
    const silenced: SilencedIntake = { held, events }
    return { deliveries, silenced, givenUp }
  })

  /** Hands over or gives up some of what no silence holds any more; gives whether there may be more, which comes before newer events. */
  const release = Effect.gen(function* () {
    const silences = yield* store.silences
    const now = yield* Clock.currentTimeMillis
    nextEndMillis = nextEnd(silences, now)
    if (pass === null) {
      if (!heldNodes.beginPass(silences, now)) return false
      pass = { after: null }
    }
    const byId = new Map(silences.map((silence) => [silence.id, silence]))
    const waiting = yield* store.heldDeliveries(sink, maxSettledAtOnce, pass.after)
    const free: Array<{ readonly delivery: Delivery; readonly covering: ReadonlyArray<Silence> }> = []
    const dropped: Array<DeliveryKey> = []
    for (const { silences: ids, ...delivery } of waiting) {
      if (store.epochOf(delivery.account) === null) continue
      const covering = ids.map((id) => byId.get(id)).filter((silence) => silence !== undefined)
      const fate = heldNodes.fateOfHeld(delivery, fateOf(covering, now, replayedMillis))
      if (fate === "hand") free.push({ delivery, covering })
      else if (fate === "drop") dropped.push(delivery)
    }
    const bodies = yield* store.bodiesOf(
      sink,
      free.map(({ delivery }) => delivery)
    )
    const handed = free.map(({ covering, delivery }, index) => ({
      ...delivery,
      body: withSilences(bodies[index]!, covering)
    }))
    if (handed.length + dropped.length > 0) {
      yield* store.settleHeld(sink, handed, dropped)
      yield* countDropped(dropped.length)
      courier.take(handed, [])
    }
    if (waiting.length === maxSettledAtOnce) {
      pass = { after: waiting.at(-1)! }
      return true
    }
    pass = null
    heldNodes.endPass()
    return false
  })

  /** Waits until a silence ends, or may have ended. */
  const silenceEnd = Effect.suspend(() => {
    if (nextEndMillis === null) return Effect.never
    const until = nextEndMillis
    return Effect.flatMap(Clock.currentTimeMillis, (now) =>
      Effect.sleep(Math.min(Math.max(until - now, 1), maxSilenceWaitMillis))
    )
  })

  return {
    sortOut,
    countDropped,
    release,
    silenceEnd,
    /** Whether `release` has more to do. */
    isReleasing: () => pass !== null,
    /** Whether something of a node waits. */
    hasSome: (key: Pick<DeliveryKey, "account" | "node">) => heldNodes.has(key)
  }
})
