/**
 * Pages of nodes as the bytes of their replies. The few that are asked for again and again are kept, because what polls a list
 * asks for the same page each time; any other page is written anew.
 */
import { pageSize } from "@berth/core/api/Routes"
import { nextChange } from "../../lifecycle/NodeLife.ts"
import { ByteWriter, encoded } from "../../transport/ByteWriter.ts"
import { listNodes } from "../../world/nodes.ts"
import type { World } from "../../world/World.ts"
import { writeListedNode } from "../records.ts"

/** How many pages are kept, of all worlds together: at most 1 MB. */
const slots = 16

interface Entry {
  readonly key: number
  /** Of the table it was read from, and so of the world. */
  readonly version: object
  /** The instants at which it is true: from the first up to, not including, the second. */
  readonly since: number
  readonly until: number
  readonly body: Uint8Array
}

const kept: Array<Entry | undefined> = Array.from({ length: slots }, () => undefined)

/** The page that each slot was last asked for in vain: it is kept the second time, so that a walk drives out nothing. */
const missed = new Float64Array(slots)

const writer = new ByteWriter()
const opening = encoded('{"message":"Success","code":200,"data":[')
const closing = encoded('],"errors":{}}')

/** The envelope of success around a page of nodes as the list shows them (interface.md §2.1, §2.5). */
export const pageBody = (world: World, number: number, size: number, now: number): Uint8Array => {
  const { version } = world.nodes
  const key = number * (pageSize.maximum + 1) + size
  const slot = key % slots
  const entry = kept[slot]
  const isTrue = entry !== undefined && entry.since <= now && now < entry.until
  if (isTrue && entry.key === key && entry.version === version) return entry.body
  const nodes = listNodes(world, number, size)
  writer.clear()
  writer.bytes(opening)
  nodes.forEach((node, index) => {
    if (index > 0) writer.ascii(",")
    writeListedNode(writer, world, node, now)
  })
  writer.bytes(closing)
  const body = writer.take()
  if (missed[slot] === key) {
    const { lifecycle, seed } = world.settings
    const changes = nodes.map((node) => nextChange(seed, lifecycle, node, now)?.at ?? Number.POSITIVE_INFINITY)
    kept[slot] = { key, version, since: now, until: Math.min(...changes), body }
  }
  missed[slot] = key
  return body
}
