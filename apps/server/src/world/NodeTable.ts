/**
 * The nodes of a world, in order of their ids. Ids are handed out one after another and never again, so a node is found by
 * arithmetic, and a page by counting whole shelves and blocks instead of nodes. A block whose nodes are all gone gives its
 * memory back.
 */
import type { NodeRecord } from "./NodeRecord.ts"

/** Ids per block. */
const blockSize = 512

/** Blocks per shelf, so that a page deep in a million nodes is found in as few steps as the first. */
const shelfSize = 64

interface Block {
  readonly slots: Array<NodeRecord | undefined>
  live: number
}

export class NodeTable {
  readonly #firstId: number
  readonly #blocks: Array<Block | undefined> = []
  /** How many nodes there are on each shelf. */
  readonly #shelves: Array<number> = []
  /** No block before this one holds a node. */
  #firstBlock = 0
  #nextId: number
  #size = 0
  #version: object | undefined

  constructor(firstId: number) {
    this.#firstId = firstId
    this.#nextId = firstId
  }

  /** How many nodes there are. */
  get size(): number {
    return this.#size
  }

  /** The id the next node gets. */
  get nextId(): number {
    return this.#nextId
  }

  /** A token of what the table holds: another one after every change. */
  get version(): object {
    return (this.#version ??= {})
  }

  get(id: number): NodeRecord | undefined {
    const index = id - this.#firstId
    return this.#blocks[Math.floor(index / blockSize)]?.slots[index % blockSize]
  }

  /** Adds a node whose id is `nextId`. */
  add(node: NodeRecord): void {
    const index = this.#nextId - this.#firstId
    const at = Math.floor(index / blockSize)
    const block = (this.#blocks[at] ??= { slots: [], live: 0 })
    block.slots.push(node)
    this.#nextId += 1
    this.#count(block, at, 1)
  }

  #count(block: Block, at: number, change: 1 | -1): void {
    const shelf = Math.floor(at / shelfSize)
    while (this.#shelves.length <= shelf) this.#shelves.push(0)
    this.#shelves[shelf]! += change
    block.live += change
    this.#size += change
    this.#version = undefined
  }

  /** Passes over ids that were handed out before and whose nodes are gone: the next node gets `id`. */
  skipTo(id: number): void {
    while (this.#nextId < id) {
      const index = this.#nextId - this.#firstId
      const [at, offset] = [Math.floor(index / blockSize), index % blockSize]
      const end = Math.min(blockSize, offset + id - this.#nextId)
      // A block that is passed over as a whole is one whose nodes are all gone.
      if (end - offset < blockSize) (this.#blocks[at] ??= { slots: [], live: 0 }).slots.length = end
      this.#nextId += end - offset
    }
  }

  /** Puts a changed record in the place of the one with its id. */
  replace(node: NodeRecord): void {
    const index = node.id - this.#firstId
    this.#blocks[Math.floor(index / blockSize)]!.slots[index % blockSize] = node
    this.#version = undefined
  }

  /** Adds a node under an id that was in use before and is free. */
  restore(node: NodeRecord): void {
    const index = node.id - this.#firstId
    const at = Math.floor(index / blockSize)
    this.#blocks[at] ??= { slots: Array.from({ length: blockSize }, () => undefined), live: 0 }
    this.#blocks[at].slots[index % blockSize] = node
    this.#firstBlock = Math.min(this.#firstBlock, at)
    this.#count(this.#blocks[at], at, 1)
  }

  remove(id: number): void {
    const index = id - this.#firstId
    const at = Math.floor(index / blockSize)
    const block = this.#blocks[at]
    if (block?.slots[index % blockSize] === undefined) return
    block.slots[index % blockSize] = undefined
    this.#count(block, at, -1)
    const isFull = block.slots.length === blockSize
    if (block.live > 0 || !isFull) return
    this.#blocks[at] = undefined
    while (this.#firstBlock < this.#blocks.length && this.#blocks[this.#firstBlock] === undefined) this.#firstBlock += 1
  }

  /** Every node, in ascending id. */
  *all(): Generator<NodeRecord> {
    for (let at = this.#firstBlock; at < this.#blocks.length; at++) {
      for (const node of this.#blocks[at]?.slots ?? []) if (node !== undefined) yield node
    }
  }

  /**
   * Every node as it is now, in ascending id and in groups of up to 512, among them gaps. A copy of a million takes a few
   * milliseconds.
   */
  groups(): ReadonlyArray<ReadonlyArray<NodeRecord | undefined>> {
    return this.#blocks.flatMap((block) => (block === undefined ? [] : [block.slots.slice()]))
  }

  /** Up to `count` nodes in ascending id, leaving out the first `skip`. */
  slice(skip: number, count: number): ReadonlyArray<NodeRecord> {
    const page: Array<NodeRecord> = []
    let toSkip = skip
    for (let at = this.#firstBlock; at < this.#blocks.length && page.length < count; at++) {
      const onShelf = at % shelfSize === 0 ? (this.#shelves[at / shelfSize] ?? 0) : Number.POSITIVE_INFINITY
      if (toSkip >= onShelf) {
        toSkip -= onShelf
        at += shelfSize - 1
        continue
      }
      const block = this.#blocks[at]
      if (block === undefined) continue
      if (toSkip >= block.live) {
        toSkip -= block.live
        continue
      }
      for (const node of block.slots) {
        if (node === undefined) continue
        if (toSkip > 0) toSkip -= 1
        else page.push(node)
        if (page.length === count) break
      }
    }
    return page
  }
}
