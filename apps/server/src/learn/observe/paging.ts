/**
 * How the list of nodes is paged (A7, A24): sizes, order, what is behind the end, which parameter wins.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import { type Exchange, idOf, isRefusal, isSuccess, json, listIn, query } from "./Exchange.ts"
import { isObject } from "../../profile/values.ts"
import { type Evidenced, first, observation, type Observer } from "./Observation.ts"

/** Lists by GET. */
const lists = (evidence: Evidenced): Evidenced =>
  evidence.filter(({ method, operation }) => operation === "nodes.list" && method === "GET")

/** What a list asks for; undefined for what it leaves out, and NaN where that is no whole number. */
export const asked = (exchange: Exchange) => {
  const read = (name: string): number | undefined => {
    const value = query(exchange, name)
    return value === undefined || value === "" ? undefined : /^-?\d+$/.test(value) ? Number(value) : Number.NaN
  }
  return { pageNo: read("page_no"), alias: read("page"), size: read("per_page") }
}

const pageAsked = (exchange: Exchange): number => asked(exchange).pageNo ?? asked(exchange).alias ?? 1

const isTwice = (exchange: Exchange, name: string) => exchange.query.filter(([given]) => given === name).length > 1

/** A list that asks for a page as it should be asked for. */
const isPlain = (exchange: Exchange): boolean => {
  const { alias, pageNo, size } = asked(exchange)
  const fine = (value: number | undefined) => value === undefined || value >= 1
  return fine(alias) && fine(pageNo) && fine(size) && !isTwice(exchange, "page_no")
}

const idsOf = (exchange: Exchange): ReadonlyArray<number> | undefined =>
  listIn(exchange)?.map((record) => (isObject(record) ? idOf(record) : Number.NaN))

/** A field of an envelope that counts all nodes. */
const totalOf = (exchange: Exchange): number | undefined => {
  const envelope = json(exchange) ?? {}
  for (const name of ["total_count", "total", "count"])
    if (Number.isInteger(envelope[name])) return envelope[name] as number
  return undefined
}

/** How many nodes there are at least, as all lists together show. */
const atLeast = (evidence: Evidenced): number => {
  const ids = new Set(lists(evidence).flatMap((exchange) => idsOf(exchange) ?? []))
  return Math.max(ids.size, ...lists(evidence).map((exchange) => totalOf(exchange) ?? 0))
}

export const defaultSize: Observer<number> = (evidence) => {
  const total = atLeast(evidence)
  return first(lists(evidence), (exchange) => {
    const { alias, pageNo, size } = asked(exchange)
    const length = listIn(exchange)?.length
    if (length === undefined || size !== undefined || (pageNo ?? alias ?? 1) !== 1 || !isPlain(exchange))
      return undefined
    return length > 0 && total > length
      ? observation(exchange, length, `a page without per_page has ${length} of at least ${total} nodes`)
      : undefined
  })
}

/** A page of which more was asked for than came, though there is more. */
const shortened = (exchange: Exchange, total: number): number | undefined => {
  const { size } = asked(exchange)
  const length = listIn(exchange)?.length
  return size !== undefined &&
    length !== undefined &&
    length > 0 &&
    length < size &&
    pageAsked(exchange) === 1 &&
    total > length
    ? length
    : undefined
}

/** The longest page that can be asked for, as far as pages of up to 100 show; `refused` where one is refused. */
export const maxPageSize: Observer<number | "refused"> = (evidence) => {
  const total = atLeast(evidence)
  const asking = lists(evidence).filter((exchange) => {
    const { size } = asked(exchange)
    return isPlain(exchange) && size !== undefined && size >= 1 && size <= pageSize.maximum
  })
  return (
    first(asking, (exchange) => {
      const { size } = asked(exchange)
      const length = shortened(exchange, total)
      if (length !== undefined) return observation(exchange, length, `per_page=${size} gives ${length} nodes`)
      return isRefusal(exchange) && pageAsked(exchange) === 1
        ? observation(exchange, "refused" as const, `per_page=${size} is refused with ${exchange.status}`)
        : undefined
    }) ??
    first(asking, (exchange) =>
      asked(exchange).size === pageSize.maximum && isSuccess(exchange)
        ? observation(exchange, pageSize.maximum, "per_page=100 is not shortened")
        : undefined
    )
  )
}

