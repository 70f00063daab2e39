/**
 * How silences affect the events of a sink: which events a silence covers, when these events are delivered or dropped,
 * and which other events wait until then.
 *
 * A silence covers the events that the daemon learns of while the silence lasts, no matter when a sink reads them. The
 * outcome therefore does not depend on when a sink reads, or when the daemon restarts. An event under several silences
 * waits for the last one, and is dropped only if all of them drop their events. Later events of the same node wait
 * behind a held event, even if no silence covers them, because each node's events stay in order.
 */
import { Clock, Effect, Metric } from "effect"
import type { StoredEvent } from "../store/accounts.ts"
import { type Delivery, type DeliveryKey, type NodeKey, nodeKeyOf } from "../store/deliveries.ts"
import type { Silence, SilencedEvent } from "../store/silences.ts"
import { selects } from "./SinkOptions.ts"
import type { SilencedIntake } from "../store/sinks.ts"
import { Store } from "../store/Store.ts"
import { type Courier, whileItMayPass } from "./Courier.ts"

/**
 * Whether a silence withholds an event from a sink. It never withholds the daemon's own events. If it names nodes, it withholds
 * only events about nodes.
 */
export const covers = (
  { accounts, fromMillis, nodes, sinks, untilMillis }: Silence,
  sink: string,
  event: StoredEvent
): boolean =>
  event.atMillis >= fromMillis &&
  event.atMillis < untilMillis &&
  !event.account.startsWith("_") &&
  (sinks.length === 0 || sinks.includes(sink)) &&
  (nodes.length === 0 || event.node !== null) &&
  selects({ accounts, nodes, causes: [], types: [] }, event)

/** What to do with an event: `hand` it to the courier, `hold` it, or `drop` it. */
export type Fate = "hand" | "hold" | "drop"

/**
 * What becomes of an event that these silences cover. `replayedMillis`: when a person last made the sink deliver past
 * events again, or null; silences that were over by then drop nothing.
 */
export const fateOf = (covering: ReadonlyArray<Silence>, nowMillis: number, replayedMillis: number | null): Fate => {
  if (covering.some(({ untilMillis }) => untilMillis > nowMillis)) return "hold"
  const isGivenUp = ({ atEnd, untilMillis }: Silence) =>
    atEnd === "drop" && (replayedMillis === null || untilMillis > replayedMillis)
  return covering.length > 0 && covering.every(isGivenUp) ? "drop" : "hand"
}

/** When the next silence ends; null if none will. */
export const nextEnd = (silences: ReadonlyArray<Silence>, nowMillis: number): number | null => {
  const ends = silences.map(({ untilMillis }) => untilMillis).filter((until) => until > nowMillis)
  return ends.length === 0 ? null : Math.min(...ends)
}

/**
 * The nodes for which a sink has waiting events. `fateOfNew` decides about each delivery when it is read. After silences end, a pass
 * decides about all waiting deliveries, each node's oldest first (`fateOfHeld`); no new events are read during a pass. The first pass,
 * and the pass after this process gains an account, handle deliveries that an earlier process left.
 */
export class HeldNodes {
  #held = new Set<string>()
  #blocked = new Set<string>()
  /** The silences that were over at the start of the last pass; null before the first. */
  #settled: ReadonlySet<string> | null = null

  has(key: NodeKey): boolean {
    return this.#held.has(nodeKeyOf(key))
  }

  fateOfNew(key: NodeKey, fate: Fate): Fate {
    if (fate === "drop") return fate
    if (fate === "hold") this.#held.add(nodeKeyOf(key))
    return this.has(key) ? "hold" : "hand"
  }

  /** Starts a pass if one is due; returns whether it is. */
  beginPass(silences: ReadonlyArray<Silence>, nowMillis: number): boolean {
    const over = new Set(silences.filter(({ untilMillis }) => untilMillis <= nowMillis).map(({ id }) => id))
    const settled = this.#settled
    if (settled !== null && Array.from(over).every((id) => settled.has(id))) return false
    this.#settled = over
    this.#blocked = new Set()
    return true
  }

