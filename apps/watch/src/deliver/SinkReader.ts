/**
 * Reads events from a sink's place in each account. One transaction moves this place and stores the deliveries of the selected events. If
 * a change of status must last for some time first, its delivery is stored as waiting. A slow sink stops reading, and blocks no other
 * sink. Events that silences hold are handled in `Silences.ts`.
 */
import { Clock, Effect } from "effect"
import { startOf } from "../events/Cursor.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { sinkBaseline } from "../events/Event.ts"
import type { StoredEvent } from "../store/accounts.ts"
import type { Head } from "../store/events.ts"
import type { Delivery, DeliveryKey, NodeKey } from "../store/deliveries.ts"
import type { SinkPlaces } from "../store/sinks.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { type Courier, maxLoaded, whileItMayPass } from "./Courier.ts"
import { dueHere } from "./Health.ts"
import { makeHeldDeliveries } from "./Silences.ts"
import { dataOf, selects, selectsAccount, type SinkOptions } from "./SinkOptions.ts"

const maxAtOnce = 500

/** Why reading ended. `Behind`: the sink has too many unread events. `Ordered`: a person changed the sink, so it restarts. */
type ReaderEnd = { readonly _tag: "Behind"; readonly unread: number } | { readonly _tag: "Ordered" }

const inOneTransaction = <A, R>(effect: Effect.Effect<A, StoreFailed, R>) =>
  Effect.flatMap(Store, ({ atomically }) => atomically(effect))

/**
 * Stores where a sink starts in each account that is new to it; for a new sink these are all accounts. A sink
 * starts with new events unless its options say that it starts with the existing nodes. Accounts without events are included.
 */
export const openSink = Effect.fnUntraced(function* (
  { name, selection, start }: SinkOptions,
  watched: ReadonlyArray<string>
) {
  const store = yield* Store
  const isNew = yield* store.meet(name)
  if (start === "baseline") return
  const places = yield* store.placesOf(name)
  const ends = new Map(watched.map((account) => [account, 0]))
  for (const { account, seq } of yield* store.heads) ends.set(account, isNew ? seq : startOf(account, seq))
  for (const [account, seq] of ends) {
    if (places.has(account) || !selectsAccount(selection, account)) continue
    yield* store.begin(name, account, seq)
  }
  // If several processes start at once, the first one finds that the sink is new, and the others wait for its transaction.
}, inOneTransaction)

/** Whether this is the daemon's event about a failure of this sink's own receiver. Only the other sinks get such an event. */
const isAbout = (sink: string, { account, body }: StoredEvent): boolean => {
  if (account !== daemonAccount) return false
  const { about } = JSON.parse(body).data
  return about?.kind === "sink" && about.name === sink
}

/** Whether the sink should start with the nodes of an account, and has not started there yet. */
const isUnmet = ({ start }: SinkOptions, places: SinkPlaces, account: string) =>
  start === "baseline" && !places.has(account) && !account.startsWith("_")

/** Number of events of an account that a sink has not read. */
const unreadOf = (places: SinkPlaces, { account, seq }: Head) => seq - (places.get(account) ?? 0)

/** Number of events that a sink has not read in the accounts that it selects. */
export const lagOf = (sink: SinkOptions, places: SinkPlaces, heads: ReadonlyArray<Head>): number =>
  heads
    .filter(({ account }) => selectsAccount(sink.selection, account) && !isUnmet(sink, places, account))
    .reduce((sum, head) => sum + unreadOf(places, head), 0)

