/**
 * The fast path: a node, and a page of nodes, asked for in the plainest form there is, answered without the router and the
 * schemas. Any other request gets no answer here and goes to its endpoint, which would answer the same.
 *
 * What this folder buys (`bench`, CPU per request over a bare `node:http` that answers the same bytes; decision 0060): a list of
 * 20 costs 1.7 times as much instead of 4.5, a node 1.6 instead of 2.4; the targets are 2 and 2.5. What it costs to keep: a
 * parameter of these two endpoints is stated here a second time. `test/http/fast/` holds both ways together.
 */
import { pageSize, prefix } from "@berthkit/core/api/Routes"
import { Result } from "effect"
import { HttpServerResponse } from "effect/http"
import { getNode } from "../../world/nodes.ts"
import type { Exchange, Reply } from "../Exchange.ts"
import { nodeBody, pageBody } from "./keptBodies.ts"

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
