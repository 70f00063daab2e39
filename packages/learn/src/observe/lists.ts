/**
 * Reads lists of nodes as evidence of paging: what each request asks for, what is unusual about it, and which nodes are
 * certainly missing from the reply. Nodes come and go, so a node is certainly missing from a list only if lists before
 * and after it show the node. A reply without a date does not count, because it may come from a cache.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import type { Situation } from "@berthkit/profile/Profile"
import { isObject } from "@berthkit/profile/values"
import { type Evidenced, once } from "./Claim.ts"
import {
  endOf,
  type Exchange,
  hasAllHeaders,
  idOf,
  isPaging,
  isSuccess,
  json,
  listIn,
  placeOf,
  query
} from "./Exchange.ts"

/**
 * Lists read with GET. If the path has no last slash, only a success counts: a refusal or redirect may be due to the missing
 * slash alone.
 */
export const lists = once((evidence) =>
  evidence.filter(
    (exchange) =>
      exchange.operation === "nodes.list" &&
      exchange.method === "GET" &&
      (exchange.path.endsWith("/") || isSuccess(exchange))
  )
)

/** The paging parameters of a list request: undefined if absent or empty, NaN if not a whole number. */
export const asked = (exchange: Exchange) => {
  const read = (name: string): number | undefined => {
    const value = query(exchange, name)
    return value === undefined || value === "" ? undefined : /^-?\d+$/.test(value) ? Number(value) : Number.NaN
  }
  const [pageNo, alias, size] = [read("page_no"), read("page"), read("per_page")]
  const values = [alias, pageNo, size].filter((value) => value !== undefined)
  return { pageNo, alias, size, page: pageNo ?? alias ?? 1, values }
}

/** Parameters that clients of the same provider send, but that the interface does not have. */
export const isUnknown = (name: string): boolean => name === "project_id" || name === "location"

/** Whether a parameter is unknown to the interface, or asks for the default. */
export const isHarmless = ([name, value]: readonly [string, string]): boolean =>
  isUnknown(name) || (name === "page_no" && value === "1")

/**
 * Accounts and parameters with which some request succeeded. If the service refuses another request with these, it has
 * another reason.
 */
const takenPlaces = once(
  (evidence) =>
    new Set(
      evidence.filter((exchange) => exchange.method === "GET" && isSuccess(exchange)).map((each) => placeOf(each))
    )
)

export const isTaken = (exchange: Exchange, evidence: Evidenced): boolean =>
  takenPlaces(evidence).has(placeOf(exchange))

/** Whether the same request succeeded without the parameters that the interface does not have. */
export const isTakenWithoutUnknown = (exchange: Exchange, evidence: Evidenced): boolean =>
  isTaken({ ...exchange, query: exchange.query.filter(([name]) => !isUnknown(name)) }, evidence)

/**
 * What is odd about a list request. A refusal shows how the service reacts to an oddity only if the request has no other
 * oddity.
 */
export const oddities = (exchange: Exchange, evidence: Evidenced): ReadonlyArray<Situation> => {
  const { size = 0, values } = asked(exchange)
  const paging = exchange.query.filter(([name]) => isPaging(name))
  const found: ReadonlyArray<readonly [Situation, boolean]> = [
    ["unknown-parameter", !isTaken(exchange, evidence)],
    ["given-twice", new Set(paging.map(([name]) => name)).size < paging.length],
    ["empty-parameter", paging.some(([, value]) => value === "")],
    ["malformed-query", values.some(Number.isNaN)],
    ["page-out-of-bounds", values.some((value) => value < 1)],
    ["page-too-large", size > pageSize.maximum]
  ]
  return found.flatMap(([situation, isThere]) => (isThere ? [situation] : []))
}

export const isOnly = (exchange: Exchange, situation: Situation, evidence: Evidenced): boolean =>
  oddities(exchange, evidence).join() === situation

/** Whether a list request has no oddity. */
export const isPlain = (exchange: Exchange, evidence: Evidenced): boolean => oddities(exchange, evidence).length === 0

export const idsOf = (exchange: Exchange): ReadonlyArray<number> =>
  listIn(exchange)?.map((record) => (isObject(record) ? idOf(record) : Number.NaN)) ?? []

/** The total in the envelope, under one of several names. */
const totalOf = (exchange: Exchange): number => {
  const envelope = json(exchange) ?? {}
  const name = ["total_count", "total", "count"].find((each) => Number.isInteger(envelope[each]))
  return name === undefined ? 0 : (envelope[name] as number)
}

/** The largest number of nodes that may have existed at any time. */
export const maxNodes = once((evidence) =>
  lists(evidence).reduce(
    (most, exchange) => Math.max(most, totalOf(exchange)),
    new Set(lists(evidence).flatMap(idsOf)).size
  )
)