/** Reads until the sink is too far behind, or a person changes the sink in another process. */
export const readEvents = Effect.fnUntraced(function* (
  sink: SinkOptions,
  courier: Courier
): Effect.fn.Return<ReaderEnd, StoreFailed, Store> {
  const store = yield* Store
  const orders = yield* whileItMayPass(store.ordersOf(sink.name))
  const places = new Map<string, number>()
  /**
   * The accounts whose events this process delivers. The value is the ownership epoch in which it took over the account's
   * pending deliveries.
   */
  const begun = new Map<string, number>()
  /** Corrects the due time of a delivery that another process may have left. */
  const asDueHere = <D extends Delivery>(each: D, nowMillis: number): D =>
    store.isShared ? { ...each, dueMillis: dueHere(each, nowMillis, sink.forMillis) } : each
  const held = yield* makeHeldDeliveries(sink.name, courier, {
    isOwn: (account) => begun.has(account) && begun.get(account) === store.epochOf(account),
    asDueHere
  })
  let seen = 0

  /** Takes the existing nodes as the first events of a new sink. The account must have had a complete sweep. */
  const takeBaseline = Effect.fnUntraced(function* ({ account, accountId }: Head) {
    const atMillis = yield* Clock.currentTimeMillis
    const { nodes, seq } = yield* store.baselineOf(account)
    const found = nodes.flatMap(({ body, id: node }) => {
      const record: unknown = JSON.parse(body).node
      const made = sinkBaseline({ sink: sink.name, account, accountId, seq, nodeId: node, record, atMillis })
      const event: StoredEvent = { account, seq, node, atMillis, type: "berth.node.discovered", ...made }
      const delivery: Delivery = { ...made, account, seq, node, attempt: 0, dueMillis: atMillis, held: null }
      return selects(sink.selection, event) ? [{ delivery, event }] : []
    })
    const { deliveries, silenced } = yield* held.sortOut(found)
    yield* store.take({ sink: sink.name, account, after: null, seq, deliveries, dropped: [], silenced })
    return { deliveries, seq }
  }, inOneTransaction)

  /** The node's change of status that is held back to see whether it lasts; null if there is none. */
  const waitingChange = Effect.fnUntraced(function* (key: NodeKey) {
    const silenced = sink.forMillis > 0 && held.hasSome(key) ? yield* store.heldChange(sink.name, key) : null
    return silenced ?? courier.heldOf(key)
  })

  const takeEvents = Effect.fnUntraced(function* (account: string, events: ReadonlyArray<StoredEvent>) {
    const now = yield* Clock.currentTimeMillis
    const taken: Array<{ readonly delivery: Delivery; readonly event: StoredEvent }> = []
    const dropped: Array<DeliveryKey> = []
    for (const event of events) {
      if (!selects(sink.selection, event) || isAbout(sink.name, event)) continue
      const key = { account, node: event.node ?? 0 }
      const isDropped = ({ seq }: DeliveryKey) => dropped.some((other) => other.seq === seq)
      const inBatch = taken.findLast(({ delivery }) => delivery.held !== null && delivery.node === key.node)
      const earlier = inBatch === undefined ? yield* waitingChange(key) : null
      const waiting = inBatch?.delivery ?? (earlier !== null && !isDropped(earlier) ? earlier : null)
      const damped = damp(event, waiting, sink.forMillis, now)
      if (damped.dropped !== null && inBatch !== undefined) taken.splice(taken.indexOf(inBatch), 1)
      else if (damped.dropped !== null) dropped.push(damped.dropped)
      if (damped.delivery !== null) taken.push({ delivery: damped.delivery, event })
    }
    const seq = events.at(-1)!.seq
    const { deliveries, givenUp, silenced } = yield* held.sortOut(taken)
    const after = places.get(account) ?? null
    yield* store.take({ sink: sink.name, account, after, seq, deliveries, dropped, silenced })
    yield* held.countDropped(givenUp)
    courier.take(deliveries, dropped)
    places.set(account, seq)
  })

  /**
   * Takes over the pending deliveries of accounts that this process owns now, and gives up the deliveries of accounts that it lost. Returns
   * the heads of the owned accounts.
   */
  const ownHeads = Effect.gen(function* () {
    const heads = yield* store.heads
    for (const [account, epoch] of begun) {
      if (store.epochOf(account) === epoch) continue
      courier.forget(account)
      begun.delete(account)
      places.delete(account)
    }
    const own = heads.filter(({ account }) => store.epochOf(account) !== null)
    const fresh = own.flatMap(({ account }) => (begun.has(account) ? [] : [account]))
    if (fresh.length > 0) {
      const epochs = fresh.map((account) => store.epochOf(account) ?? 0)
      const left = yield* store.placesOf(sink.name)
      const now = yield* Clock.currentTimeMillis
      const deliveries = yield* store.deliveries(sink.name, fresh, maxLoaded)
      courier.resume(
        fresh,
        deliveries.map((each) => asDueHere(each, now))
      )
      for (const [index, account] of fresh.entries()) {
        const seq = left.get(account)
        if (seq !== undefined) places.set(account, seq)
        begun.set(account, epochs[index]!)
      }
      held.gained()
    }
    return own
  })

  const lag = Effect.map(ownHeads, (heads) => lagOf(sink, places, heads))

  /** Reads some unread events; returns how many were unread before. Events that silences held are delivered first. */
  const step = Effect.gen(function* () {
    const heads = yield* ownHeads
    if (yield* held.release) return lagOf(sink, places, heads)
    let unread = 0
    for (const head of heads) {
      if (!selectsAccount(sink.selection, head.account)) continue
      const isNew = isUnmet(sink, places, head.account)
      if (isNew && head.sweptAtMillis === null) continue
      if (isNew) {
        const { deliveries, seq } = yield* takeBaseline(head)
        courier.take(deliveries, [])
        places.set(head.account, seq)
      }
      const left = unreadOf(places, head)
      if (left === 0) continue
      unread += left
      const events = yield* store.eventsOf(head.account, places.get(head.account) ?? 0, maxAtOnce)
      if (events.length > 0) yield* takeEvents(head.account, events)
    }
    return unread
  })

  for (;;) {
    // While a sink has too many pending deliveries, it reads nothing, and falls behind.
    const unread = yield* whileItMayPass(courier.hasRoom() ? step : lag)
    if (unread > sink.maxLag) return { _tag: "Behind", unread }
    if ((yield* whileItMayPass(store.ordersOf(sink.name))) !== orders) return { _tag: "Ordered" }
    if (!courier.hasRoom()) seen = yield* Effect.raceFirst(store.newEvents(seen), Effect.as(courier.room, seen))
    else if (unread === 0 && !held.isReleasing())
      seen = yield* Effect.raceFirst(store.newEvents(seen), Effect.as(held.silenceEnd, seen))
  }
})

