/**
 * Flap damping: a change of status waits until the status has held for some time. Back at the old status, nothing is delivered;
 * else only the last change, with the first `from`. Pure.
 */
import type { StoredEvent } from "../store/accounts.ts"
import type { Delivery, DeliveryKey } from "../store/deliveries.ts"
import { dataOf } from "./Filter.ts"

/** What a change that waits began from. */
interface Held {
  readonly from: unknown
  readonly before: unknown
}

export interface Damped {
  /** What the sink gets for the event; null for nothing. */
  readonly delivery: Delivery | null
  /** An earlier change that is not delivered any more. */
  readonly dropped: DeliveryKey | null
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** `waiting` is the change of the same node that waits, if any. */
export const damp = (event: StoredEvent, waiting: Delivery | null, forMillis: number, nowMillis: number): Damped => {
  const { account, atMillis, id, node, seq, type } = event
  const delivery = { account, seq, node: node ?? 0, id, attempt: 0, dueMillis: nowMillis, held: null, body: null }
  // One whose time is over has held long enough, delivered yet or not.
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
      // A wall clock that was set back does not make it wait longer.
      dueMillis: Math.min(atMillis, nowMillis) + forMillis,
      held: JSON.stringify(first),
      body: held === null ? null : withBegin(event.body, first)
    },
    dropped: held
  }
}

/** The event with the status and the record that the node had before all the changes that it stands for. */
const withBegin = (body: string, { before, from }: Held): string => {
  const event = JSON.parse(body)
  return JSON.stringify({ ...event, data: { ...event.data, from, before } })
}
