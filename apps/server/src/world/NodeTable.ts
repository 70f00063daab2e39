/**
 * The nodes of a world in one array, sorted by id. Ids ascend and are never reused. A page is a slice of the array. A node
 * is found at its offset from the first id or, if ids are missing, by binary search.
 */
import type { NodeRecord } from "./NodeRecord.ts"

/** From this number of nodes on, one pass over the table is faster than removing the nodes one by one. */
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

  /** The id that the next node gets. */
  get nextId(): number {
    return this.#nextId
  }

  /** A token for the content of the table. Every change of the table makes another token. */
  get version(): object {
    return (this.#version ??= {})
  }

  /** Every node, by ascending id. */
  all(): ReadonlyArray<NodeRecord> {
    return this.#nodes
  }

  /** Up to `count` nodes by ascending id, after the first `skip` nodes. */
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

  /** Skips ids, such as those of nodes that are gone: the next node gets `id`, unless `nextId` is already higher. */
  skipTo(id: number): void {
    this.#nextId = Math.max(this.#nextId, id)
  }

  /** Replaces the record with the same id. */
  replace(node: NodeRecord): void {
    this.#nodes[this.#placeOf(node.id)] = node
    this.#version = undefined
  }

  /** Adds a node under an earlier id that is free now. */
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

  /** The index of an id, or the index at which it would be inserted. */
  #placeOf(id: number): number {
    const nodes = this.#nodes
    // This is the index if no id before it is missing.
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
