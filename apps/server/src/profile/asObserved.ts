/**
 * Two steps of a request under a profile. The inner one answers lists as the service pages and filters them; the outer one
 * writes each reply of the mock in the service's words: envelope, fields, failures, headers.
 */
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import { succeed } from "@berthkit/core/api/Envelope"
import { pageSize } from "@berthkit/core/api/Routes"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { nodeIdOf, operationOf } from "../faults/operations.ts"
import type { Exchange, Reply, Step } from "../http/Exchange.ts"
import { listedNode } from "../http/records.ts"
import { successOf } from "../injection/replyBody.ts"
import { listNodes } from "../world/nodes.ts"
import type { World } from "../world/World.ts"
import { filterRows } from "./filterRows.ts"
import { knownImage, knownNode } from "./known.ts"
import { isRefusedTwice, refusalOf } from "./refusalOf.ts"
import type { Behaviour, Envelope, Failure, Profile, Situation } from "./Profile.ts"
import { isObject, type JsonObject } from "./values.ts"
import { writeRecord } from "./writeRecord.ts"

/** Of a list: how many there are, and which page was asked for. */
interface Counts {
  readonly total: number
  readonly page: number
  readonly size: number
}

/** What the inner step leaves for the outer one. */
const countsOf = new WeakMap<Exchange, Counts>()
const situationOf = new WeakMap<Exchange, Situation>()

const queryOf = ({ request }: Exchange) => new URLSearchParams(request.url.split(/\?(.*)/s, 2)[1] ?? "")

const pathIn = ({ request }: Exchange): string => request.url.split("?", 1)[0]!

const operationIn = (exchange: Exchange) => operationOf(exchange.request.method, pathIn(exchange))

/** A reply that the outer step writes as the service's to this situation. */
const refusal = (exchange: Exchange, situation: Situation): Reply => {
  situationOf.set(exchange, situation)
  return HttpServerResponse.jsonUnsafe(succeed([]))
}

/** Lists, for a caller whose credentials are good. */
export const listsAsObserved =
  ({ behaviour }: Profile): Step =>
  (next) =>
  (exchange) => {
    if (exchange.identity._tag !== "Known") return next(exchange)
    const operation = operationIn(exchange)
    if (operation === undefined || exchange.request.method !== "GET") return next(exchange)
    const refused = refusalOf(behaviour, operation, pathIn(exchange), queryOf(exchange))
    if (refused !== undefined) return Effect.succeed(refusal(exchange, refused))
    const reply =
      operation === "nodes.list"
        ? nodePage(behaviour, exchange)
        : operation === "images.list"
          ? imageList(behaviour, exchange)
          : undefined
    return reply === undefined ? next(exchange) : Effect.succeed(reply)
  }

/** A query value as a whole number; undefined where there is none. */
const wholeNumber = (query: URLSearchParams, name: string): number | undefined | "malformed" => {
  const value = query.get(name)
  if (value === null || value === "") return undefined
  return /^-?\d{1,9}$/.test(value) ? Number(value) : "malformed"
}

const nodePage = (behaviour: Behaviour, exchange: Exchange): Reply | undefined => {
  const { paging } = behaviour
  const query = queryOf(exchange)
  if (isRefusedTwice(behaviour, query)) return undefined
  const alias = paging.pageAlias === false ? undefined : wholeNumber(query, "page")
  const number = wholeNumber(query, "page_no")
  let page = (paging.winner === "page" ? (alias ?? number) : (number ?? alias)) ?? 1
  const standard = paging.defaultSize ?? pageSize.default
  let size = wholeNumber(query, "per_page") ?? standard
  if (page === "malformed" || size === "malformed") {
    if (paging.malformed !== "first") return undefined
    page = page === "malformed" ? 1 : page
    size = size === "malformed" ? standard : size
  }
  if (page < 1 || size < 1) {
    if (paging.outOfBounds !== "first") return undefined
    page = Math.max(1, page)
    size = size < 1 ? standard : size
  }
  const maximum = paging.maximumSize ?? pageSize.maximum
  if (size > maximum && paging.tooLarge !== "given") {
    if (paging.tooLarge !== "capped") return undefined
    size = maximum
  }
  const { arrivedAt, world } = exchange
  const total = world.nodes.size
  const pages = Math.max(1, Math.ceil(total / size))
  if (page > pages && paging.pastTheEnd === "refused") return refusal(exchange, "past-the-end")
  if (page > pages && paging.pastTheEnd === "last") page = pages
  countsOf.set(exchange, { total, page, size })
  const nodes = (paging.order === "descending" ? descending : listNodes)(world, page, size)
  return HttpServerResponse.jsonUnsafe(succeed(nodes.map((node) => listedNode(world, node, arrivedAt))))
}

const descending = (world: World, page: number, size: number) => {
  const end = Math.max(0, world.nodes.size - (page - 1) * size)
  const start = Math.max(0, end - size)
  return world.nodes.slice(start, end - start).toReversed()
}

const imageList = ({ catalogue, failures, images }: Behaviour, exchange: Exchange): Reply | undefined => {
  if (catalogue === undefined) return undefined
  const rows = filterRows(catalogue, queryOf(exchange), images)
  if (rows?.length === 0 && images.noMatch === "refused" && failures["no-match"] !== undefined) {
    return refusal(exchange, "no-match")
  }
  return rows === undefined ? undefined : HttpServerResponse.jsonUnsafe(succeed(rows))
}

