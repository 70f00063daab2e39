/**
 * Bodies of replies about nodes. The few that are asked for again and again are kept, because what polls a node or a list asks
 * for the same each time; any other is written anew.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import { nextChange } from "../../lifecycle/NodeLife.ts"
import type { NodeRecord } from "../../world/NodeRecord.ts"
import { listNodes } from "../../world/nodes.ts"
import type { World } from "../../world/World.ts"
import { listedNode, nodeAttributes } from "../records.ts"

interface Entry {
  readonly key: number
  /** Of the table it was read from, and so of the world. */
  readonly version: object
  /** The instants at which it is true: from the first up to, not including, the second. */
  readonly since: number
  readonly until: number
  readonly body: Uint8Array
}

/** Keeps up to `slots` bodies, of all worlds together. */
class KeptBodies {
  readonly #kept: Array<Entry | undefined>
  /** The key that each slot was last asked for in vain: it is kept the second time, so that a walk drives out nothing. */
  readonly #missed: Float64Array

  constructor(slots: number) {
    this.#kept = Array.from({ length: slots }, () => undefined)
    this.#missed = new Float64Array(slots)
  }

  /** The body of `key`, which is not 0; where it is not kept `write` makes it of the nodes that `read` gives. */
  get<A extends ReadonlyArray<NodeRecord>>(
    world: World,
    key: number,
    now: number,
    read: () => A,
    write: (nodes: A) => Uint8Array
  ): Uint8Array {
    const { version } = world.nodes
    const slot = key % this.#kept.length
    const entry = this.#kept[slot]
    const isTrue = entry !== undefined && entry.since <= now && now < entry.until
    if (isTrue && entry.key === key && entry.version === version) return entry.body
    const nodes = read()
    const body = write(nodes)
    if (this.#missed[slot] === key) {
      const { lifecycle, seed } = world.settings
      const changes = nodes.map((node) => nextChange(seed, lifecycle, node, now)?.at ?? Number.POSITIVE_INFINITY)
      this.#kept[slot] = { key, version, since: now, until: Math.min(...changes), body }
    }
    this.#missed[slot] = key
    return body
  }
}

/** At most 1 MB. */
const pages = new KeptBodies(16)

/** Some hundred bytes each: those that a test suite waits for at a time. */
const nodes = new KeptBodies(256)

const utf8 = new TextEncoder()

/** The envelope of success (interface.md §2.1). */
const bodyOf = (data: unknown): Uint8Array =>
  utf8.encode(`{"message":"Success","code":200,"data":${JSON.stringify(data)},"errors":{}}`)

/** A page of nodes as the list shows them (interface.md §2.5). */
export const pageBody = (world: World, number: number, size: number, now: number): Uint8Array =>
  pages.get(
    world,
    number * (pageSize.maximum + 1) + size,
    now,
    () => listNodes(world, number, size),
    (nodes) => bodyOf(nodes.map((node) => listedNode(world, node, now)))
  )

/** One node (interface.md §2.4). */
export const nodeBody = (world: World, node: NodeRecord, now: number): Uint8Array =>
  nodes.get(
    world,
    node.id,
    now,
    () => [node] as const,
    ([node]) => bodyOf(nodeAttributes(world, node, now))
  )
