/**
 * The queue of calls that wait for allowance, in lanes (priority classes). It decides which call is next; the estimator decides when. Pure
 * data structure.
 */
import type { Lane } from "../../domain/Lane.ts"

const order: ReadonlyArray<Lane> = ["interactive", "mutation", "wait", "sweep"]

/** A lane that was passed over this often in a row goes next, so that no lane starves. */
const patience: Record<Lane, number> = { interactive: Number.POSITIVE_INFINITY, mutation: 8, wait: 16, sweep: 32 }

/** Share of the allowance that a lane leaves to the lanes before it. */
export const reserveOf: Record<Lane, number> = { interactive: 0, mutation: 0.01, wait: 0.015, sweep: 0.02 }

/** A place in the queue. */
export interface Place<A> {
  readonly lane: Lane
  readonly waiter: A
  readonly deadlineAt: number
  left: boolean
}

/**
 * One lane: a FIFO queue, and a heap by deadline over the same places. When a call leaves, its empty place stays in both until it reaches
 * the top or most places are empty.
 */
class Line<A> {
  size = 0
  #first = 0
  #places: Array<Place<A>> = []
  #heap: Array<Place<A>> = []

  add(place: Place<A>): void {
    this.size++
    this.#places.push(place)
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const above = (at - 1) >> 1
      if (heap[above]!.deadlineAt <= place.deadlineAt) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = place
  }

  leave(place: Place<A>): void {
    place.left = true
    this.size--
    if (this.#places.length < 2 * this.size + 64) return
    this.#places = this.#places.filter(({ left }) => !left)
    this.#first = 0
    // A sorted list is a valid heap.
    this.#heap = this.#places.toSorted((a, b) => (a.deadlineAt < b.deadlineAt ? -1 : 1))
  }

  first(): Place<A> | undefined {
    while (this.#places[this.#first]?.left) this.#first++
    return this.#places[this.#first]
  }

  soonestDeadline(): Place<A> | undefined {
    while (this.#heap[0]?.left) this.#pop()
    return this.#heap[0]
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below + 1 < heap.length && heap[below + 1]!.deadlineAt < heap[below]!.deadlineAt) below++
      if (below >= heap.length || heap[below]!.deadlineAt >= last.deadlineAt) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = last
  }
}

/** Every operation takes at most amortised logarithmic time. */
export class Queue<A> {
  readonly #lines: Record<Lane, Line<A>> = {
    interactive: new Line(),
    mutation: new Line(),
    wait: new Line(),
    sweep: new Line()
  }
  readonly #passedOver: Record<Lane, number> = { interactive: 0, mutation: 0, wait: 0, sweep: 0 }

  /** The number of calls that wait in all lanes. */
  get size(): number {
    return this.ahead("sweep")
  }

  /** The number of calls that go before a new one in this lane. */
  ahead(lane: Lane): number {
    let total = 0
    for (const other of order) {
      total += this.#lines[other].size
      if (other === lane) break
    }
    return total
  }

  /** Lanes with waiting calls, by rank. */
  lanes(): ReadonlyArray<Lane> {
    return order.filter((lane) => this.#lines[lane].size > 0)
  }

  add(lane: Lane, waiter: A, deadlineAt: number): Place<A> {
    const place: Place<A> = { lane, waiter, deadlineAt, left: false }
    this.#lines[lane].add(place)
    return place
  }

  /** Leaves a place; it may have been left already. */
  leave(place: Place<A>): void {
    if (!place.left) this.#lines[place.lane].leave(place)
  }

  /** Removes a call of a lane whose deadline is before an instant. */
  takeLate(lane: Lane, instant: number): Place<A> | undefined {
    const place = this.#lines[lane].soonestDeadline()
    if (place === undefined || place.deadlineAt >= instant) return undefined
    this.leave(place)
    return place
  }

  /**
   * Removes the next call. It comes from the first lane, by rank, that `mayGo` admits; a lane that was passed over too often comes before
   * the others. A lane that `mayGo` refuses does not count as passed over.
   */
  take(mayGo: (lane: Lane) => boolean): A | undefined {
    const ready = this.lanes().filter(mayGo)
    const chosen = ready.findLast((lane) => this.#passedOver[lane] >= patience[lane]) ?? ready[0]
    if (chosen === undefined) return undefined
    for (const lane of ready) this.#passedOver[lane] = lane === chosen ? 0 : this.#passedOver[lane] + 1
    const place = this.#lines[chosen].first()!
    this.leave(place)
    return place.waiter
  }
}