/** The state before a waiting change. */
interface Held {
  readonly from: unknown
  readonly before: unknown
}

interface Damped {
  /** The delivery for the event; null if there is none. */
  readonly delivery: Delivery | null
  /** An earlier change that is no longer delivered. */
  readonly dropped: DeliveryKey | null
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/**
 * Flap damping: a change of status waits until the status has lasted for some time. If the node returns to its old status,
 * nothing is delivered. Otherwise only the last change is delivered, with the `from` of the first. `waiting` is the waiting
 * change of the same node, if any. Pure.
 */
export const damp = (event: StoredEvent, waiting: Delivery | null, forMillis: number, nowMillis: number): Damped => {
  const { account, atMillis, id, node, seq, type } = event
  const delivery = { account, seq, node: node ?? 0, id, attempt: 0, dueMillis: nowMillis, held: null, body: null }
  // A waiting change whose time is over has lasted long enough, even if it is not delivered yet.
  const held = waiting !== null && waiting.held !== null && waiting.dueMillis > atMillis ? waiting : null
  if (forMillis === 0) return { delivery, dropped: null }
  if (type === "berth.node.deleted") return { delivery, dropped: held }
  if (type !== "berth.node.status_changed") return { delivery, dropped: null }
  const { before, from, to } = dataOf(event)
  const first: Held = held === null ? { from, before } : JSON.parse(held.held!)
  if (held !== null && isSame(first.from, to)) return { delivery: null, dropped: held }
  return {
    delivery: {
      ...delivery,
      // If the wall clock was set back, the change must not wait longer.
      dueMillis: Math.min(atMillis, nowMillis) + forMillis,
      held: JSON.stringify(first),
      body: held === null ? null : withBegin(event.body, first)
    },
    dropped: held
  }
}

/** The event with the earlier status and record: those from before the first of the changes that the event replaces. */
const withBegin = (body: string, { before, from }: Held): string => {
  const event = JSON.parse(body)
  return JSON.stringify({ ...event, data: { ...event.data, from, before } })
}
