/**
 * Two steps of a request for a server with a profile, the learned behaviour of a service. The inner step answers lists
 * with the service's paging and filters, and refuses requests that the service would refuse for their form. The outer
 * step rewrites each reply of the mock with the service's envelope, fields, failures and headers.
 */
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import { succeed } from "@berthkit/core/api/Envelope"
import { pageSize } from "@berthkit/core/api/Routes"
import { nodeIdOf, operationOf } from "@berthkit/profile/operations"
import type { Exchange, Reply, Step } from "../http/Exchange.ts"
import { pathOf } from "../http/fallback.ts"
import { listedNode } from "../http/records.ts"
import { successOf } from "../injection/replyBody.ts"
import { listNodes } from "../world/nodes.ts"
import type { World } from "../world/World.ts"
import type { Behaviour, Envelope, Failure, Profile, Situation } from "@berthkit/profile/Profile"
import { isObject, type JsonObject, part } from "@berthkit/profile/values"
import { knownImage, knownNode, writeRecord } from "./writeRecord.ts"

/** The total and the requested page of a list. */
interface Counts {
  readonly total: number
  readonly page: number
  readonly size: number
}

/** Passes the counts of a list from the inner step to the outer step. */
const countsOf = new WeakMap<Exchange, Counts>()
const situationOf = new WeakMap<Exchange, Situation>()

const queryOf = ({ request }: Exchange) => new URLSearchParams(request.url.split(/\?(.*)/s, 2)[1] ?? "")

const operationIn = (exchange: Exchange) => operationOf(exchange.request.method, pathOf(exchange.request))

/** A placeholder. The outer step replaces it by the service's reply in this situation. */
const refusal = (exchange: Exchange, situation: Situation): Reply => {
  situationOf.set(exchange, situation)
  return HttpServerResponse.jsonUnsafe(succeed([]))
}

/** Answers lists for a caller with good credentials. */
export const listsAsObserved =
  ({ behaviour }: Profile): Step =>
  (next) =>
  (exchange) => {
    if (exchange.identity._tag !== "Known") return next(exchange)
    const operation = operationIn(exchange)
    if (operation === undefined || exchange.request.method !== "GET") return next(exchange)
    const refused = refusalOf(behaviour, operation, pathOf(exchange.request), queryOf(exchange))
    if (refused !== undefined) return Effect.succeed(refusal(exchange, refused))
    const reply =
      operation === "nodes.list"
        ? nodePage(behaviour, exchange)
        : operation === "images.list"
          ? imageList(behaviour, exchange)
          : undefined
    return reply === undefined ? next(exchange) : Effect.succeed(reply)
  }

/** The parameters that the list of nodes may have (interface.md §4 notes 1 and 2, and the API key). */
const listParameters = new Set(["apikey", "page_no", "page", "per_page"])

const isTwice = (query: URLSearchParams): boolean =>
  ["page_no", "page", "per_page"].some((name) => query.getAll(name).length > 1)

/** Whether a paging parameter appears twice although the service does not accept that. */
const isRefusedTwice = ({ paging }: Behaviour, query: URLSearchParams): boolean =>
  paging.twice !== "accepted" && isTwice(query)

/**
 * The situation in which the service would refuse a GET of `operation`, although the mock would answer it; undefined if the
 * service would not refuse it. A service may refuse or redirect paths without their last slash, and parameters that are
 * unknown, empty or repeated.
 */
const refusalOf = (
  behaviour: Behaviour,
  operation: string,
  path: string,
  query: URLSearchParams
): Situation | undefined => {
  const { failures } = behaviour
  // Do not refuse this for a single node, because the profile does not show what the service does with its path without the slash.
  if (!path.endsWith("/") && operation !== "nodes.get" && failures["no-slash"] !== undefined) return "no-slash"
  if (operation !== "nodes.list") return undefined
  const names = Array.from(query.keys())
  if (failures["unknown-parameter"] !== undefined && names.some((name) => !listParameters.has(name)))
    return "unknown-parameter"
  if (failures["empty-parameter"] !== undefined && Array.from(query.values()).includes("")) return "empty-parameter"
  return failures["given-twice"] !== undefined && isRefusedTwice(behaviour, query) ? "given-twice" : undefined
}

type Rules = Behaviour["images"]

const same = (wanted: string, actual: unknown, { caseMatters = false }: Rules): boolean => {
  const text = String(actual ?? "")
  return caseMatters ? text === wanted : text.toLowerCase() === wanted.toLowerCase()
}

const sameNumber = (wanted: string, actual: unknown): boolean =>
  Number.parseFloat(String(actual ?? "")) === Number.parseFloat(wanted)

const filters: Readonly<Record<string, (row: JsonObject, wanted: string, rules: Rules) => boolean>> = {
  cpu: (row, wanted) => sameNumber(wanted, part(row, "specs")["cpu"]),
  ram: (row, wanted) => sameNumber(wanted, part(row, "specs")["ram"]),
  series: (row, wanted, rules) => same(wanted, part(row, "specs")["series"], rules),
  os: (row, wanted, rules) => same(wanted, part(row, "os")["name"], rules),
  version: (row, wanted, rules) => same(wanted, part(row, "os")["version"], rules)
}

/** The observed rows that match the query (interface.md §4 note 4, A18); undefined if the service refuses the query. */
const filterRows = (
  catalogue: ReadonlyArray<unknown>,
  query: URLSearchParams,
  rules: Rules
): ReadonlyArray<JsonObject> | undefined => {
  const type = query.get("image_type") ?? ""
  const isKnown = /^(public|private|)$/i.test(type)
  if (!isKnown && (rules.unknownType ?? "refused") === "refused") return undefined
  if (!isKnown && rules.unknownType === "empty") return []
  // There are no rows for private images, because the observed rows describe public ones.
  if (/^private$/i.test(type)) return []
  const rows = catalogue.filter(isObject)
  if (rules.narrows === false) return rows
  const found = rows.filter((row) =>
    Object.entries(filters).every(([name, isSame]) => {
      const wanted = query.get(name) ?? ""
      return wanted === "" || isSame(row, wanted, rules)
    })
  )
  return found.length === 0 && rules.noMatch === "rows" ? rows : found
}

/** A query value as a whole number: undefined if it is missing or empty, `malformed` if it is not a whole number. */
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
  if (size > maximum && paging.tooLarge !== "given" && paging.tooLarge !== "accepted") {
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

/** Rewrites every reply into the service's form. */
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

/** The situation of a request that the mock has refused; undefined if profiles have no such situation. */
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
  const { body, contentType = "application/json", retryAfter, status } = failure
  const id = /\/nodes\/([^/?]+)/.exec(exchange.request.url)?.[1] ?? ""
  const text = body.text ?? (body.json === undefined ? "" : JSON.stringify(body.json))
  const { "retry-after": wait, ...others } = headersWithoutBody(reply)
  const headers = status >= 300 && status < 400 ? { ...others, location: `${pathOf(exchange.request)}/` } : others
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
