/**
 * The nodes of a world, in order of their ids, which are handed out one after another and never again. One sorted array: a page is
 * a slice of it, and a node is found where its id would be if none were missing, or by halves.
 */
import type { NodeRecord } from "./NodeRecord.ts"

/** From so many nodes on one pass over the table takes less than to take them out one by one. */
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

  /** A token of what the table holds: another one after every change. */
  get version(): object {
    return (this.#version ??= {})
  }

  /** Every node, in ascending id. */
  all(): ReadonlyArray<NodeRecord> {
    return this.#nodes
  }

  /** Up to `count` nodes in ascending id, leaving out the first `skip`. */
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

  /** Passes over ids that were handed out before and whose nodes are gone: the next node gets `id`. */
  skipTo(id: number): void {
    this.#nextId = Math.max(this.#nextId, id)
  }

  /** Puts a changed record in the place of the one with its id. */
  replace(node: NodeRecord): void {
    this.#nodes[this.#placeOf(node.id)] = node
    this.#version = undefined
  }

  /** Adds a node under an id that was in use before and is free. */
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

  /** Takes many nodes out in one pass. */
  removeAll(ids: ReadonlySet<number>): void {
    if (ids.size < minForPass) return ids.forEach((id) => this.remove(id))
    this.#nodes = this.#nodes.filter(({ id }) => !ids.has(id))
    this.#version = undefined
  }

  /** Where the node of an id is, or would be. */
  #placeOf(id: number): number {
    const nodes = this.#nodes
    // Where no id before it is missing.
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
