/**
 * How the list of nodes is paged (A7, A24): sizes, order, what is behind the end, which parameter wins.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import { isObject } from "../../profile/values.ts"
import { all, claim, each, type Evidenced, first, is, once } from "./Claim.ts"
import { type Exchange, idOf, isRedirect, isRefusal, isSuccess, json, listIn, query } from "./Exchange.ts"

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

const isTwice = (exchange: Exchange, name: string) => exchange.query.filter(([given]) => given === name).length > 1

/** A list that asks for a page as it should be asked for. */
const isPlain = (exchange: Exchange): boolean =>
  asked(exchange).values.every((value) => value >= 1) && !isTwice(exchange, "page_no")

const idsOf = (exchange: Exchange): ReadonlyArray<number> =>
  listIn(exchange)?.map((record) => (isObject(record) ? idOf(record) : Number.NaN)) ?? []

/** A field of an envelope that counts all nodes. */
const totalOf = (exchange: Exchange): number => {
  const envelope = json(exchange) ?? {}
  const name = ["total_count", "total", "count"].find((each) => Number.isInteger(envelope[each]))
  return name === undefined ? 0 : (envelope[name] as number)
}

/** How many nodes there are at least, as all lists together show. */
const atLeast = once((evidence) =>
  lists(evidence).reduce(
    (most, exchange) => Math.max(most, totalOf(exchange)),
    new Set(lists(evidence).flatMap(idsOf)).size
  )
)

/** The length of a page of which more was asked for than came, though there is more. */
const shortened = (exchange: Exchange, evidence: Evidenced): number | undefined => {
  const { page, size = 0 } = asked(exchange)
  const length = listIn(exchange)?.length ?? 0
  return length > 0 && length < size && page === 1 && atLeast(evidence) > length ? length : undefined
}

/** Lists of up to 100. */
const upToMaximum = once((evidence) =>
  lists(evidence).filter((exchange) => {
    const { size } = asked(exchange)
    return isPlain(exchange) && size !== undefined && size >= 1 && size <= pageSize.maximum
  })
)

/** Parameters that other clients of the family send, and the interface has not. */
export const isUnknown = (name: string): boolean => name === "project_id" || name === "location"

/** The parameters besides those are none, or ask for what is given without them. */
export const isHarmless = ([name, value]: readonly [string, string]): boolean =>
  isUnknown(name) || (name === "page_no" && value === "1")

const isSorted = (ids: ReadonlyArray<number>, sign: 1 | -1): boolean =>
  ids.every((id, at) => at === 0 || (id - ids[at - 1]!) * sign > 0)

const sameIds = (one: Exchange, other: Exchange): boolean => JSON.stringify(idsOf(one)) === JSON.stringify(idsOf(other))

const pageKey = (page: number, size: number | undefined): string => `${page} of ${size}`

/** The pages that are empty: which page is behind the end depends on its size. */
const emptyPages = once(
  (evidence) =>
    new Set(
      lists(evidence)
        .filter((exchange) => listIn(exchange)?.length === 0)
        .map(asked)
        .map(({ page, size }) => pageKey(page, size))
    )
)

/** The first page of each number and size that has nodes, asked for plainly by `page_no`. */
const plainPages = once((evidence) => {
  const pages = new Map<string, Exchange>()
  for (const exchange of lists(evidence)) {
    const { alias, page, size } = asked(exchange)
    const key = pageKey(page, size)
    if (alias === undefined && !pages.has(key) && isPlain(exchange) && idsOf(exchange).length > 0)
      pages.set(key, exchange)
  }
  return pages
})

/** Two pages that differ; undefined where one was not asked for. */
const twoPages = (evidence: Evidenced, pages: readonly [number, number], size: number | undefined) => {
  const [one, other] = pages.map((page) => plainPages(evidence).get(pageKey(page, size)))
  return one === undefined || other === undefined || sameIds(one, other) ? undefined : ([one, other] as const)
}

const moreNodes = { needs: "more nodes" } as const

