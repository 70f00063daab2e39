/**
 * How the service pages the list of nodes (assumptions A7, A24 in docs/interface/assumptions.md): sizes, order, pages past
 * the end, and which of two parameters it follows.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import { all, claim, each, first, is, once } from "./Claim.ts"
import { type Exchange, isPaging, isRedirect, isRefusal, isSuccess, json, listIn } from "./Exchange.ts"
import {
  asked,
  idsOf,
  isHarmless,
  isOnly,
  isPlain,
  isTaken,
  isTakenWithoutUnknown,
  isUnknown,
  lengthOfPart,
  lists,
  maxNodes,
  sameIds,
  shortened,
  steadyPages
} from "./lists.ts"

/** Lists with a size of up to 100. */
const upToMaximum = once((evidence) =>
  lists(evidence).filter((exchange) => isPlain(exchange, evidence) && asked(exchange).size !== undefined)
)

const isSorted = (ids: ReadonlyArray<number>, sign: 1 | -1): boolean =>
  ids.every((id, at) => at === 0 || (id - ids[at - 1]!) * sign > 0)

/** Whether a parameter may sort or filter the nodes. */
const isArranged = ({ query }: Exchange): boolean => query.some(([name]) => !isPaging(name) && !isUnknown(name))

/** A list request whose parameters only select a page that may exist. */
const isOrdinary = ({ operation, query }: Exchange): boolean =>
  ["nodes.list", "images.list", "images.saved"].includes(operation ?? "") &&
  query.every(([name, value]) => /^(page_no|per_page)$/.test(name) && /^[1-9]\d?$/.test(value)) &&
  new Set(query.map(([name]) => name)).size === query.length

const moreNodes = { needs: "more nodes" } as const