/** What becomes of a page of more than 100. A number is the length that it was capped at. */
export const tooLarge: Observer<number | "given" | "refused"> = (evidence) => {
  const total = atLeast(evidence)
  return first(lists(evidence), (exchange) => {
    const { size } = asked(exchange)
    if (size === undefined || !(size > pageSize.maximum) || !isPlain(exchange)) return undefined
    if (isRefusal(exchange))
      return observation(exchange, "refused" as const, `per_page=${size} is refused with ${exchange.status}`)
    const length = shortened(exchange, total)
    if (length !== undefined) return observation(exchange, length, `per_page=${size} gives ${length} nodes`)
    return listIn(exchange) === undefined
      ? undefined
      : observation(exchange, "given" as const, `per_page=${size} is accepted`)
  })
}

const first1 = "first" as const
const refused = "refused" as const

/** A page number or size below 1. */
export const outOfBounds: Observer<number | "first"> = (evidence) =>
  first(lists(evidence), (exchange) => {
    const { alias, pageNo, size } = asked(exchange)
    if (![alias, pageNo, size].some((value) => value !== undefined && value < 1)) return undefined
    const says = exchange.query.map(([name, value]) => `${name}=${value}`).join("&")
    if (isRefusal(exchange)) return observation(exchange, exchange.status, `${says} is refused with ${exchange.status}`)
    return listIn(exchange) === undefined ? undefined : observation(exchange, first1, `${says} is accepted`)
  })

/** A page number or size that is no number. */
export const malformed: Observer<number | "first"> = (evidence) =>
  first(lists(evidence), (exchange) => {
    const { alias, pageNo, size } = asked(exchange)
    if (![alias, pageNo, size].some((value) => Number.isNaN(value))) return undefined
    if (isRefusal(exchange)) {
      return observation(exchange, exchange.status, `a page that is no number is refused with ${exchange.status}`)
    }
    return listIn(exchange) === undefined
      ? undefined
      : observation(exchange, first1, "a page that is no number is accepted")
  })

const isSorted = (ids: ReadonlyArray<number>, sign: 1 | -1): boolean =>
  ids.every((id, at) => at === 0 || (id - ids[at - 1]!) * sign > 0)

export const order: Observer<"ascending" | "descending" | "neither"> = (evidence) => {
  const found = lists(evidence).flatMap((exchange) => {
    const ids = idsOf(exchange)
    if (ids === undefined || ids.length < 2 || ids.some(Number.isNaN)) return []
    const value = isSorted(ids, 1) ? "ascending" : isSorted(ids, -1) ? "descending" : "neither"
    return [observation(exchange, value as "ascending" | "descending" | "neither", `the ids of a page: ${value}`)]
  })
  return found.find(({ value }) => value !== "ascending") ?? found[0]
}

export const pastTheEnd: Observer<"empty" | "last" | "refused"> = (evidence) => {
  const longest = Math.max(1, ...lists(evidence).map((exchange) => listIn(exchange)?.length ?? 0))
  const isEnd = new Set(
    lists(evidence).flatMap((exchange) => ((listIn(exchange)?.length ?? 1) === 0 ? [pageAsked(exchange)] : []))
  )
  const far = Math.max(100_000, atLeast(evidence) * 10, longest)
  return first(lists(evidence), (exchange) => {
    const page = pageAsked(exchange)
    if (!isPlain(exchange) || (page < far && !isEnd.has(page)) || page < 2) return undefined
    if (isRefusal(exchange)) return observation(exchange, refused, `page ${page} is refused with ${exchange.status}`)
    const length = listIn(exchange)?.length
    if (length === undefined) return undefined
    return length === 0
      ? observation(exchange, "empty" as const, `page ${page} is empty`)
      : observation(exchange, "last" as const, `page ${page}, behind the end, has ${length} nodes`)
  })
}

