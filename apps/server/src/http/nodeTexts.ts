/**
 * Nodes as the JSON text they are answered with. Making the text is most of the work of a reply and its outcome seldom
 * changes, so the texts made last are kept; how a node looks on the wire is `records.ts`'s business.
 */
import type { NodeRecord } from "../world/NodeRecord.ts"
import type { Phase } from "../lifecycle/NodeLife.ts"
import { phase, type World } from "../world/World.ts"
import { listedNode, nodeAttributes } from "./records.ts"

/**
 * How many texts a generation holds. Two generations of both shapes are kept, which bounds all texts of all worlds at
 * some 4 MB.
 */
const generationSize = 2_048

interface Kept {
  readonly phase: Phase
  readonly text: string
}

/**
 * Texts of one shape. A text is a function of the record, which is never changed in place, and of the phase it shows; when
 * a generation is full, what was not asked for during the last one is forgotten.
 */
class Texts {
  readonly #write: (world: World, node: NodeRecord, now: number) => unknown
  #young = new Map<NodeRecord, Kept>()
  #old = new Map<NodeRecord, Kept>()

  constructor(write: (world: World, node: NodeRecord, now: number) => unknown) {
    this.#write = write
  }

  of(world: World, node: NodeRecord, now: number): string {
    const shown = phase(world, node, now)
    const young = this.#young.get(node)
    if (young?.phase === shown) return young.text
    const old = this.#old.get(node)
    const kept = old?.phase === shown ? old : { phase: shown, text: JSON.stringify(this.#write(world, node, now)) }
    if (this.#young.size >= generationSize) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(node, kept)
    return kept.text
  }
}

const attributes = new Texts(nodeAttributes)
const rows = new Texts(listedNode)

/** The node as get-by-id shows it (interface.md §2.4). */
export const nodeText = (world: World, node: NodeRecord, now: number): string => attributes.of(world, node, now)

/** The nodes as the list shows them (interface.md §2.5). */
export const pageText = (world: World, nodes: ReadonlyArray<NodeRecord>, now: number): string =>
  `[${nodes.map((node) => rows.of(world, node, now)).join(",")}]`
