/**
 * Lists of nodes as evidence of paging: what each asks for, what is odd about that, and what it certainly lacks. Nodes come and go
 * between two lists, so that one list shows nothing of another, unless what they have in common was there before and after. A reply that is not dated
 * may have been given before.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import type { Situation } from "../Profile.ts"
import { isObject } from "../values.ts"
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

/** Lists by GET. What is refused, or sent elsewhere, without the last slash of its path may be so for that alone. */
export const lists = once((evidence) =>
  evidence.filter(
    (exchange) =>
      exchange.operation === "nodes.list" &&
      exchange.method === "GET" &&
      (exchange.path.endsWith("/") || isSuccess(exchange))
  )
)

/** What a list asks for; undefined for what it leaves out, and NaN where that is no whole number. */
export const asked = (exchange: Exchange) => {
  const read = (name: string): number | undefined => {
    const value = query(exchange, name)
    return value === undefined || value === "" ? undefined : /^-?\d+$/.test(value) ? Number(value) : Number.NaN
  }
  const [pageNo, alias, size] = [read("page_no"), read("page"), read("per_page")]
  const values = [alias, pageNo, size].filter((value) => value !== undefined)
  return { pageNo, alias, size, page: pageNo ?? alias ?? 1, values }
}

/** Parameters that other clients of the family send, and the interface has not. */
export const isUnknown = (name: string): boolean => name === "project_id" || name === "location"

/** The parameters besides those are none, or ask for what is given without them. */
export const isHarmless = ([name, value]: readonly [string, string]): boolean =>
  isUnknown(name) || (name === "page_no" && value === "1")

/** Accounts and parameters with which any list was given: there a refusal has another reason. */
const takenPlaces = once(
  (evidence) =>
    new Set(
      evidence.filter((exchange) => exchange.method === "GET" && isSuccess(exchange)).map((each) => placeOf(each))
    )
)

export const isTaken = (exchange: Exchange, evidence: Evidenced): boolean =>
  takenPlaces(evidence).has(placeOf(exchange))

/** Whether the same was given without the parameters that the interface has not. */
export const isTakenWithoutUnknown = (exchange: Exchange, evidence: Evidenced): boolean =>
  isTaken({ ...exchange, query: exchange.query.filter(([name]) => !isUnknown(name)) }, evidence)

/** What is odd about what a list asks for. A refusal shows what becomes of one oddity only if there is no other. */
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

/** Whether a list asks for a page as it should be asked for. */
export const isPlain = (exchange: Exchange, evidence: Evidenced): boolean => oddities(exchange, evidence).length === 0

export const idsOf = (exchange: Exchange): ReadonlyArray<number> =>
  listIn(exchange)?.map((record) => (isObject(record) ? idOf(record) : Number.NaN)) ?? []

/** A field of an envelope that counts all nodes. */
const totalOf = (exchange: Exchange): number => {
  const envelope = json(exchange) ?? {}
  const name = ["total_count", "total", "count"].find((each) => Number.isInteger(envelope[each]))
  return name === undefined ? 0 : (envelope[name] as number)
}

/** How many nodes there are, at most and at any time. */
export const maxNodes = once((evidence) =>
  lists(evidence).reduce(
    (most, exchange) => Math.max(most, totalOf(exchange)),
    new Set(lists(evidence).flatMap(idsOf)).size
  )
)

/** A moment of an exchange: what ended in the millisecond in which the next in the evidence began came before it. */
interface Moment {
  readonly millis: number
  /** The place of the exchange in the evidence. */
  readonly place: number
}

const places = once((evidence) => new Map(evidence.map((exchange, place) => [exchange, place])))

/** The beginning and the end of an exchange. */
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
  /** The end of the first list that has it, and the beginning of the last. */
  readonly from: Moment
  readonly to: Moment
}

/** How long each node was certainly there, by what was asked for. An id is never given again. */
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

/** Whether a list lacks nodes that were there all the while it was made, or says itself that there are more. */
const lacksNodes = (exchange: Exchange, evidence: Evidenced): boolean => {
  const ids = new Set(idsOf(exchange))
  if (totalOf(exchange) > ids.size) return true
  if (ids.has(Number.NaN) || !hasAllHeaders(exchange)) return false
  const [begin, end] = spanOf(exchange, evidence)
  const nodes = stays(evidence).get(placeOf(exchange)) ?? []
  return Array.from(nodes).some(([id, { from, to }]) => !ids.has(id) && isEarlier(from, begin) && isEarlier(end, to))
}

/** The length of a first page that is not all there is. */
export const lengthOfPart = (exchange: Exchange, evidence: Evidenced): number | undefined => {
  const length = listIn(exchange)?.length ?? 0
  return length > 0 && asked(exchange).page === 1 && lacksNodes(exchange, evidence) ? length : undefined
}

/** The same, of a page that is shorter than what was asked for. */
export const shortened = (exchange: Exchange, evidence: Evidenced): number | undefined => {
  const length = lengthOfPart(exchange, evidence)
  return length !== undefined && length < (asked(exchange).size ?? 0) ? length : undefined
}

const keyOf = (exchange: Exchange, page: number, size: number | undefined): string =>
  `${placeOf(exchange)} ${page} of ${size}`

/** The pages that have nodes and were asked for by `page_no`, by what was asked for. */
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

/** A page that was the same before a list and after it; undefined where that does not show. */
const steadyPage = (exchange: Exchange, page: number, size: number | undefined, evidence: Evidenced) => {
  const pages = plainPages(evidence).get(keyOf(exchange, page, size)) ?? []
  const [begin, end] = spanOf(exchange, evidence)
  const before = pages.findLast((each) => isEarlier(spanOf(each, evidence)[1], begin))
  const after = pages.find((each) => isEarlier(end, spanOf(each, evidence)[0]))
  return before === undefined || after === undefined || !sameIds(before, after) ? undefined : before
}

/** Two pages that differ, and were the same before a list and after it. */
export const steadyPages = (
  exchange: Exchange,
  [one, other]: readonly [number, number],
  size: number | undefined,
  evidence: Evidenced
) => {
  const [first, second] = [one, other].map((page) => steadyPage(exchange, page, size, evidence))
  return first === undefined || second === undefined || sameIds(first, second) ? undefined : ([first, second] as const)
}