export const paging = {
  /** The observed length, or `more` if the page is longer than the default and may hold all nodes. */
  defaultSize: claim("A7", "A page without per_page has 20 nodes", {
    ...moreNodes,
    refutedBy: "A first page of another length although there are more nodes, or a longer page",
    see: first(lists, (exchange, evidence) => {
      if (asked(exchange).size !== undefined || !isPlain(exchange, evidence) || isArranged(exchange)) return undefined
      const length = lengthOfPart(exchange, evidence)
      if (length !== undefined) return [length, `a page without per_page has ${length} nodes, and there are more`]
      const { length: all = 0 } = listIn(exchange) ?? []
      return all > pageSize.default ? ["more", `a page without per_page has ${all} nodes`] : undefined
    }),
    holds: is<number | string>(pageSize.default)
  }),
  maxPageSize: claim("A7", "per_page may be up to 100", {
    ...moreNodes,
    refutedBy: "A per_page of 1 to 100 that the service caps or refuses",
    see: (evidence) => [
      ...first(upToMaximum, (exchange) => {
        const { page, size } = asked(exchange)
        const length = shortened(exchange, evidence)
        if (length !== undefined) return [length, `per_page=${size} returns ${length} nodes`]
        return isRefusal(exchange) && page === 1 && isTaken(exchange, evidence)
          ? ["refused", `per_page=${size} is refused with ${exchange.status}`]
          : undefined
      })(evidence),
      // A shorter page may hold all nodes, so it proves nothing.
      ...first(upToMaximum, (exchange) =>
        listIn(exchange)?.length === pageSize.maximum
          ? [pageSize.maximum, `per_page=${pageSize.maximum} returns ${pageSize.maximum} nodes`]
          : undefined
      )(evidence)
    ],
    holds: is<number | string>(pageSize.maximum)
  }),
  /**
   * A number is the length at which the service caps the page. `accepted` means that the reply does not show whether there
   * is a cap, because at most 100 nodes came.
   */
  tooLarge: claim("A7", "per_page above 100 is refused", {
    refutedBy: "per_page=101 that the service caps or accepts",
    see: first(lists, (exchange, evidence) => {
      const { size = 0 } = asked(exchange)
      if (!isOnly(exchange, "page-too-large", evidence)) return undefined
      if (isRefusal(exchange)) return ["refused", `per_page=${size} is refused with ${exchange.status}`]
      const length = shortened(exchange, evidence)
      if (length !== undefined) return [length, `per_page=${size} returns ${length} nodes`]
      const given = listIn(exchange)?.length
      if (given === undefined) return undefined
      return [given > pageSize.maximum ? "given" : "accepted", `per_page=${size} is accepted`]
    }),
    holds: is<number | string>("refused")
  }),
  outOfBounds: claim("A7", "A page or size below 1 is 422", {
    refutedBy: "page_no=0, which returns another status or is accepted",
    see: first(lists, (exchange, evidence) => {
      if (!isOnly(exchange, "page-out-of-bounds", evidence)) return undefined
      const says = exchange.query.map(([name, value]) => `${name}=${value}`).join("&")
      if (isRefusal(exchange)) return [exchange.status, `${says} is refused with ${exchange.status}`]
      return listIn(exchange) && ["accepted", `${says} is accepted`]
    }),
    holds: is<number | string>(422)
  }),
  pastTheEnd: claim("A7", "A page past the end is empty", {
    refutedBy: "A page past the end that has nodes or is refused",
    see: first(lists, (exchange, evidence) => {
      const { page } = asked(exchange)
      if (page < 2 || !isPlain(exchange, evidence)) return undefined
      const isFar = page >= Math.max(100_000, maxNodes(evidence) * 10)
      // Only an empty page proves that it is past the end, because the number of pages may have changed in the meantime. A page number that
      // is far too high needs no proof.
      if (!isFar && listIn(exchange)?.length !== 0) return undefined
      if (isRefusal(exchange)) return ["refused", `page ${page} is refused with ${exchange.status}`]
      const length = listIn(exchange)?.length
      if (length === undefined) return undefined
      return length === 0
        ? ["empty", `page ${page} is empty`]
        : ["last", `page ${page}, past the end, has ${length} nodes`]
    }),
    holds: is<string>("empty")
  }),
  order: claim("A7", "A list is sorted by ascending id", {
    refutedBy: "A page whose ids do not ascend",
    see: each(lists, (exchange) => {
      const ids = idsOf(exchange)
      if (isArranged(exchange) || ids.length < 2 || ids.some(Number.isNaN)) return undefined
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
    refutedBy: "page=2 that does not return the second page",
    see: first(lists, (exchange, evidence) => {
      const { alias = 1, pageNo, size } = asked(exchange)
      if (pageNo !== undefined || !(alias > 1) || idsOf(exchange).length === 0) return undefined
      const [wanted, firstPage] = steadyPages(exchange, [alias, 1], size, evidence) ?? []
      if (wanted === undefined || firstPage === undefined) return undefined
      if (sameIds(exchange, wanted)) return [true, `page=${alias} returns page ${alias}`]
      return sameIds(exchange, firstPage) ? [false, `page=${alias} is ignored`] : undefined
    })
  }),
  winner: claim("A7", "page_no wins over page", {
    refutedBy: "A request with both that returns the page of the parameter page",
    see: first(lists, (exchange, evidence) => {
      const { alias, pageNo, size } = asked(exchange)
      if (alias === undefined || pageNo === undefined || alias === pageNo) return undefined
      const [byNumber, byAlias] = steadyPages(exchange, [pageNo, alias], size, evidence) ?? []
      if (byNumber === undefined || byAlias === undefined) return undefined
      if (sameIds(exchange, byNumber)) return [true, "page_no wins over page"]
      return sameIds(exchange, byAlias) ? [false, "page wins over page_no"] : undefined
    })
  }),
  unknownParameters: claim("A14", "Unknown query parameters are ignored", {
    refutedBy: "A request with project_id or location that the service refuses",
    see: first(all, (exchange, evidence) => {
      if (exchange.method !== "GET" || !exchange.query.some(([name]) => isUnknown(name))) return undefined
      if (isSuccess(exchange)) return [true, "an unknown parameter is ignored"]
      const { nodeId, path } = exchange
      const isElseRight = nodeId === undefined && path.endsWith("/") && exchange.query.every(isHarmless)
      return isRefusal(exchange) && isElseRight && isTakenWithoutUnknown(exchange, evidence)
        ? [false, `an unknown parameter is ${exchange.status}`]
        : undefined
    })
  }),
  noSlash: claim("A24", "A path works without its last slash", {
    refutedBy: "A path without its last slash that the service refuses",
    see: first(all, (exchange, evidence) => {
      if (exchange.method !== "GET" || exchange.operation === undefined || exchange.path.endsWith("/")) return undefined
      if (isSuccess(exchange)) return [true, "a path without its last slash works"]
      const isNo = isRedirect(exchange) || (isRefusal(exchange) && isOrdinary(exchange) && isTaken(exchange, evidence))
      return isNo ? [false, `a path without its last slash is ${exchange.status}`] : undefined
    })
  }),
  emptyParameter: claim("A24", "An empty parameter counts as absent", {
    refutedBy: "per_page= that the service refuses",
    see: first(lists, (exchange, evidence) => {
      if (!isOnly(exchange, "empty-parameter", evidence)) return undefined
      if (isRefusal(exchange)) return [false, `an empty parameter is ${exchange.status}`]
      return isSuccess(exchange) ? [true, "an empty parameter counts as absent"] : undefined
    })
  }),
  twice: claim("A24", "A parameter given twice is 400", {
    refutedBy: "A parameter given twice, which returns another status or is accepted",
    see: first(lists, (exchange, evidence) => {
      if (!isOnly(exchange, "given-twice", evidence)) return undefined
      if (isRefusal(exchange)) return [exchange.status, `a parameter given twice is ${exchange.status}`]
      return isSuccess(exchange) ? ["accepted", "a parameter given twice is accepted"] : undefined
    }),
    holds: is<number | string>(400)
  })
}
