/**
 * The fast path: a node, and a page of nodes, asked for in the plainest form there is, answered without the router and the
 * schemas. Any other request gets no answer here and goes to its endpoint, which would answer the same.
 *
 * What this folder buys (`bench`, CPU per request over a bare `node:http` that answers the same bytes; decision 0060): a list of
 * 20 costs 1.7 times as much instead of 4.5, a node 1.6 instead of 2.4; the targets are 2 and 2.5. What it costs to keep: a
 * parameter of these two endpoints is stated here a second time. `test/http/fast/` holds both ways together.
 */
import { Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { pageSize, prefix } from "@berthkit/core/api/Routes"
import { getNode, listNodes } from "../../world/nodes.ts"
import { nextChange } from "../../lifecycle/NodeLife.ts"
import type { NodeRecord } from "../../world/NodeRecord.ts"
import type { World } from "../../world/World.ts"
import type { Exchange, Reply } from "../Exchange.ts"
import { listedNode, nodeAttributes } from "../records.ts"

const nodesPath = `${prefix}/nodes/`

/** The reply to a plain request of a caller that may use the node endpoints, `undefined` to any other. */
export const answerFast = ({
  arrivedAt: now,
  identity,
  request: { method, url },
  world
}: Pick<Exchange, "arrivedAt" | "identity" | "request" | "world">): Reply | undefined => {
  if (method !== "GET" || !url.startsWith(nodesPath) || identity._tag !== "Known" || identity.bySession)
    return undefined
  const start = url.indexOf("?", nodesPath.length)
  const end = start < 0 ? url.length : start
  if (end > nodesPath.length) {
    const id = plainId(url.slice(nodesPath.length, end))
    const node = id === undefined ? undefined : getNode(world, id)
    return node === undefined || Result.isFailure(node) ? undefined : jsonReply(nodeBody(world, node.success, now))
  }
  const page = plainPage(url.slice(end + 1))
  return page === undefined ? undefined : jsonReply(pageBody(world, page.number, page.size, now))
}

const json = { contentType: "application/json" } as const

const jsonReply = (body: Uint8Array): Reply => HttpServerResponse.uint8Array(body, json)

/** `123/`. */
const plainId = (rest: string): number | undefined =>
  /^[1-9]\d{0,14}\/$/.test(rest) ? Number(rest.slice(0, -1)) : undefined

interface Page {
  readonly number: number
  readonly size: number
}

/** The page a query without escapes asks for, when it names each paging parameter once at most and within its bounds. */
const plainPage = (query: string): Page | undefined => {
  if (/[%+#;]/.test(query)) return undefined
  let number: number | undefined
  let size: number | undefined
  for (const part of query.split("&")) {
    const at = part.indexOf("=")
    const name = at < 0 ? part : part.slice(0, at)
    if (name !== "page" && name !== "page_no" && name !== "per_page") continue
    const value = part.slice(at + 1)
    if (!/^[1-9]\d{0,8}$/.test(value)) return undefined
    if (name === "page_no" && number === undefined) number = Number(value)
    else if (name === "per_page" && size === undefined && Number(value) <= pageSize.maximum) size = Number(value)
    else return undefined
  }
  return { number: number ?? 1, size: size ?? pageSize.default }
}

/** A body that is kept. */
interface Entry {
  readonly key: number
  /** Of the table it was read from, and so of the world. */
  readonly version: object
  /** The instants at which it is true: from the first up to, not including, the second. */
  readonly since: number
  readonly until: number
  readonly body: Uint8Array
}

/**
 * Keeps up to `slots` bodies, of all worlds together: the few that are asked for again and again, because what polls a node or a list asks
 * for the same each time. Any other is written anew.
 */
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
