/**
 * Nodes as the JSON text they are answered with. Making the text is most of the work of a reply and its outcome seldom
 * changes, so the texts made last are kept. `records.ts` has the records themselves.
 */
import { nextChange } from "../../lifecycle/NodeLife.ts"
import type { NodeRecord } from "../../world/NodeRecord.ts"
import type { World } from "../../world/World.ts"
import { listedNodeJson, nodeAttributes } from "../records.ts"

/** How many texts of a shape are kept, of all worlds together: some 2 MB. */
const slots = 4_096

interface Entry {
  readonly node: NodeRecord
  readonly text: string
  /** The instants at which it is true: from the first up to, not including, the second. */
  readonly since: number
  readonly until: number
}

/**
 * Texts of one shape, each in the slot of its id. A text follows from the record, which is never changed in place, and
 * stays true until the lifecycle has something else to show. It is kept when its node is asked for a second time: a walk
 * through a large fleet, which asks for every node once, drives out nothing.
 */
class JsonCache {
  readonly #write: (world: World, node: NodeRecord, now: number) => string
  readonly #kept: Array<Entry | undefined> = Array.from({ length: slots }, () => undefined)
  /** The id that each slot was last asked for in vain. */
  readonly #missed = new Float64Array(slots)

  constructor(write: (world: World, node: NodeRecord, now: number) => string) {
    this.#write = write
  }

  of(world: World, node: NodeRecord, now: number): string {
    const slot = node.id % slots
    const kept = this.#kept[slot]
    if (kept !== undefined && kept.node === node && kept.since <= now && now < kept.until) return kept.text
    const text = this.#write(world, node, now)
    if (this.#missed[slot] === node.id) {
      const { lifecycle, seed } = world.settings
      const until = nextChange(seed, lifecycle, node, now)?.at ?? Number.POSITIVE_INFINITY
      this.#kept[slot] = { node, text: inOnePiece(text), since: now, until }
    }
    this.#missed[slot] = node.id
    return text
  }
}

/** The same text, no longer strung together from parts, which every later copy would have to visit one by one. */
const inOnePiece = (text: string): string => Buffer.from(text).toString()

const attributes = new JsonCache((world, node, now) => JSON.stringify(nodeAttributes(world, node, now)))
const rows = new JsonCache(listedNodeJson)

/** The node as get-by-id shows it (interface.md §2.4). */
export const nodeJson = (world: World, node: NodeRecord, now: number): string => attributes.of(world, node, now)

/** The nodes as the list shows them (interface.md §2.5). */
export const pageJson = (world: World, nodes: ReadonlyArray<NodeRecord>, now: number): string =>
  `[${nodes.map((node) => rows.of(world, node, now)).join(",")}]`