/**
 * The moment at which an exchange began or ended. Of two moments in the same millisecond, the earlier one belongs to the
 * exchange that comes first in the evidence.
 */
interface Moment {
  readonly millis: number
  /** The position of the exchange in the evidence. */
  readonly place: number
}

const places = once((evidence) => new Map(evidence.map((exchange, place) => [exchange, place])))

/** The start and the end of an exchange. */
const spanOf = (exchange: Exchange, evidence: Evidenced): readonly [begin: Moment, end: Moment] => {
  const place = places(evidence).get(exchange) ?? Number.NaN
  return [
    { millis: exchange.at, place },
    { millis: endOf(exchange), place }
  ]
}

const isEarlier = (one: Moment, other: Moment): boolean =>
  one.millis < other.millis || (one.millis === other.millis && one.place < other.place)

interface Stay {
  /** `from` is the end of the first list that shows the node, `to` the start of the last such list. */
  readonly from: Moment
  readonly to: Moment
}

/**
 * The time in which each node certainly existed, by account and parameters. A node that two lists show existed in between,
 * because ids are never reused.
 */
const stays = once((evidence) => {
  const places = new Map<string, Map<number, Stay>>()
  for (const exchange of lists(evidence)) {
    if (!hasAllHeaders(exchange)) continue
    const place = placeOf(exchange)
    const nodes = places.get(place) ?? new Map<number, Stay>()
    places.set(place, nodes)
    const [begin, end] = spanOf(exchange, evidence)
    for (const id of idsOf(exchange)) {
      const { from = end, to = begin } = nodes.get(id) ?? {}
      nodes.set(id, { from: isEarlier(end, from) ? end : from, to: isEarlier(to, begin) ? begin : to })
    }
  }
  return places
})

/**
 * Whether a list leaves out nodes that existed during its whole request, or states a total that is higher than its number of
 * nodes.
 */
const lacksNodes = (exchange: Exchange, evidence: Evidenced): boolean => {
  const ids = new Set(idsOf(exchange))
  if (totalOf(exchange) > ids.size) return true
  if (ids.has(Number.NaN) || !hasAllHeaders(exchange)) return false
  const [begin, end] = spanOf(exchange, evidence)
  const nodes = stays(evidence).get(placeOf(exchange)) ?? []
  return Array.from(nodes).some(([id, { from, to }]) => !ids.has(id) && isEarlier(from, begin) && isEarlier(end, to))
}

/** The length of a first page that does not show all nodes. */
export const lengthOfPart = (exchange: Exchange, evidence: Evidenced): number | undefined => {
  const length = listIn(exchange)?.length ?? 0
  return length > 0 && asked(exchange).page === 1 && lacksNodes(exchange, evidence) ? length : undefined
}

/** The length of a first page that is shorter than requested although there are more nodes. */
export const shortened = (exchange: Exchange, evidence: Evidenced): number | undefined => {
  const length = lengthOfPart(exchange, evidence)
  return length !== undefined && length < (asked(exchange).size ?? 0) ? length : undefined
}

const keyOf = (exchange: Exchange, page: number, size: number | undefined): string =>
  `${placeOf(exchange)} ${page} of ${size}`

/** Pages that have nodes and were requested by `page_no`, grouped by account, parameters, page and size. */
const plainPages = once((evidence) =>
  Map.groupBy(
    lists(evidence).filter(
      (exchange) =>
        hasAllHeaders(exchange) &&
        asked(exchange).alias === undefined &&
        isPlain(exchange, evidence) &&
        (listIn(exchange)?.length ?? 0) > 0
    ),
    (exchange) => keyOf(exchange, asked(exchange).page, asked(exchange).size)
  )
)

export const sameIds = (one: Exchange, other: Exchange): boolean =>
  JSON.stringify(idsOf(one)) === JSON.stringify(idsOf(other))

/** A page that was the same before and after an exchange; undefined if it changed, or if nobody read it. */
const steadyPage = (exchange: Exchange, page: number, size: number | undefined, evidence: Evidenced) => {
  const pages = plainPages(evidence).get(keyOf(exchange, page, size)) ?? []
  const [begin, end] = spanOf(exchange, evidence)
  const before = pages.findLast((each) => isEarlier(spanOf(each, evidence)[1], begin))
  const after = pages.find((each) => isEarlier(end, spanOf(each, evidence)[0]))
  return before === undefined || after === undefined || !sameIds(before, after) ? undefined : before
}

/** Two pages that differ from each other, if neither changed during an exchange. */
export const steadyPages = (
  exchange: Exchange,
  [one, other]: readonly [number, number],
  size: number | undefined,
  evidence: Evidenced
) => {
  const [first, second] = [one, other].map((page) => steadyPage(exchange, page, size, evidence))
  return first === undefined || second === undefined || sameIds(first, second) ? undefined : ([first, second] as const)
}
