/**
 * The pending deliveries of a sink, in one queue per node: a node's events keep their order, and a failing one does not block
 * other nodes. It decides what to attempt when, from the time and random numbers it receives; `Courier.ts` makes the attempts.
 */
import { type Delivery, type DeliveryKey, type NodeKey, nodeKeyOf } from "../store/deliveries.ts"
import {
  afterFailure,
  dueAfterEarly,
  type Failed,
  type Health,
  healthy,
  maxFailingMillis,
  type ReceiverState,
  receiverState,
  retryDelay
} from "./Health.ts"

interface Queue {
  /** In the order of their events; never empty. */
  readonly entries: Array<Delivery>
  isInFlight: boolean
  /** Whether its first delivery failed before and may be tried before it is due, because the receiver was down and is back. */
  isReleased: boolean
}

/** What follows from a failed attempt. */
export type Consequence =
  /** Retry when it is due; the attempt counts. */
  | { readonly _tag: "Retry"; readonly delivery: Delivery }
  /** Retry as if it had not been tried: the receiver is down, or the delivery was not due. */
  | { readonly _tag: "Wait" }
  | { readonly _tag: "GiveUp"; readonly delivery: Delivery }
  | { readonly _tag: "Disable"; readonly reason: "gone" | "failing" }

export class Queues {
  #health: Health
  readonly #maxInFlight: number
  /** In the order of attempts: that of their oldest entries, as far as those came in order. */
  readonly #queues = new Map<string, Queue>()
  /** Accounts for which nothing is added or retried any more. */
  readonly #forgotten = new Set<string>()
  /** The queue whose delivery tests whether the receiver is back. */
  #probe: string | null = null
  readonly #unproven = new Set<string>()
  #inFlight = 0
  #size = 0

  /** `failingSinceMillis`: since when the previous process had no successful attempt. */
  constructor(maxInFlight: number, failingSinceMillis: number | null = null) {
    this.#maxInFlight = maxInFlight
    this.#health = { ...healthy, failingSinceMillis }
  }

  get health(): Health {
    return this.#health
  }

