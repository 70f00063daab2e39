/**
 * The queue of calls that wait for allowance, in lanes: who is next is decided here, when is decided by the estimator.
 * Plain data in, plain data out; it waits for nothing.
 */
import type { Lane } from "../../domain/Lane.ts"

const order: ReadonlyArray<Lane> = ["interactive", "mutation", "wait", "sweep"]

/** A lane that was passed over this often in a row goes next, so that nobody starves. */
const patience: Record<Lane, number> = { interactive: Number.POSITIVE_INFINITY, mutation: 8, wait: 16, sweep: 32 }

/** Share of the allowance that a lane leaves to the lanes before it. */
export const reserveOf: Record<Lane, number> = { interactive: 0, mutation: 0.01, wait: 0.015, sweep: 0.02 }

/** First in, first out within a lane. Taking somebody out of the middle is cheap: they are marked and skipped. */
export class Queue<A> {
  readonly #lanes: Record<Lane, Set<A>> = {
    interactive: new Set(),
    mutation: new Set(),
    wait: new Set(),
    sweep: new Set()
  }
  readonly #passedOver: Record<Lane, number> = { interactive: 0, mutation: 0, wait: 0, sweep: 0 }

  /** Calls waiting in all lanes. */
  get size(): number {
    return order.reduce((total, lane) => total + this.#lanes[lane].size, 0)
  }

  /** Calls that would go before one more in this lane. */
  ahead(lane: Lane): number {
    let total = 0
    for (const other of order) {
      total += this.#lanes[other].size
      if (other === lane) break
    }
    return total
  }

  add(lane: Lane, waiter: A): void {
    this.#lanes[lane].add(waiter)
  }

  remove(lane: Lane, waiter: A): void {
    this.#lanes[lane].delete(waiter)
  }

  /** Everybody who waits, in order of rank. */
  *[Symbol.iterator](): IterableIterator<A> {
    for (const lane of order) yield* this.#lanes[lane]
  }

  /**
   * Takes out the next one that `mayGo` lets go: by rank, but a lane passed over too often first. Lanes that may not go
   * are not counted as passed over.
   */
  take(mayGo: (lane: Lane) => boolean): A | undefined {
    const waiting = order.filter((lane) => this.#lanes[lane].size > 0)
    const starved = waiting.findLast((lane) => this.#passedOver[lane] >= patience[lane] && mayGo(lane))
    const chosen = starved ?? waiting.find(mayGo)
    if (chosen === undefined) return undefined
    for (const lane of waiting) this.#passedOver[lane] = lane === chosen ? 0 : this.#passedOver[lane] + 1
    const [waiter] = this.#lanes[chosen]
    if (waiter !== undefined) this.#lanes[chosen].delete(waiter)
    return waiter
  }
}
