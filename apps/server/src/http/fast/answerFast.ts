/**
 * The two requests that are asked most, answered at once: a node, and a page of nodes, asked for in the plainest form
 * there is. Whatever is not of that form gets no answer here and goes the whole way through the interface, which would
 * say the same: this decides nothing, it only costs less.
 */
import { pageSize, prefix } from "@berth/core/api/Routes"
import { Result } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { getNode, listNodes } from "../../world/nodes.ts"
import type { World } from "../../world/World.ts"
import { nodeText, pageText } from "./nodeJsonCache.ts"
import { successText } from "../successText.ts"

const nodesPath = `${prefix}/nodes/`

/** The reply to a request of a caller that may use the node endpoints, or `undefined` when it is not of the plain form. */
export const answerDirectly = (
  { method, url }: HttpServerRequest.HttpServerRequest,
  world: World,
  now: number
): HttpServerResponse.HttpServerResponse | undefined => {
  if (method !== "GET" || !url.startsWith(nodesPath)) return undefined
  const start = url.indexOf("?", nodesPath.length)
  const end = start < 0 ? url.length : start
  if (end > nodesPath.length) {
    const id = plainId(url.slice(nodesPath.length, end))
    const node = id === undefined ? undefined : getNode(world, id)
    return node === undefined || Result.isFailure(node) ? undefined : successText(nodeText(world, node.success, now))
  }
  const page = plainPage(url.slice(end + 1))
  return page === undefined ? undefined : successText(pageText(world, listNodes(world, page.number, page.size), now))
}

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