/** Every reply, in the service's words. */
export const writtenAsObserved =
  ({ behaviour }: Profile): Step =>
  (next) =>
  (exchange) =>
    Effect.mapEager(next(exchange), (reply) => withHeaders(behaviour, exchange, withBody(behaviour, exchange, reply)))

const withBody = (behaviour: Behaviour, exchange: Exchange, reply: Reply): Reply => {
  const situation = situationOf.get(exchange) ?? (reply.status >= 400 ? failureIn(exchange, reply) : undefined)
  if (situation !== undefined) return failed(behaviour.failures[situation], exchange, reply)
  const operation = operationIn(exchange)
  if (operation === undefined || reply.status >= 300 || reply.status === 204) return reply
  const envelope = successOf(reply)
  if (envelope === undefined) return reply
  const { data } = envelope
  const asObserved = (record: unknown) => (isObject(record) ? recordAs(behaviour, exchange, operation, record) : record)
  const written = Array.isArray(data) ? data.map(asObserved) : asObserved(data)
  const counts = countsOf.get(exchange)
  const body = enveloped(behaviour.envelopes[operation], written, envelope, reply.status, counts)
  return withJson(reply, body, behaviour.contentType)
}

const withJson = (reply: Reply, value: unknown, contentType = "application/json"): Reply =>
  HttpServerResponse.text(JSON.stringify(value), {
    status: reply.status,
    contentType,
    headers: headersWithoutBody(reply)
  })

const headersWithoutBody = ({ headers }: Reply): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")))

type Operation = keyof Behaviour["records"]

const recordAs = (
  { catalogue, records, statuses }: Behaviour,
  { world }: Exchange,
  operation: Operation,
  record: JsonObject
): unknown => {
  const fields = records[operation]
  if (operation === "images.list" && catalogue !== undefined) return record
  if (operation.startsWith("nodes.")) {
    const known = knownNode(world, record, statuses)
    return fields === undefined ? { ...record, status: known.status } : writeRecord(fields, known)
  }
  return fields === undefined ? record : writeRecord(fields, knownImage(world, record))
}

const enveloped = (
  envelope: Envelope | undefined,
  data: unknown,
  own: JsonObject,
  status: number,
  counts: Counts | undefined
): unknown => {
  if (envelope === undefined) return { ...own, data }
  if (envelope === "bare") return data
  const { page = 1, size = 1, total = Array.isArray(data) ? data.length : 1 } = counts ?? {}
  const values = { data, status, total, page, size, pages: Math.ceil(total / Math.max(1, size)) }
  return Object.fromEntries(
    envelope.map(({ is, name, value }) => [name, is === "constant" || is === "varying" ? value : values[is]])
  )
}

/** What went wrong with a request that the mock refuses. */
const failureIn = (exchange: Exchange, { status }: Reply): Situation | undefined => {
  const operation = operationIn(exchange)
  if (status === 401 || status === 403) return "unauthorized"
  if (status === 429) return "over-the-allowance"
  if (status === 404) return operation === undefined ? "unknown-path" : "unknown-node"
  if (operation === "nodes.list" && status === 400) return "malformed-query"
  if (operation === "nodes.list" && status === 422) {
    const size = wholeNumber(queryOf(exchange), "per_page")
    return typeof size === "number" && size > 0 ? "page-too-large" : "page-out-of-bounds"
  }
  if (operation === "images.list" && status === 422) return "unknown-image-type"
  return operation === "nodes.create" && status === 422 ? "invalid-create" : undefined
}

const failed = (failure: Failure | undefined, exchange: Exchange, reply: Reply): Reply => {
  if (failure === undefined) return reply
  const { body, contentType, retryAfter, status } = failure
  const id = /\/nodes\/([^/?]+)/.exec(exchange.request.url)?.[1] ?? ""
  const text = body.text ?? (body.json === undefined ? "" : JSON.stringify(body.json))
  const { "retry-after": wait, ...others } = headersWithoutBody(reply)
  const headers = status >= 300 && status < 400 ? { ...others, location: `${pathIn(exchange)}/` } : others
  return HttpServerResponse.text(text.replaceAll("{id}", String(nodeIdOf(exchange.request.url) ?? id)), {
    status,
    contentType,
    headers: wait === undefined || retryAfter === false ? headers : { ...headers, "retry-after": wait }
  })
}

const allowanceHeaders = [limitHeader, remainingHeader, resetHeader]

const withHeaders = ({ location, window }: Behaviour, exchange: Exchange, reply: Reply): Reply => {
  const isShown = (reply.status < 400 ? window.onSuccess : window.onFailure) !== false
  const gone = [...(isShown ? [] : allowanceHeaders), ...(location === false ? ["location"] : [])]
  const without = gone.reduce((left, name) => HttpServerResponse.removeHeader(left, name), reply)
  const reset = Number(without.headers[resetHeader])
  if (window.reset !== "seconds" || !Number.isFinite(reset)) return without
  const left = Math.max(0, reset - Math.floor(exchange.world.latest / 1000))
  return HttpServerResponse.setHeader(without, resetHeader, String(left))
}