  /** Requires another pass, because this process gained an account for which another process may have left deliveries. */
  gained(): void {
    this.#settled = null
  }

  fateOfHeld(key: NodeKey, fate: Fate): Fate {
    if (fate === "hold") this.#blocked.add(nodeKeyOf(key))
    return fate === "hand" && this.#blocked.has(nodeKeyOf(key)) ? "hold" : fate
  }

  endPass(): void {
    this.#held = this.#blocked
  }
}

/** The JSON of an event, with the silences that held it. */
export const withSilences = (body: string, covering: ReadonlyArray<Silence>): string => {
  if (covering.length === 0) return body
  const event = JSON.parse(body)
  const silenced = covering.map(({ id, reason }) => ({ id, reason }))
  return JSON.stringify({ ...event, data: { ...event.data, silenced } })
}

/** Maximum number of held deliveries that one transaction settles; each takes its own statement. */
const maxSettledAtOnce = 100

/** How late the end of a silence may be noticed if the clock was set or the machine was suspended. */
const maxSilenceWaitMillis = 10_000

const outcomes = { hand: "delivered", hold: "held", drop: "dropped" } as const

const droppedCount = Metric.counter("berth_silence_dropped_events_total", {
  description: "Events that silences dropped since the process began, by sink.",
  incremental: true
})

/** The reader of a sink's events. */
interface Reader {
  /** Whether the reader delivers events of an account. */
  readonly isOwn: (account: string) => boolean
  /** Corrects the due time of a delivery that another process may have left, whose clock may be wrong. */
  readonly asDueHere: <D extends Delivery>(delivery: D, nowMillis: number) => D
}

/**
 * The deliveries that silences hold for one sink. They are kept only in the store, and do not count as pending until `release`
 * finds that their silences are over.
 */
export const makeHeldDeliveries = Effect.fnUntraced(function* (
  sink: string,
  courier: Pick<Courier, "take">,
  { asDueHere, isOwn }: Reader
) {
  const store = yield* Store
  const replayedMillis = yield* whileItMayPass(store.replayedAt(sink))
  const heldNodes = new HeldNodes()
  /** The progress of a pass over held deliveries; null if none is running. */
  let pass: { readonly after: DeliveryKey | null } | null = null
  /** When the next silence ends; null if there is none. */
  let nextEndMillis: number | null = null

  const countDropped = (count: number) =>
    count === 0 ? Effect.void : Metric.update(Metric.withAttributes(droppedCount, { sink }), count)

  /**
   * Sorts new deliveries by the effect of silences. The silences are read after the events, so a silence that was added later
   * covers none of these events.
   */
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

  /**
   * Delivers or drops some deliveries whose silences are over. Returns whether there may be more; these must be handled before
   * newer events.
   */
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
      if (!isOwn(delivery.account)) continue
      const covering = ids.map((id) => byId.get(id)).filter((silence) => silence !== undefined)
      const fate = heldNodes.fateOfHeld(delivery, fateOf(covering, now, replayedMillis))
      if (fate === "hand") free.push({ delivery, covering })
      else if (fate === "drop") dropped.push(delivery)
    }
    const bodies = yield* store.bodiesOf(
      sink,
      free.map(({ delivery }) => delivery)
    )
    const handed = free.flatMap(({ covering, delivery }, index) => {
      const body = bodies[index] ?? null
      // The event was withdrawn in the meantime, so there is nothing to deliver.
      return body === null ? [] : [{ ...asDueHere(delivery, now), body: withSilences(body, covering) }]
    })
    if (handed.length + dropped.length > 0) {
      // Repeats the whole transaction after a broken connection. If it was committed after all, the repetition finds nothing to
      // settle.
      yield* whileItMayPass(store.settleHeld(sink, handed, dropped))
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
    /** This process gained accounts. It processes the deliveries that others left before it reads anything newer. */
    gained: () => {
      pass = null
      heldNodes.gained()
    },
    countDropped,
    release,
    silenceEnd,
    /** Whether `release` has more to do. */
    isReleasing: () => pass !== null,
    /** Whether a delivery about the node waits. */
    hasSome: (key: NodeKey) => heldNodes.has(key)
  }
})
