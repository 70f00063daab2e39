/**
 * The fast path: answers the plainest requests for one node or for a page of nodes without the router and the schemas. Any
 * other request gets no answer here and goes to its endpoint, which would give the same answer.
 *
 * The gain (`bench`, CPU per request relative to a bare `node:http` that answers the same bytes; decision 0060): a list of 20
 * costs 1.7 times as much instead of 4.5, a node 1.6 instead of 2.4; the targets are 2 and 2.5. The price: the parameters of
 * these two endpoints are stated here a second time. The tests in `test/http/fast/` check that both paths give the same
 * replies.
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

/** The reply to a plain request of a caller that may use the node endpoints; `undefined` for any other request. */
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

/** The id in `123/`. */
const plainId = (rest: string): number | undefined =>
  /^[1-9]\d{0,14}\/$/.test(rest) ? Number(rest.slice(0, -1)) : undefined

interface Page {
  readonly number: number
  readonly size: number
}

/**
 * The page that a query asks for, if the query has no escapes and names each paging parameter at most once and within its
 * bounds.
 */
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

/** A cached body. */
interface Entry {
  readonly key: number
  /** The version of the node table, and therefore of the world, that the body was made from. */
  readonly version: object
  /** The body is valid from the first instant (inclusive) to the second (exclusive). */
  readonly since: number
  readonly until: number
  readonly body: Uint8Array
}

/**
 * Caches up to `slots` bodies across all worlds. Pollers ask for the same few again and again; other bodies are built each
 * time.
 */
class KeptBodies {
  readonly #kept: Array<Entry | undefined>
  /**
   * The last key that missed in each slot. A body is cached on its second miss, so a client that walks through all pages evicts
   * nothing.
   */
  readonly #missed: Float64Array

  constructor(slots: number) {
    this.#kept = Array.from({ length: slots }, () => undefined)
    this.#missed = new Float64Array(slots)
  }

  /** The cached body for `key`, which is never 0. On a miss, `write` builds it from the nodes that `read` returns. */
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

/** A few hundred bytes each; enough for the nodes that a test suite waits for at once. */
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
