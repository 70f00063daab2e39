/**
 * One request and its reply as evidence, without credentials and with times in milliseconds. An exchange is the same whether
 * it comes from a HAR file, a journal or the probe.
 */
import { prefix } from "@berthkit/core/api/Routes"
import { hideInJson } from "@berthkit/core/domain/namedSecrets"
import { isSecretName } from "@berthkit/core/domain/secretName"
import { nodeIdOf, operationOf, type Operation } from "@berthkit/profile/operations"
import { isObject, type JsonObject } from "@berthkit/profile/values"

/** The body of a reply, as far as it was recorded. */
export type ReplyBody =
  | { readonly is: "json"; readonly value: unknown }
  | { readonly is: "text"; readonly text: string }
  | { readonly is: "empty" }
  /** The recording has no body, or only its beginning. */
  | { readonly is: "unknown" }

export interface Exchange {
  /** The account that sent the request: a number for each account in the evidence. */
  readonly account: number
  /** When the request was sent, in milliseconds since the epoch, by the recorder's clock. */
  readonly at: number
  readonly durationMillis: number
  readonly method: string
  /** The path of the whole URL, without the query. */
  readonly path: string
  readonly operation: Operation | undefined
  readonly nodeId: number | undefined
  /** The parameters of the query, without credentials. */
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  readonly request: unknown
  readonly status: number
  /** The headers by their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: ReplyBody
}

/** An exchange before its meaning is determined. */
export type Raw = Omit<Exchange, "account" | "operation" | "nodeId">

export const exchangeOf = (raw: Raw): Omit<Exchange, "account"> => ({
  ...raw,
  query: raw.query.filter(([name]) => !isSecretName(name)),
  request: hideInJson(raw.request),
  body: raw.body.is === "json" ? { is: "json", value: hideInJson(raw.body.value) } : raw.body,
  operation: operationOf(raw.method, raw.path),
  nodeId: nodeIdOf(raw.path)
})

/**
 * Whether a path belongs to the interface. Paths of other versions of the interface count, too, because Berth only assumes
 * that the service does not know them.
 */
export const isOfTheService = (path: string): boolean => path.startsWith(prefix.slice(0, -1))

export const query = (exchange: Exchange, name: string): string | undefined =>
  exchange.query.find(([given]) => given === name)?.[1]

export const json = ({ body }: Exchange): JsonObject | undefined =>
  body.is === "json" && isObject(body.value) ? body.value : undefined

/**
 * Whether the service did what was asked. HTTP 200 with the `code` of a failure does not count (assumption A3 in
 * docs/interface/assumptions.md).
 */
export const isSuccess = (exchange: Exchange): boolean => {
  if (exchange.status < 200 || exchange.status >= 300) return false
  const envelope = json(exchange)
  const code = Number(envelope?.["code"] ?? envelope?.["status_code"] ?? 200)
  return !(code >= 400) && envelope?.["errors"] !== true
}

/** Whether the service redirects the client, which is neither a success nor a failure. */
export const isRedirect = ({ status }: Exchange): boolean => status >= 300 && status < 400

/** Whether the service refuses this particular request. A failure of the service, a rate limit or a redirect is not a refusal. */
export const isRefusal = (exchange: Exchange): boolean =>
  !isSuccess(exchange) &&
  !isRedirect(exchange) &&
  ![401, 403, 429].includes(exchange.status) &&
  exchange.status < 500 &&
  exchange.status >= 200

/** The list in a reply, under `data` or another name; undefined if there is none. */
export const listIn = (exchange: Exchange): ReadonlyArray<unknown> | undefined => {
  if (exchange.body.is !== "json" || !isSuccess(exchange)) return undefined
  const { value } = exchange.body
  if (Array.isArray(value)) return value
  const key = listKey(exchange)
  return key === undefined || !isObject(value) ? undefined : (value[key] as ReadonlyArray<unknown>)
}

/** The key of the list in a reply. */
export const listKey = (exchange: Exchange): string | undefined => {
  const envelope = json(exchange)
  return envelope === undefined
    ? undefined
    : ["data", "images", "nodes", "results", "items"].find((name) => Array.isArray(envelope[name]))
}

/** The records of a reply: the records of its list, or its single record. */
export const recordsIn = (exchange: Exchange): ReadonlyArray<JsonObject> => {
  const list = listIn(exchange)
  if (list !== undefined) return list.filter(isObject)
  if (!isSuccess(exchange)) return []
  const envelope = json(exchange)
  const record = isObject(envelope?.["data"]) ? envelope["data"] : envelope
  return record !== undefined && "id" in record ? [record] : []
}

/** The id of a record, of any type. */
export const idOf = (record: JsonObject): number => Number(record["id"] ?? Number.NaN)

/** When the reply of an exchange arrived. */
export const endOf = ({ at, durationMillis }: Exchange): number => at + durationMillis

/**
 * The account and all parameters except paging. If two requests differ in any of these, they are about different nodes or
 * images.
 */
export const placeOf = ({ account, operation, query }: Exchange): string =>
  JSON.stringify([account, operation, query.filter(([name]) => !isPaging(name)).toSorted()])

/** Whether a parameter selects a page. */
export const isPaging = (name: string): boolean => name === "page_no" || name === "page" || name === "per_page"

/**
 * Whether the recorder kept all headers of the reply. Services date their replies, and a recorder that omits headers omits
 * the date, too. So if a reply has no date, a missing header proves nothing.
 */
export const hasAllHeaders = ({ headers }: Exchange): boolean => headers["date"] !== undefined

/** The time of the service's clock, from the header `Date`. */
export const serviceMillis = ({ headers }: Exchange): number | undefined => {
  const millis = Date.parse(headers["date"] ?? "")
  return Number.isNaN(millis) ? undefined : millis
}
