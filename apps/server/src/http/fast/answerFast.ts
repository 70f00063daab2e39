/**
 * The fast path: answers the plainest requests for one node or for a page of nodes, without the router and the schemas.
 * All other requests go to their endpoints. An endpoint gives the same replies as the fast path.
 *
 * The gain is CPU time per request. Compared with a bare `node:http` that sends the same bytes (`bench`, decision
 * 0060), a list of 20 takes 1.7 times as long instead of 4.5 times, and a node 1.6 times instead of 2.4. The targets
 * are 2 and 2.5. The price is that this module defines the parameters of these two endpoints a second time. The tests
 * in `test/http/fast/` check that both paths give the same replies.
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

/** The reply to a plain request, if the caller may use the node endpoints; `undefined` for any other request. */
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
 * The page that a query asks for. `undefined` if the query has escapes, the parameter `page`, or a paging parameter that is
 * repeated or out of bounds.
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
  /** The version of the node table from which the body was made. It belongs to one world only. */
  readonly version: object
  /** The body is valid from the first instant (inclusive) to the second (exclusive). */
  readonly since: number
  readonly until: number
  readonly body: Uint8Array
}

/**
 * Caches up to `slots` bodies of all worlds together, because clients that poll ask for the same few bodies again and again.
 * Other bodies are built each time.
 */
class KeptBodies {
  readonly #kept: Array<Entry | undefined>
  /**
   * The last key for which each slot had no body. A body is cached only after two misses in a row, so a client that
   * walks through all pages replaces no cached body.
   */
  readonly #missed: Float64Array

  constructor(slots: number) {
    this.#kept = Array.from({ length: slots }, () => undefined)
    this.#missed = new Float64Array(slots)
  }

  /** The body for `key`, which is never 0. If it is not cached, `write` builds it from the nodes that `read` returns. */
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

/** Pages: at most 1 MB together. */
const pages = new KeptBodies(16)

/** Single nodes, with a few hundred bytes each: enough for the nodes that a test suite waits for at the same time. */
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
