/**
 * The reads that a probe sends, the most valuable first. Each read decides a claim or two. Later reads depend on the replies
 * to earlier ones.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import { type Exchange, idOf, listIn, query, recordsIn } from "./observe/Exchange.ts"
import { unknownPath } from "./observe/failures.ts"
import { isObject } from "@berthkit/profile/values"

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
  // The probe repeats this read, because the replies in between prove something only if this reply is still the same.
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

/** Maximum number of nodes that the probe reads by id. */
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
 * The reads that show whether the service caps long pages. A page is capped only if there are more nodes than it shows.
 * So the probe reads the next page, with the length of the first page, because the service has accepted that length.
 * Then the probe reads all pages again: a node is certainly missing from one list only if lists before and after it
 * show the node.
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

/** The reads about the nodes and systems that the first replies showed. */
const following = (exchanges: ReadonlyArray<Exchange>): ReadonlyArray<Read> => {
  const ids = idsIn(exchanges)
  const rows = exchanges
    .filter(({ operation }) => operation === "images.list")
    .flatMap((exchange) => listIn(exchange) ?? [])
  const systems = rows.flatMap((row) =>
    isObject(row) && isObject(row["os"]) && typeof row["os"]["name"] === "string" ? [row["os"]["name"]] : []
  )
  // The first name with letters, because only such a name changes when its case is swapped.
  const system = systems.find((name) => name !== "" && name !== swapped(name))
  return [
    ...afterLongest(exchanges),
    ...ids.slice(0, maxNodes).map((id) => read(`/nodes/${id}/`)),
    ...(system === undefined ? [] : [read(images, { os: system }), read(images, { os: swapped(system) })])
  ]
}

/** The name with its case swapped, so that it differs from the service's own spelling. */
const swapped = (name: string): string => (name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase())

/** The read after the first `count` reads; undefined if there is none. */
export const nextRead = (count: number, exchanges: ReadonlyArray<Exchange>): Read | undefined => {
  if (count < first.length) return first[count]
  const later = following(exchanges)
  return later[count - first.length]
}

/**
 * The probe sends at least this many reads. If fewer would show everything else, the rest show whether the rate limit is a
 * token bucket.
 */
export const minReads = 40

export const cheapRead = (exchanges: ReadonlyArray<Exchange>): Read => {
  const [id] = idsIn(exchanges)
  return id === undefined ? read(nodes, { page_no: 1, per_page: 1 }) : read(`/nodes/${id}/`)
}
