/**
 * The nodes of a world, in order of their ids. Ids are handed out one after another and never again, so a node is found by
 * arithmetic, and a page by counting whole shelves and blocks instead of nodes. A block holds the nodes that are there and no
 * places for others, so that ids far apart take no more memory than ids in a row.
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
  /** In ascending id. */
  readonly nodes: Array<NodeRecord>
  /** No node of it was made before the first of these instants, none after the last. */
  from: number
  until: number
  /** When its nodes were made, in order; absent until a list of the past ends within it. */
  instants?: Float64Array | undefined
}

const noteCreation = (block: Block, { createdAt }: NodeRecord): void => {
  block.from = Math.min(block.from, createdAt)
  block.until = Math.max(block.until, createdAt)
  block.instants = undefined
}

const instantsOf = ({ nodes }: Block): Float64Array => Float64Array.from(nodes, ({ createdAt }) => createdAt).sort()

/** How many nodes of a block were made by an instant. */
const countMadeBy = (block: Block, instant: number): number => {
  if (block.until <= instant) return block.nodes.length
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

/** The place of an id among nodes in ascending id, which begin with `firstId` or later: where it is, or would be. */
const placeOf = (nodes: ReadonlyArray<NodeRecord>, id: number, firstId: number): number => {
  // Where no id before it is missing.
  const place = id - firstId
  if (place < nodes.length && nodes[place]?.id === id) return place
  let [low, high] = [0, Math.min(place, nodes.length)]
  while (low < high) {
    const middle = (low + high) >> 1
    if (nodes[middle]!.id < id) low = middle + 1
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
    const at = this.#blockOf(id)
    const nodes = this.#blocks[at]?.nodes
    const node = nodes?.[this.#placeOf(nodes, id, at)]
    return node?.id === id ? node : undefined
  }

  /** Adds a node whose id is `nextId`. */
  add(node: NodeRecord): void {
    this.#insert(node)
    this.#nextId += 1
  }

  /** Passes over ids that were handed out before and whose nodes are gone: the next node gets `id`. */
  skipTo(id: number): void {
    this.#nextId = Math.max(this.#nextId, id)
  }

  /** Puts a changed record in the place of the one with its id. */
  replace(node: NodeRecord): void {
    const at = this.#blockOf(node.id)
    const block = this.#blocks[at]!
    block.nodes[this.#placeOf(block.nodes, node.id, at)] = node
    noteCreation(block, node)
    this.#version = undefined
  }

  /** Adds a node under an id that was in use before and is free. */
  restore(node: NodeRecord): void {
    this.#insert(node)
  }

  remove(id: number): void {
    const at = this.#blockOf(id)
    const block = this.#blocks[at]
    if (block === undefined) return
    const place = this.#placeOf(block.nodes, id, at)
    if (block.nodes[place]?.id !== id) return
    block.nodes.splice(place, 1)
    block.instants = undefined
    this.#count(at, -1)
    if (block.nodes.length > 0) return
    this.#blocks[at] = undefined
    while (this.#firstBlock < this.#blocks.length && this.#blocks[this.#firstBlock] === undefined) this.#firstBlock += 1
  }

  #blockOf(id: number): number {
    return Math.floor((id - this.#firstId) / blockSize)
  }

  #placeOf(nodes: ReadonlyArray<NodeRecord>, id: number, at: number): number {
    return placeOf(nodes, id, this.#firstId + at * blockSize)
  }

  #insert(node: NodeRecord): void {
    const at = this.#blockOf(node.id)
    // Without gaps it stays an array, and does not become a table of its own.
    while (this.#blocks.length <= at) this.#blocks.push(undefined)
    const block = this.#blocks[at]
    if (block === undefined) {
      this.#blocks[at] = { nodes: [node], from: node.createdAt, until: node.createdAt }
      this.#firstBlock = Math.min(this.#firstBlock, at)
    } else {
      const { nodes } = block
      if (nodes.at(-1)!.id < node.id) nodes.push(node)
      else nodes.splice(this.#placeOf(nodes, node.id, at), 0, node)
      noteCreation(block, node)
    }
    this.#count(at, 1)
  }

  #count(at: number, change: 1 | -1): void {
    const shelf = Math.floor(at / shelfSize)
    while (this.#shelves.length <= shelf) this.#shelves.push(0)
    this.#shelves[shelf]! += change
    this.#size += change
    this.#version = undefined
  }

  /** Every node, in ascending id, also where nodes come and go meanwhile. */
  *all(): Generator<NodeRecord> {
    for (let at = this.#firstBlock; at < this.#blocks.length; at++) {
      for (let place = 0; ;) {
        const node = this.#blocks[at]?.nodes[place]
        if (node === undefined) break
        yield node
        const nodes = this.#blocks[at]?.nodes ?? []
        place = nodes[place]?.id === node.id ? place + 1 : this.#placeOf(nodes, node.id + 1, at)
      }
    }
  }

  /** Every node as it is now, in ascending id and in groups of up to 512. A copy of a million takes a few milliseconds. */
  groups(): ReadonlyArray<ReadonlyArray<NodeRecord>> {
    const groups: Array<Array<NodeRecord>> = []
    for (const block of this.#blocks) {
      if (block === undefined) continue
      const last = groups.at(-1)
      if (last === undefined || last.length + block.nodes.length > blockSize) groups.push(block.nodes.slice())
      else for (const node of block.nodes) last.push(node)
    }
    return groups
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
      const nodes = this.#blocks[at]?.nodes
      if (nodes === undefined) continue
      for (let place = toSkip; place < nodes.length && page.length < count; place++) page.push(nodes[place]!)
      toSkip = Math.max(0, toSkip - nodes.length)
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
      for (const node of block!.nodes) {
        if (node.createdAt > instant) continue
        if (toSkip > 0) toSkip -= 1
        else page.push(node)
        if (page.length === count) break
      }
    }
    return page
  }
}
