/**
 * When each node is due to be checked: a heap of (instant, id), earliest first. Whether a due node is really gone is decided
 * in `lifecycle/`. Instants are milliseconds since the epoch.
 */
export class DueQueue {
  readonly #heap: Array<{ readonly at: number; readonly id: number }> = []
  /** The earliest entry of each id: asking again for the same or a later instant adds nothing. */
  readonly #earliest = new Map<number, number>()

  /** When the first entry is due; infinite when there is none. */
  get nextAt(): number {
    return this.#heap[0]?.at ?? Number.POSITIVE_INFINITY
  }

  add(id: number, at: number): void {
    if (at === Number.POSITIVE_INFINITY || (this.#earliest.get(id) ?? Number.POSITIVE_INFINITY) <= at) return
    this.#earliest.set(id, at)
    const heap = this.#heap
    heap.push({ at, id })
    let child = heap.length - 1
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (!this.#swapIfLater(parent, child)) return
      child = parent
    }
  }

  /** Takes out the first entry that is due at `now`. */
  takeDue(now: number): number | undefined {
    const heap = this.#heap
    const first = heap[0]
    if (first === undefined || first.at > now) return undefined
    const last = heap.pop()!
    if (heap.length > 0) {
      heap[0] = last
      this.#sink()
    }
    if (this.#earliest.get(first.id) === first.at) this.#earliest.delete(first.id)
    return first.id
  }

  #sink(): void {
    const heap = this.#heap
    let parent = 0
    for (;;) {
      const left = 2 * parent + 1
      if (left >= heap.length) return
      const child = left + 1 < heap.length && isBefore(heap[left + 1]!, heap[left]!) ? left + 1 : left
      if (!this.#swapIfLater(parent, child)) return
      parent = child
    }
  }

  #swapIfLater(parent: number, child: number): boolean {
    const heap = this.#heap
    const [above, below] = [heap[parent]!, heap[child]!]
    if (!isBefore(below, above)) return false
    heap[parent] = below
    heap[child] = above
    return true
  }
}

/** By instant, then by id, so that the order never depends on how the heap was built. */
const isBefore = (a: { at: number; id: number }, b: { at: number; id: number }): boolean =>
  a.at < b.at || (a.at === b.at && a.id < b.id)
