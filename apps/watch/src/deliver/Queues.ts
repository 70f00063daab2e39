/**
 * What a sink has to deliver, in one queue for each node: the order of a node's events is kept, and one that fails holds up no
 * other node. It decides what is attempted when, from the time and the chance it is given; `Courier.ts` does it.
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
  /** Its first one failed before, and may be tried once before it is due: the receiver was down, and is there again. */
  isReleased: boolean
}

/** What a failed attempt comes to. */
export type Consequence =
  /** Again when it is due; the attempt counted. */
  | { readonly _tag: "Retry"; readonly delivery: Delivery }
  /** Again, as if it had not been tried: the receiver is down, or it was not due. */
  | { readonly _tag: "Wait" }
  | { readonly _tag: "GiveUp"; readonly delivery: Delivery }
  | { readonly _tag: "Disable"; readonly reason: "gone" | "failing" }

export class Queues {
  #health: Health
  readonly #maxInFlight: number
  /** In the order in which they are tried: that of their oldest entries, as far as they came in order. */
  readonly #queues = new Map<string, Queue>()
  /** Accounts of which nothing is to be added or tried again. */
  readonly #forgotten = new Set<string>()
  /** The queue whose delivery is on its way to see whether the receiver is there again. */
  #probe: string | null = null
  readonly #unproven = new Set<string>()
  #inFlight = 0
  #size = 0

  /** `failingSinceMillis`: since when no attempt of the process before succeeded. */
  constructor(maxInFlight: number, failingSinceMillis: number | null = null) {
    this.#maxInFlight = maxInFlight
    this.#health = { ...healthy, failingSinceMillis }
  }

  get health(): Health {
    return this.#health
  }

  /** Deliveries that are under way. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** How the receiver is. */
  get receiver(): ReceiverState {
    const isRetrying = this.#queues.values().some(({ entries }) => entries[0]!.attempt > 0)
    return receiverState(this.#health, isRetrying)
  }

  /** The accounts of which deliveries are left. */
  get accounts(): ReadonlySet<string> {
    return new Set(Array.from(this.#queues.values(), ({ entries }) => entries[0]!.account))
  }

  /** The accounts that were taken in since the last attempt that succeeded. */
  get unproven(): ReadonlySet<string> {
    return this.#unproven
  }

  /** Deliveries that are left, those under way included. */
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
   * Takes in what the process that had some accounts before has left of them; not twice what is still under way here. The
   * attempts at those deliveries count as failures in a row.
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

  /** Takes out all that is left of an account, which another process has now. What is under way lands, and nothing follows from it. */
  forget(account: string): void {
    this.#forgotten.add(account)
    for (const [key, queue] of this.#queues) {
      if (queue.entries[0]!.account !== account) continue
      for (let index = queue.entries.length - 1; index >= (queue.isInFlight ? 1 : 0); index--)
        this.#drop(key, queue, index)
    }
  }

  /** Takes out what is not to be delivered any more. One that is under way is on its way. */
  remove(keys: ReadonlyArray<DeliveryKey>): void {
    for (const key of keys) {
      const queue = this.#queues.get(nodeKeyOf(key))
      const index = queue?.entries.findIndex(({ seq }) => seq === key.seq) ?? -1
      if (queue === undefined || index < 0 || (index === 0 && queue.isInFlight)) continue
      this.#drop(nodeKeyOf(key), queue, index)
    }
  }

  /** The change of a node's status that is held back, if any. */
  heldOf(key: NodeKey): Delivery | null {
    const queue = this.#queues.get(nodeKeyOf(key))
    const isWaiting = ({ attempt, held }: Delivery, index: number) =>
      held !== null && attempt === 0 && !(index === 0 && queue?.isInFlight === true)
    return queue?.entries.findLast(isWaiting) ?? null
  }

  /** What to attempt now. They are under way until `succeeded` or `failed` is called for them. */
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

  /** When `start` may give more than now; null when only an answer or another delivery changes that. */
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

  /** While the receiver is down an event is tried whenever it would be its turn; but not one that is held back. */
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

  /** The attempt failed; gives what follows. */
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
    // Tried before it was due. A receiver that comes and goes would use up the days of the schedule within minutes.
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
   * The receiver is there again: what failed before is tried now, in all other queues than that of the answer. Only the answer to the
   * probe does this: any other delivery was sent before the receiver was down, and would take turns without a pause with those that fail.
   * What is held back stays so.
   */
  #release(answered: string): void {
    const isProbe = answered === this.#probe
    this.#probe = null
    if (!isProbe) return
    for (const [key, queue] of this.#queues) queue.isReleased = key !== answered && queue.entries[0]!.attempt > 0
  }

  /** The next is tried before it: an event at which the receiver fails would keep it from being found there. */
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
    // Nothing is left that fails.
    if (this.#size === 0) this.#health = { ...this.#health, failingSinceMillis: null }
  }
}
