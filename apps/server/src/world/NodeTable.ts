/**
 * The nodes of a world, ordered by id. Ids ascend and are never reused. One sorted array: a page is a slice, and a node is
 * found at its offset from the first id, or by binary search if ids are missing.
 */
import type { NodeRecord } from "./NodeRecord.ts"

/** Above this number, one pass over the table is faster than removing nodes one by one. */
const minForPass = 20

/** The nodes of a world by id. */
export class NodeTable {
  #nodes: Array<NodeRecord> = []
  #nextId: number
  #version: object | undefined

  constructor(firstId: number) {
    this.#nextId = firstId
  }

  /** How many nodes there are. */
  get size(): number {
    return this.#nodes.length
  }

  /** The id the next node gets. */
  get nextId(): number {
    return this.#nextId
  }

  /** A token for the content of the table; it changes with every change. */
  get version(): object {
    return (this.#version ??= {})
  }

  /** Every node, by ascending id. */
  all(): ReadonlyArray<NodeRecord> {
    return this.#nodes
  }

  /** Up to `count` nodes by ascending id, after skipping `skip`. */
  slice(skip: number, count: number): ReadonlyArray<NodeRecord> {
    return this.#nodes.slice(skip, skip + count)
  }

  get(id: number): NodeRecord | undefined {
    const node = this.#nodes[this.#placeOf(id)]
    return node?.id === id ? node : undefined
  }

  /** Adds a node whose id is `nextId`. */
  add(node: NodeRecord): void {
    this.#nodes.push(node)
    this.#nextId += 1
    this.#version = undefined
  }

  /** Skips ids that were used before and whose nodes are gone: the next node gets `id`. */
  skipTo(id: number): void {
    this.#nextId = Math.max(this.#nextId, id)
  }

  /** Replaces the record with the same id. */
  replace(node: NodeRecord): void {
    this.#nodes[this.#placeOf(node.id)] = node
    this.#version = undefined
  }

  /** Adds a node under an id that was used before and is free. */
  restore(node: NodeRecord): void {
    this.#nodes.splice(this.#placeOf(node.id), 0, node)
    this.#version = undefined
  }

  remove(id: number): void {
    const place = this.#placeOf(id)
    if (this.#nodes[place]?.id !== id) return
    this.#nodes.splice(place, 1)
    this.#version = undefined
  }

  /** Removes many nodes in one pass. */
  removeAll(ids: ReadonlySet<number>): void {
    if (ids.size < minForPass) return ids.forEach((id) => this.remove(id))
    this.#nodes = this.#nodes.filter(({ id }) => !ids.has(id))
    this.#version = undefined
  }

  /** The index of an id, or where it would be inserted. */
  #placeOf(id: number): number {
    const nodes = this.#nodes
    // The index if no id before it is missing.
    const place = id - (nodes[0]?.id ?? id)
    if (nodes[place]?.id === id) return place
    let [low, high] = [0, Math.min(place, nodes.length)]
    while (low < high) {
      const middle = (low + high) >> 1
      if (nodes[middle]!.id < id) low = middle + 1
      else high = middle
    }
    return low
  }
}