export const paging = {
  defaultSize: claim("A7", "A page without per_page has 20 nodes", {
    ...moreNodes,
    refutedBy: "A first page of another length, while there are more nodes",
    see: first(lists, (exchange, evidence) => {
      const { page, size } = asked(exchange)
      const length = listIn(exchange)?.length ?? 0
      const total = atLeast(evidence)
      return size === undefined && page === 1 && isPlain(exchange) && length > 0 && total > length
        ? [length, `a page without per_page has ${length} of at least ${total} nodes`]
        : undefined
    }),
    holds: is<number>(pageSize.default)
  }),
  maxPageSize: claim("A7", "per_page goes up to 100", {
    ...moreNodes,
    refutedBy: "A per_page of 1 to 100 that is shortened or refused",
    see: (evidence) => [
      ...first(upToMaximum, (exchange) => {
        const { page, size } = asked(exchange)
        const length = shortened(exchange, evidence)
        if (length !== undefined) return [length, `per_page=${size} gives ${length} nodes`]
        return isRefusal(exchange) && page === 1
          ? ["refused", `per_page=${size} is refused with ${exchange.status}`]
          : undefined
      })(evidence),
      // A shorter page may be all there is, and shows nothing.
      ...first(upToMaximum, (exchange) =>
        listIn(exchange)?.length === pageSize.maximum
          ? [pageSize.maximum, `per_page=${pageSize.maximum} gives ${pageSize.maximum} nodes`]
          : undefined
      )(evidence)
    ],
    holds: is<number | string>(pageSize.maximum)
  }),
  /** A number is the length that it was capped at. */
  tooLarge: claim("A7", "per_page beyond 100 is refused", {
    refutedBy: "per_page=101 that is capped or answered",
    see: first(lists, (exchange, evidence) => {
      const { size = 0 } = asked(exchange)
      if (!(size > pageSize.maximum) || !isPlain(exchange)) return undefined
      if (isRefusal(exchange)) return ["refused", `per_page=${size} is refused with ${exchange.status}`]
      const length = shortened(exchange, evidence)
      if (length !== undefined) return [length, `per_page=${size} gives ${length} nodes`]
      return listIn(exchange) && ["given", `per_page=${size} is accepted`]
    }),
    holds: is<number | string>("refused")
  }),
  outOfBounds: claim("A7", "A page or size below 1 is 422", {
    refutedBy: "page_no=0 with another status, or accepted",
    see: first(lists, (exchange) => {
      if (!asked(exchange).values.some((value) => value < 1)) return undefined
      const says = exchange.query.map(([name, value]) => `${name}=${value}`).join("&")
      if (isRefusal(exchange)) return [exchange.status, `${says} is refused with ${exchange.status}`]
      return listIn(exchange) && ["accepted", `${says} is accepted`]
    }),
    holds: is<number | string>(422)
  }),
  pastTheEnd: claim("A7", "Past the end a page is empty", {
    refutedBy: "A page behind the end that has nodes, or is refused",
    see: first(lists, (exchange, evidence) => {
      const { page, size } = asked(exchange)
      const isFar = page >= Math.max(100_000, atLeast(evidence) * 10)
      const isBehind = isFar || emptyPages(evidence).has(pageKey(page, size))
      if (!isPlain(exchange) || !isBehind || page < 2) return undefined
      if (isRefusal(exchange)) return ["refused", `page ${page} is refused with ${exchange.status}`]
      const length = listIn(exchange)?.length
      if (length === undefined) return undefined
      return length === 0
        ? ["empty", `page ${page} is empty`]
        : ["last", `page ${page}, behind the end, has ${length} nodes`]
    }),
    holds: is<string>("empty")
  }),
  order: claim("A7", "A list is in ascending id", {
    refutedBy: "A page whose ids do not ascend",
    see: each(lists, (exchange) => {
      const ids = idsOf(exchange)
      if (ids.length < 2 || ids.some(Number.isNaN)) return undefined
      const value = isSorted(ids, 1) ? "ascending" : isSorted(ids, -1) ? "descending" : "neither"
      return [value, `the ids of a page: ${value}`]
    }),
    holds: is<string>("ascending")
  }),
  totals: claim("A7", "A list has no totals", {
    refutedBy: "An envelope of a list with a total or a number of pages",
    see: each(lists, (exchange) => {
      const envelope = json(exchange)
      if (envelope === undefined || listIn(exchange) === undefined) return undefined
      const names = Object.keys(envelope).filter((name) => /total|count|pages?$/i.test(name))
      return [names.length === 0, names.length === 0 ? "no totals" : `the envelope has ${names.join(", ")}`]
    })
  }),
  alias: claim("A7", "page is an alias of page_no", {
    refutedBy: "page=2 that does not give the second page",
    see: first(lists, (exchange, evidence) => {
      const { alias = 1, pageNo, size } = asked(exchange)
      if (pageNo !== undefined || !(alias > 1) || idsOf(exchange).length === 0) return undefined
      const [wanted, firstPage] = twoPages(evidence, [alias, 1], size) ?? []
      if (wanted === undefined || firstPage === undefined) return undefined
      if (sameIds(exchange, wanted)) return [true, `page=${alias} gives page ${alias}`]
      return sameIds(exchange, firstPage) ? [false, `page=${alias} is ignored`] : undefined
    })
  }),
  winner: claim("A7", "page_no wins over page", {
    refutedBy: "A request with both that gives the page of page",
    see: first(lists, (exchange, evidence) => {
      const { alias, pageNo, size } = asked(exchange)
      if (alias === undefined || pageNo === undefined || alias === pageNo) return undefined
      const [byNumber, byAlias] = twoPages(evidence, [pageNo, alias], size) ?? []
      if (byNumber === undefined || byAlias === undefined) return undefined
      if (sameIds(exchange, byNumber)) return [true, "page_no wins over page"]
      return sameIds(exchange, byAlias) ? [false, "page wins over page_no"] : undefined
    })
  }),
  unknownParameters: claim("A14", "Unknown query parameters are ignored", {
    refutedBy: "A request with project_id or location, refused",
    see: first(all, (exchange) => {
      if (exchange.method !== "GET" || !exchange.query.some(([name]) => isUnknown(name))) return undefined
      if (isSuccess(exchange)) return [true, "an unknown parameter is ignored"]
      return isRefusal(exchange) && exchange.query.every(isHarmless)
        ? [false, `an unknown parameter is ${exchange.status}`]
        : undefined
    })
  }),
  noSlash: claim("A24", "The last slash of a path may be left out", {
    refutedBy: "A path without it, refused",
    see: first(all, (exchange) => {
      if (exchange.method !== "GET" || exchange.operation === undefined || exchange.path.endsWith("/")) return undefined
      if (isSuccess(exchange)) return [true, "a path without its last slash is answered"]
      const isNo = isRedirect(exchange) || (isRefusal(exchange) && exchange.operation !== "nodes.get")
      return isNo ? [false, `a path without its last slash is ${exchange.status}`] : undefined
    })
  }),
  emptyParameter: claim("A24", "An empty parameter counts as none", {
    refutedBy: "per_page= that is refused",
    see: first(lists, (exchange) => {
      if (!exchange.query.some(([name, value]) => (name === "per_page" || name === "page_no") && value === ""))
        return undefined
      if (isRefusal(exchange)) return [false, `an empty parameter is ${exchange.status}`]
      return isSuccess(exchange) ? [true, "an empty parameter counts as none"] : undefined
    })
  }),
  twice: claim("A24", "A parameter given twice is 400", {
    refutedBy: "A parameter given twice, with another status or accepted",
    see: first(lists, (exchange) => {
      if (!isTwice(exchange, "page_no") && !isTwice(exchange, "per_page")) return undefined
      if (isRefusal(exchange)) return [exchange.status, `a parameter given twice is ${exchange.status}`]
      return isSuccess(exchange) ? ["accepted", "a parameter given twice is accepted"] : undefined
    }),
    holds: is<number | string>(400)
  })
}