  /** Number of running attempts. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** The state of the receiver. */
  get receiver(): ReceiverState {
    const isRetrying = this.#queues.values().some(({ entries }) => entries[0]!.attempt > 0)
    return receiverState(this.#health, isRetrying)
  }

  /** The accounts with pending deliveries. */
  get accounts(): ReadonlySet<string> {
    return new Set(Array.from(this.#queues.values(), ({ entries }) => entries[0]!.account))
  }

  /** The accounts that were added since the last successful attempt. */
  get unproven(): ReadonlySet<string> {
    return this.#unproven
  }

  /** Number of pending deliveries, including running ones. */
  get size(): number {
    return this.#size
  }

  add(deliveries: ReadonlyArray<Delivery>): void {
    for (const delivery of deliveries) {
      const key = nodeKeyOf(delivery)
      const queue = this.#queues.get(key)
      if (queue === undefined) this.#queues.set(key, { entries: [delivery], isInFlight: false, isReleased: false })
      else queue.entries.push(delivery)
      this.#size++
    }
  }

  /**
   * Takes over what the previous owner of some accounts left, except deliveries that are still running here. Their earlier
   * attempts count as failures in a row.
   */
  resume(accounts: ReadonlyArray<string>, deliveries: ReadonlyArray<Delivery>): void {
    for (const account of accounts) {
      this.#forgotten.delete(account)
      this.#unproven.add(account)
    }
    if (this.#health.failingSinceMillis !== null) {
      const failures = deliveries.reduce((sum, { attempt }) => sum + attempt, 0)
      this.#health = { ...this.#health, failuresInRow: this.#health.failuresInRow + failures }
    }
    this.add(deliveries.filter((each) => this.#queues.get(nodeKeyOf(each))?.entries[0]?.seq !== each.seq))
  }

  /**
   * Removes all pending deliveries of an account that another process owns now. Running attempts finish, without consequences.
   */
  forget(account: string): void {
    this.#forgotten.add(account)
    for (const [key, queue] of this.#queues) {
      if (queue.entries[0]!.account !== account) continue
      for (let index = queue.entries.length - 1; index >= (queue.isInFlight ? 1 : 0); index--)
        this.#drop(key, queue, index)
    }
  }

  /** Removes deliveries that are not wanted any more, except running ones. */
  remove(keys: ReadonlyArray<DeliveryKey>): void {
    for (const key of keys) {
      const queue = this.#queues.get(nodeKeyOf(key))
      const index = queue?.entries.findIndex(({ seq }) => seq === key.seq) ?? -1
      if (queue === undefined || index < 0 || (index === 0 && queue.isInFlight)) continue
      this.#drop(nodeKeyOf(key), queue, index)
    }
  }

  /** The node's change of status that is held back, if any. */
  heldOf(key: NodeKey): Delivery | null {
    const queue = this.#queues.get(nodeKeyOf(key))
    const isWaiting = ({ attempt, held }: Delivery, index: number) =>
      held !== null && attempt === 0 && !(index === 0 && queue?.isInFlight === true)
    return queue?.entries.findLast(isWaiting) ?? null
  }

  /** The deliveries to attempt now. They count as running until `succeeded` or `failed` is called for them. */
  start(nowMillis: number): ReadonlyArray<Delivery> {
    const { pausedUntilMillis, probeAtMillis } = this.#health
    if (pausedUntilMillis > nowMillis || (probeAtMillis ?? 0) > nowMillis) return []
    const max = (probeAtMillis === null ? this.#maxInFlight : 1) - this.#inFlight
    const started: Array<Delivery> = []
    for (const queue of this.#queues.values()) {
      if (started.length >= max) break
      if (queue.isInFlight || this.#dueMillis(queue) > nowMillis) continue
      queue.isInFlight = true
      started.push(queue.entries[0]!)
      if (probeAtMillis !== null) this.#probe = nodeKeyOf(queue.entries[0]!)
    }
    this.#inFlight += started.length
    return started
  }

  /** When `start` may return more; null if only an answer or another delivery changes that. */
  nextMillis(): number | null {
    if (this.#queues.size === 0 || this.#inFlight >= this.#maxInFlight) return null
    const { pausedUntilMillis, probeAtMillis } = this.#health
    if (probeAtMillis !== null && this.#inFlight > 0) return null
    let next = Number.POSITIVE_INFINITY
    for (const queue of this.#queues.values()) {
      if (!queue.isInFlight) next = Math.min(next, this.#dueMillis(queue))
    }
    return next === Number.POSITIVE_INFINITY ? null : Math.max(next, pausedUntilMillis, probeAtMillis ?? 0)
  }

  /** While the receiver is down, events are tried in turn whenever one is allowed, except those that are held back. */
  #dueMillis({ entries, isReleased }: Queue): number {
    const { attempt, dueMillis } = entries[0]!
    return isReleased || (this.#health.probeAtMillis !== null && attempt > 0) ? 0 : dueMillis
  }

  /** The attempt succeeded. */
  succeeded(delivery: Delivery): void {
    const wasDown = this.#health.probeAtMillis !== null
    this.#health = healthy
    this.#unproven.clear()
    this.#land(delivery, true)
    if (wasDown) this.#release(nodeKeyOf(delivery))
  }

  /** The attempt failed; returns what follows. */
  failed(delivery: Delivery, failure: Failed, nowMillis: number, chance: number): Consequence {
    const { probeAtMillis } = this.#health
    const key = nodeKeyOf(delivery)
    if (this.#forgotten.has(delivery.account)) {
      this.#land(delivery, true)
      return { _tag: "Wait" }
    }
    this.#health = afterFailure(this.#health, key, this.#queues.size, failure, nowMillis, chance)
    const since = this.#health.failingSinceMillis ?? nowMillis
    if (failure.kind === "gone") return { _tag: "Disable", reason: "gone" }
    if (nowMillis - since >= maxFailingMillis) return { _tag: "Disable", reason: "failing" }
    const queue = this.#queues.get(key)!
    queue.isReleased = false
    if (probeAtMillis !== null && this.#health.probeAtMillis !== null) {
      this.#land(delivery, false)
      this.#putLast(key)
      return { _tag: "Wait" }
    }
    if (probeAtMillis !== null) this.#release(key)
    // Tried before it was due, so it does not count: a receiver that comes and goes would use up days of the schedule within
    // minutes.
    if (delivery.attempt > 0 && delivery.dueMillis > nowMillis) {
      this.#land(delivery, false)
      queue.entries[0] = { ...delivery, dueMillis: dueAfterEarly(delivery, failure.retryAfterMillis, nowMillis) }
      return { _tag: "Wait" }
    }
    const attempt = delivery.attempt + 1
    const delay = retryDelay(attempt, failure.retryAfterMillis, chance)
    this.#land(delivery, delay === null)
    if (delay === null) return { _tag: "GiveUp", delivery: { ...delivery, attempt } }
    const next = { ...delivery, attempt, dueMillis: nowMillis + delay }
    queue.entries[0] = next
    return { _tag: "Retry", delivery: next }
  }

  /**
   * The receiver is back: retries failed deliveries in all queues except the one that was answered. Only the answer to the
   * probe triggers this. Other deliveries were sent before the receiver went down, and would alternate endlessly with failing
   * ones. Changes that are held back stay so.
   */
  #release(answered: string): void {
    const isProbe = answered === this.#probe
    this.#probe = null
    if (!isProbe) return
    for (const [key, queue] of this.#queues) queue.isReleased = key !== answered && queue.entries[0]!.attempt > 0
  }

  /** Others are tried before it: an event at which the receiver always fails would prevent finding out that it is back. */
  #putLast(key: string): void {
    const queue = this.#queues.get(key)!
    this.#queues.delete(key)
    this.#queues.set(key, queue)
  }

  #land(delivery: Delivery, isDone: boolean): void {
    this.#inFlight--
    const key = nodeKeyOf(delivery)
    const queue = this.#queues.get(key)!
    queue.isInFlight = false
    if (isDone) this.#drop(key, queue, 0)
  }

  #drop(key: string, queue: Queue, index: number): void {
    queue.entries.splice(index, 1)
    if (index === 0) queue.isReleased = false
    this.#size--
    if (queue.entries.length === 0) this.#queues.delete(key)
    // No failing delivery is left.
    if (this.#size === 0) this.#health = { ...this.#health, failingSinceMillis: null }
  }
}
