/** Pages of a false list of nodes: the list of an earlier instant, or a list in which every node has moved. */
import { pageSize } from "@berthkit/core/api/Routes"
import { noPage } from "../dialect/failures.ts"
import { isNoPage, onlyPageSize } from "../dialect/nodes.ts"
import { placeOf } from "../dialect/place.ts"
import { listedReply } from "../dialect/replies.ts"
import type { Reply } from "../http/Exchange.ts"
import { goneAt } from "../lifecycle/NodeLife.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { isAt, type Today } from "../world/Today.ts"
import { phase, type World } from "../world/World.ts"
import type { ListView } from "./FaultKind.ts"

/** A page of the list, as a view shows it. */
export interface ViewedPage {
  readonly view: ListView
  readonly nodes: ReadonlyArray<NodeRecord>
  /** Number of nodes in the whole list. */
  readonly total: number
}

/** Makes the page that a URL asks for, as any view shows it, from the world as it is now. */
export const pagesOf = (world: World, url: string) => {
  const query = new URL(url, "http://berth.test").searchParams
  const whole = (name: string) => Number(query.get(name) || Number.NaN)
  const { today } = world.settings
  const only = today && onlyPageSize(today, world.nodes.size + world.gone.length)
  const size = only ?? (whole("per_page") || pageSize.default)
  const skip = only === undefined ? ((whole("page_no") || whole("page") || 1) - 1) * size : 0
  let gone: ReadonlyArray<GoneNode> | undefined
  return {
    page: (view: ListView): ViewedPage => {
      const all = view.asOf < world.latest ? pastList(world, (gone ??= goneNodes(world)), view.asOf) : world.nodes
      const list = today === undefined ? all : placeList(all, today, query)
      return { view, nodes: turned(list, view.shift, skip, size), total: list.size }
    },
    reply: ({ nodes, total, view }: ViewedPage): Reply =>
      today !== undefined && isNoPage(today, skip, nodes)
        ? noPage(today)
        : listedReply(world, nodes, view.asOf, total, size)
  }
}

/** Whether a client would notice the difference between two pages. */
export const isOtherPage = (world: World, one: ViewedPage, other: ViewedPage): boolean =>
  one.nodes.length !== other.nodes.length ||
  one.nodes.some((node, index) => {
    const beside = other.nodes[index]!
    return (
      node.id !== beside.id ||
      node.createdAt !== beside.createdAt ||
      phase(world, node, one.view.asOf) !== phase(world, beside, other.view.asOf)
    )
  })

/** The nodes of the place that the query names, in the order that the world's settings say. */
const placeList = (all: List, today: Today, query: URLSearchParams): List => {
  const asked = placeOf(query)
  const nodes = "place" in asked ? all.slice(0, all.size).filter((node) => isAt(asked.place, node.today)) : []
  const ordered = today.order === "descending" ? nodes.toReversed() : nodes
  return { size: ordered.length, slice: (skip, count) => ordered.slice(skip, skip + count) }
}

/** Nodes by ascending id. */
interface List {
  readonly size: number
  readonly slice: (skip: number, count: number) => ReadonlyArray<NodeRecord>
}

/** A page of the list after its first `shift` nodes moved to its end. */
const turned = (list: List, shift: number, skip: number, size: number): ReadonlyArray<NodeRecord> => {
  if (shift === 0) return list.slice(skip, size)
  const total = list.size
  if (skip >= total) return []
  const count = Math.min(size, total - skip)
  const page = list.slice(modulo(skip + shift, total), count)
  return page.length === count ? page : [...page, ...list.slice(0, count - page.length)]
}

const modulo = (value: number, by: number): number => ((value % by) + by) % by

interface GoneNode {
  readonly node: NodeRecord
  readonly at: number
}

/** The most recently deleted nodes by ascending id, without those whose id is in use again. */
const goneNodes = ({ gone, nodes, settings }: World): ReadonlyArray<GoneNode> =>
  gone
    .filter(({ id }) => nodes.get(id) === undefined)
    .map((node) => ({ node, at: goneAt(settings.seed, settings.lifecycle, node) }))
    .sort((a, b) => a.node.id - b.node.id)

/** The list at an earlier instant, including nodes that have been deleted since. */
const pastList = ({ nodes }: World, gone: ReadonlyArray<GoneNode>, asOf: number): List => {
  const back = gone.flatMap(({ at, node }) => (node.createdAt <= asOf && asOf < at ? [node] : []))
  const list = [...nodes.all().filter(({ createdAt }) => createdAt <= asOf), ...back].sort((a, b) => a.id - b.id)
  return { size: list.length, slice: (skip, count) => list.slice(skip, skip + count) }
}
