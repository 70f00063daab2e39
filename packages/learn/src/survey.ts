/**
 * The reads that a probe sends, in order of what they are worth: each one decides a claim or two. What a later read asks for
 * follows from the replies before it.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import { type Exchange, idOf, listIn, query, recordsIn } from "./observe/Exchange.ts"
import { unknownPath } from "./observe/failures.ts"
import { isObject } from "./values.ts"

export interface Read {
  readonly path: string
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
}

const read = (path: string, query: Readonly<Record<string, string | number>> = {}): Read => ({
  path,
  query: Object.entries(query).map(([name, value]) => [name, String(value)] as const)
})

const nodes = "/nodes/"
const images = "/images/"

/** An id that no account has. */
const unknownId = 999_999_999

const first: ReadonlyArray<Read> = [
  read(nodes),
  read(images),
  read(nodes, { page_no: 1, per_page: 100 }),
  read(nodes, { page_no: 1, per_page: 101 }),
  read(`/nodes/${unknownId}/`),
  read(nodes, { page_no: 1, per_page: 2 }),
  read(nodes, { page_no: 2, per_page: 2 }),
  read(nodes, { page: 2, per_page: 2 }),
  read(nodes, { page: 1, page_no: 2, per_page: 2 }),
  // The same again: what lies between shows something only if nothing has changed.
  read(nodes, { page_no: 1, per_page: 2 }),
  read(nodes, { page_no: 2, per_page: 2 }),
  read(nodes, { page_no: 1_000_000, per_page: 100 }),
  read(nodes, { page_no: 0 }),
  read(nodes, { page_no: "abc" }),
  read("/images/saved-images/"),
  read(images, { image_type: "no-such-type" }),
  read(images, { os: "no-such-system" }),
  read(unknownPath),
  read("/nodes", { page_no: 1, per_page: 2 }),
  {
    path: nodes,
    query: [
      ["page_no", "1"],
      ["page_no", "2"],
      ["per_page", "2"]
    ]
  },
  read(nodes, { page_no: 1, per_page: "" }),
  read(nodes, { page_no: 1, project_id: "1" })
]

/** Nodes that are read by id, at most. */
const maxNodes = 10

const idsIn = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<number> =>
  Array.from(
    new Set(
      exchanges
        .filter(({ operation }) => operation === "nodes.list")
        .flatMap((exchange) => recordsIn(exchange).map(idOf))
        .filter(Number.isSafeInteger)
    )
  )

/**
 * What follows the longest page that was asked for: only where there is more was it shortened. By its own length, which is not capped. All are
 * asked for again, because a node that one of them lacks counts only if it was there before and after.
 */
const afterLongest = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<Read> => {
  const page = exchanges.find(
    (exchange) => exchange.operation === "nodes.list" && query(exchange, "per_page") === String(pageSize.maximum)
  )
  const length = (page && listIn(page)?.length) ?? 0
  if (length === 0) return []
  const next = read(nodes, { page_no: 2, per_page: length })
  const firstPages = [
    read(nodes),
    read(nodes, { page_no: 1, per_page: 100 }),
    read(nodes, { page_no: 1, per_page: 101 })
  ]
  return [next, ...firstPages, next]
}

/** The reads about the nodes and systems that the first ones showed. */
const following = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<Read> => {
  const ids = idsIn(exchanges)
  const rows = exchanges
    .filter(({ operation }) => operation === "images.list")
    .flatMap((exchange) => listIn(exchange) ?? [])
  const systems = rows.flatMap((row) =>
    isObject(row) && isObject(row["os"]) && typeof row["os"]["name"] === "string" ? [row["os"]["name"]] : []
  )
  // One whose other case is another text.
  const system = systems.find((name) => name !== "" && name !== swapped(name))
  return [
    ...afterLongest(exchanges),
    ...ids.slice(0, maxNodes).map((id) => read(`/nodes/${id}/`)),
    ...(system === undefined ? [] : [read(images, { os: system }), read(images, { os: swapped(system) })])
  ]
}

/** The same in the other case, which is no spelling that a service would have. */
const swapped = (name: string): string => (name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase())

/** The read that comes next, as far as `count` were sent; undefined where there is none. */
export const nextRead = (count: number, exchanges: ReadonlyArray<Exchange>): Read | undefined => {
  if (count < first.length) return first[count]
  const later = following(exchanges)
  return later[count - first.length]
}

/** Reads of the allowance alone, once everything else is known: a bucket shows itself by them. */
export const minReads = 40

export const cheapRead = (exchanges: ReadonlyArray<Exchange>): Read => {
  const [id] = idsIn(exchanges)
  return id === undefined ? read(nodes, { page_no: 1, per_page: 1 }) : read(`/nodes/${id}/`)
}
