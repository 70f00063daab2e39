/**
 * What silences do to the events that a sink gets: which events one covers, and when those are handed over, or given up. Pure.
 *
 * A silence covers the events that the daemon learns of while it lasts, whenever a sink gets to read them, so the outcome is the same
 * however reading, the ends of silences and restarts of the daemon interleave. An event that several cover waits for the last, and is given up only
 * where all of them want that. What a node does later waits behind it, covered or not, so the order per node stays.
 */
import type { StoredEvent } from "../store/accounts.ts"
import type { DeliveryKey } from "../store/deliveries.ts"
import type { Silence } from "../store/silences.ts"
import { selects } from "./Filter.ts"

export const silenceStates = ["planned", "active", "over"] as const
export type SilenceState = (typeof silenceStates)[number]

export const silenceState = ({ fromMillis, untilMillis }: Silence, nowMillis: number): SilenceState =>
  nowMillis >= untilMillis ? "over" : nowMillis < fromMillis ? "planned" : "active"

/** Whether it keeps an event from a sink: never those of the daemon itself, and with `nodes` none that is about no node. */
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
  selects({ accounts, nodes, types: [] }, event)

/** `hand`: deliver it. `hold`: it waits. `drop`: it is given up. */
export type Fate = "hand" | "hold" | "drop"

/**
 * What becomes of an event that these silences cover. `replayedMillis`: when a person had the sink deliver once more, or null; silences
 * that were over by then give up nothing.
 */
export const fateOf = (covering: ReadonlyArray<Silence>, nowMillis: number, replayedMillis: number | null): Fate => {
  if (covering.some(({ untilMillis }) => untilMillis > nowMillis)) return "hold"
  const isGivenUp = ({ atEnd, untilMillis }: Silence) =>
    atEnd === "drop" && (replayedMillis === null || untilMillis > replayedMillis)
  return covering.length > 0 && covering.every(isGivenUp) ? "drop" : "hand"
}

type NodeKey = Pick<DeliveryKey, "account" | "node">

const queueOf = ({ account, node }: NodeKey): string => `${account}/${node}`

/** When the next silence ends; null where none will. */
export const nextEnd = (silences: ReadonlyArray<Silence>, nowMillis: number): number | null => {
  const ends = silences.map(({ untilMillis }) => untilMillis).filter((until) => until > nowMillis)
  return ends.length === 0 ? null : Math.min(...ends)
}

/**
 * The nodes of which a sink has something that waits. It is asked about deliveries as they are read (`fateOfNew`), and, once silences
 * are over, in a pass over all that wait, each node's oldest first (`fateOfHeld`). Nothing is read during a pass; the first one, at
 * the start, is about what an earlier process left.
 */
export class HeldNodes {
  #held = new Set<string>()
  #blocked = new Set<string>()
  /** The silences that were over when the last pass began; null before the first. */
  #settled: ReadonlySet<string> | null = null

  has(key: NodeKey): boolean {
    return this.#held.has(queueOf(key))
  }

  fateOfNew(key: NodeKey, fate: Fate): Fate {
    if (fate === "drop") return fate
    if (fate === "hold") this.#held.add(queueOf(key))
    return this.has(key) ? "hold" : "hand"
  }

  /** Begins a pass where one is due; gives whether it is. */
  beginPass(silences: ReadonlyArray<Silence>, nowMillis: number): boolean {
    const over = new Set(silences.filter(({ untilMillis }) => untilMillis <= nowMillis).map(({ id }) => id))
    const settled = this.#settled
    if (settled !== null && Array.from(over).every((id) => settled.has(id))) return false
    this.#settled = over
    this.#blocked = new Set()
    return true
  }

  fateOfHeld(key: NodeKey, fate: Fate): Fate {
    if (fate === "hold") this.#blocked.add(queueOf(key))
    return fate === "hand" && this.#blocked.has(queueOf(key)) ? "hold" : fate
  }

  endPass(): void {
    this.#held = this.#blocked
  }
}

/** The JSON of an event, with what held it. */
export const withSilences = (body: string, covering: ReadonlyArray<Silence>): string => {
  if (covering.length === 0) return body
  const event = JSON.parse(body)
  const silenced = covering.map(({ id, reason }) => ({ id, reason }))
  return JSON.stringify({ ...event, data: { ...event.data, silenced } })
}
