/**
 * The nodes of a world, in order of their ids. Ids are handed out one after another and never again, so a node is found by
 * arithmetic, and a page by counting whole shelves and blocks instead of nodes. A block whose nodes are all gone gives its
 * memory back.
 */
import type { NodeRecord } from "./NodeRecord.ts"
import type { Steps } from "./Steps.ts"

/** Ids per block. */
const blockSize = 512

/** Blocks per shelf, so that a page deep in a million nodes is found in as few steps as the first. */
const shelfSize = 64

/** Blocks sorted by instant in one step: some milliseconds. */
const blocksPerStep = 32

interface Block {
  readonly slots: Array<NodeRecord | undefined>
  live: number
  /** No node of it was made before the first of these instants, none after the last. */
  from: number
  until: number
  /** When its nodes were made, in order; absent until a list of the past ends within it. */
  instants?: Float64Array | undefined
}

const newBlock = (slots: Array<NodeRecord | undefined>): Block => ({
  slots,
  live: 0,
  from: Number.POSITIVE_INFINITY,
  until: Number.NEGATIVE_INFINITY
})

const noteCreation = (block: Block, { createdAt }: NodeRecord): void => {
  block.from = Math.min(block.from, createdAt)
  block.until = Math.max(block.until, createdAt)
  block.instants = undefined
}

const instantsOf = ({ live, slots }: Block): Float64Array => {
  const instants = new Float64Array(live)
  let next = 0
  for (const node of slots) if (node !== undefined) instants[next++] = node.createdAt
  return instants.sort()
}

/** How many nodes of a block were made by an instant. */
const countMadeBy = (block: Block, instant: number): number => {
  if (block.until <= instant) return block.live
  if (block.from > instant) return 0
  const instants = (block.instants ??= instantsOf(block))
  let [low, high] = [0, instants.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (instants[middle]! <= instant) low = middle + 1
    else high = middle
  }
  return low
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
    const block = (this.#blocks[at] ??= newBlock([]))
    block.slots.push(node)
    noteCreation(block, node)
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
      if (end - offset < blockSize) (this.#blocks[at] ??= newBlock([])).slots.length = end
      this.#nextId += end - offset
    }
  }

  /** Puts a changed record in the place of the one with its id. */
  replace(node: NodeRecord): void {
    const index = node.id - this.#firstId
    const block = this.#blocks[Math.floor(index / blockSize)]!
    block.slots[index % blockSize] = node
    noteCreation(block, node)
    this.#version = undefined
  }

  /** Adds a node under an id that was in use before and is free. */
  restore(node: NodeRecord): void {
    const index = node.id - this.#firstId
    const at = Math.floor(index / blockSize)
    this.#blocks[at] ??= newBlock(Array.from({ length: blockSize }, () => undefined))
    this.#blocks[at].slots[index % blockSize] = node
    noteCreation(this.#blocks[at], node)
    this.#firstBlock = Math.min(this.#firstBlock, at)
    this.#count(this.#blocks[at], at, 1)
  }

  remove(id: number): void {
    const index = id - this.#firstId
    const at = Math.floor(index / blockSize)
    const block = this.#blocks[at]
    if (block?.slots[index % blockSize] === undefined) return
    block.slots[index % blockSize] = undefined
    block.instants = undefined
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

  /**
   * Prepares the two below for instants of a time, in steps: where a million nodes were made in no order it takes a quarter of a
   * second, once.
   */
  *prepareMadeBy(earliest: number, latest: number): Steps<void> {
    let sorted = 0
    for (const block of this.#blocks) {
      if (block === undefined || block.instants !== undefined) continue
      if (block.from === block.until || block.until <= earliest || block.from > latest) continue
      block.instants = instantsOf(block)
      if (++sorted % blocksPerStep === 0) yield
    }
  }

  /** How many nodes were made by an instant. */
  countMadeBy(instant: number): number {
    let count = 0
    for (const block of this.#blocks) if (block !== undefined) count += countMadeBy(block, instant)
    return count
  }

  /** The same as `slice`, of the nodes that were made by an instant: in a few thousand steps among a million. */
  sliceMadeBy(instant: number, skip: number, count: number): ReadonlyArray<NodeRecord> {
    const page: Array<NodeRecord> = []
    let toSkip = skip
    for (let at = this.#firstBlock; at < this.#blocks.length && page.length < count; at++) {
      const block = this.#blocks[at]
      const made = block === undefined ? 0 : countMadeBy(block, instant)
      if (toSkip >= made) {
        toSkip -= made
        continue
      }
      for (const node of block!.slots) {
        if (node === undefined || node.createdAt > instant) continue
        if (toSkip > 0) toSkip -= 1
        else page.push(node)
        if (page.length === count) break
      }
    }
    return page
  }
}
