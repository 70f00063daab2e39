/**
 * The pending deliveries of a sink, in one queue per node: a node's events keep their order, and a failing event does not block
 * other nodes. The queues decide what to attempt and when. They get the time and random numbers from their caller; `Courier.ts`
 * makes the attempts.
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
  /** The node's deliveries in the order of their events; never empty. */
  readonly entries: Array<Delivery>
  isInFlight: boolean
  /** Whether the first delivery may be retried before it is due, because it failed earlier and the receiver is back now. */
  isReleased: boolean
}

/** What happens after a failed attempt. */
export type Consequence =
  /** Retry when the delivery is due again; the attempt counts. */
  | { readonly _tag: "Retry"; readonly delivery: Delivery }
  /** Retry, and do not count this attempt: the receiver is down, or the delivery was tried before it was due. */
  | { readonly _tag: "Wait" }
  | { readonly _tag: "GiveUp"; readonly delivery: Delivery }
  | { readonly _tag: "Disable"; readonly reason: "gone" | "failing" }

export class Queues {
  #health: Health
  readonly #maxInFlight: number
  /** The queues by node, in the order in which they are tried: new queues come last. */
  readonly #queues = new Map<string, Queue>()
  /** Accounts for which nothing more is added or retried. */
  readonly #forgotten = new Set<string>()
  /** The queue whose delivery tests whether the receiver is back. */
  #probe: string | null = null
  readonly #unproven = new Set<string>()
  #inFlight = 0
  #size = 0

  /** `failingSinceMillis`: the time since which the previous process had had no successful attempt. */
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

  /** The accounts that this process took over since the last successful attempt. */
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
   * Takes over the deliveries that the previous owner of some accounts left, except deliveries that are still running here. If
   * the sink has been failing, the failed attempts of these deliveries count as failures in a row.
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
   * Removes all pending deliveries of an account that another process owns now. Running attempts finish, but their outcomes are
   * ignored.
   */
  forget(account: string): void {
    this.#forgotten.add(account)
    for (const [key, queue] of this.#queues) {
      if (queue.entries[0]!.account !== account) continue
      for (let index = queue.entries.length - 1; index >= (queue.isInFlight ? 1 : 0); index--)
        this.#drop(key, queue, index)
    }
  }

  /** Removes deliveries that are no longer wanted, except running ones. */
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

  /**
   * When a queue's first delivery is due. While the receiver is down, the queues are tried in turn, so every first delivery is
   * due now unless it is held back.
   */
  #dueMillis({ entries, isReleased }: Queue): number {
    const { attempt, dueMillis } = entries[0]!
    return isReleased || (this.#health.probeAtMillis !== null && attempt > 0) ? 0 : dueMillis
  }

  /** Records that an attempt succeeded. */
  succeeded(delivery: Delivery): void {
    const wasDown = this.#health.probeAtMillis !== null
    this.#health = healthy
    this.#unproven.clear()
    this.#land(delivery, true)
    if (wasDown) this.#release(nodeKeyOf(delivery))
  }

  /** Records that an attempt failed; returns what follows. */
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
    const giveUp = (): Consequence => {
      this.#land(delivery, true)
      return { _tag: "GiveUp", delivery: { ...delivery, attempt: delivery.attempt + 1 } }
    }
    const queue = this.#queues.get(key)!
    queue.isReleased = false
    if (probeAtMillis !== null && this.#health.probeAtMillis !== null) {
      this.#land(delivery, false)
      this.#putLast(key)
      return { _tag: "Wait" }
    }
    if (probeAtMillis !== null) this.#release(key)
    if (failure.kind === "undeliverable") return giveUp()
    // An attempt before the due time does not count. Otherwise, while a receiver comes and goes, an event would use up
    // days of its schedule within minutes.
    if (delivery.attempt > 0 && delivery.dueMillis > nowMillis) {
      this.#land(delivery, false)
      queue.entries[0] = { ...delivery, dueMillis: dueAfterEarly(delivery, failure.retryAfterMillis, nowMillis) }
      return { _tag: "Wait" }
    }
    const attempt = delivery.attempt + 1
    const delay = retryDelay(attempt, failure.retryAfterMillis, chance)
    if (delay === null) return giveUp()
    this.#land(delivery, false)
    const next = { ...delivery, attempt, dueMillis: nowMillis + delay }
    queue.entries[0] = next
    return { _tag: "Retry", delivery: next }
  }

  /**
   * The receiver is back: lets all queues except the answered one retry their failed delivery early. Only the answer to the
   * probe triggers this. Answers to deliveries that were sent before the receiver went down do not trigger it: such answers
   * and failures could alternate endlessly. Changes that are held back stay held back.
   */
  #release(answered: string): void {
    const isProbe = answered === this.#probe
    this.#probe = null
    if (!isProbe) return
    for (const [key, queue] of this.#queues) queue.isReleased = key !== answered && queue.entries[0]!.attempt > 0
  }

  /**
   * Moves a queue to the end, behind the other queues. If the receiver always fails at one event, trying only that
   * event would never show that the receiver is back.
   */
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
    // Nothing is pending, so nothing is failing.
    if (this.#size === 0) this.#health = { ...this.#health, failingSinceMillis: null }
  }
}