/** Keys of the envelope of a list that count. */
export const totals: Observer<ReadonlyArray<string>> = (evidence) => {
  const found = lists(evidence).flatMap((exchange) => {
    const envelope = json(exchange)
    if (envelope === undefined || listIn(exchange) === undefined) return []
    const names = Object.keys(envelope).filter((name) => /total|count|pages?$/i.test(name))
    return [observation(exchange, names, names.length === 0 ? "no totals" : `the envelope has ${names.join(", ")}`)]
  })
  return found.find(({ value }) => value.length > 0) ?? found[0]
}

const sameIds = (one: Exchange, other: Exchange): boolean => JSON.stringify(idsOf(one)) === JSON.stringify(idsOf(other))

/** The page of this number and size, asked for plainly by `page_no`. */
const plainPage = (evidence: Evidenced, page: number, size: number | undefined) =>
  lists(evidence).find((exchange) => {
    const given = asked(exchange)
    return (
      isPlain(exchange) &&
      given.alias === undefined &&
      (given.pageNo ?? 1) === page &&
      given.size === size &&
      (idsOf(exchange)?.length ?? 0) > 0
    )
  })

/** Whether `page` names the page where there is no `page_no`. */
export const alias: Observer<boolean> = (evidence) =>
  first(lists(evidence), (exchange) => {
    const { alias, pageNo, size } = asked(exchange)
    if (pageNo !== undefined || alias === undefined || !(alias > 1) || (idsOf(exchange)?.length ?? 0) === 0)
      return undefined
    const wanted = plainPage(evidence, alias, size)
    const firstPage = plainPage(evidence, 1, size)
    if (wanted === undefined || firstPage === undefined || sameIds(wanted, firstPage)) return undefined
    if (sameIds(exchange, wanted)) return observation(exchange, true, `page=${alias} gives page ${alias}`)
    return sameIds(exchange, firstPage) ? observation(exchange, false, `page=${alias} is ignored`) : undefined
  })

/** Which of `page_no` and `page` wins. */
export const winner: Observer<"page_no" | "page"> = (evidence) =>
  first(lists(evidence), (exchange) => {
    const { alias, pageNo, size } = asked(exchange)
    if (alias === undefined || pageNo === undefined || alias === pageNo) return undefined
    const byNumber = plainPage(evidence, pageNo, size)
    const byAlias = plainPage(evidence, alias, size)
    if (byNumber === undefined || byAlias === undefined || sameIds(byNumber, byAlias)) return undefined
    if (sameIds(exchange, byNumber)) return observation(exchange, "page_no" as const, "page_no wins over page")
    return sameIds(exchange, byAlias) ? observation(exchange, "page" as const, "page wins over page_no") : undefined
  })

/** A parameter that is given twice: the status of the refusal, or that it is accepted. */
export const twice: Observer<number | "accepted"> = (evidence) =>
  first(lists(evidence), (exchange) => {
    if (!isTwice(exchange, "page_no") && !isTwice(exchange, "per_page")) return undefined
    if (isRefusal(exchange))
      return observation(exchange, exchange.status, `a parameter given twice is ${exchange.status}`)
    return isSuccess(exchange)
      ? observation(exchange, "accepted" as const, "a parameter given twice is accepted")
      : undefined
  })

/** An empty parameter. */
export const emptyParameter: Observer<boolean> = (evidence) =>
  first(lists(evidence), (exchange) => {
    if (!exchange.query.some(([name, value]) => (name === "per_page" || name === "page_no") && value === ""))
      return undefined
    if (isRefusal(exchange)) return observation(exchange, false, `an empty parameter is ${exchange.status}`)
    return isSuccess(exchange) ? observation(exchange, true, "an empty parameter counts as none") : undefined
  })

/** A path without its trailing slash. */
export const noSlash: Observer<boolean> = (evidence) =>
  first(evidence, (exchange) => {
    if (exchange.method !== "GET" || exchange.operation === undefined || exchange.path.endsWith("/")) return undefined
    if (isSuccess(exchange)) return observation(exchange, true, "a path without its last slash is answered")
    const isNo = isRefusal(exchange) && exchange.operation !== "nodes.get"
    return isNo ? observation(exchange, false, `a path without its last slash is ${exchange.status}`) : undefined
  })
