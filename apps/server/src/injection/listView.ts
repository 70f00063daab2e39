/**
 * Pages of a list of nodes that is not the present one: of an earlier instant, or with every node moved.
 */
import { succeed } from "@berthkit/core/api/Envelope"
import { pageSize } from "@berthkit/core/api/Routes"
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { listedNode } from "../http/records.ts"
import { goneAt } from "../lifecycle/NodeLife.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { phase, type World } from "../world/World.ts"
import type { ListView } from "./FaultKind.ts"

/** A page of the list as a view has it. */
export interface ViewedPage {
  readonly view: ListView
  readonly nodes: ReadonlyArray<NodeRecord>
}

/** The pages that a URL asks for, of a world as it is at this moment. */
export const pagesOf = (world: World, url: string) => {
  const query = new URL(url, "http://berth.test").searchParams
  const whole = (name: string) => Number(query.get(name) || Number.NaN)
  const size = whole("per_page") || pageSize.default
  const skip = ((whole("page_no") || whole("page") || 1) - 1) * size
  let gone: ReadonlyArray<GoneNode> | undefined
  return {
    page: (view: ListView): ViewedPage => {
      const list = view.asOf < world.latest ? pastList(world, (gone ??= goneNodes(world)), view.asOf) : world.nodes
      return { view, nodes: turned(list, view.shift, skip, size) }
    },
    reply: ({ nodes, view }: ViewedPage): Reply =>
      HttpServerResponse.jsonUnsafe(succeed(nodes.map((node) => listedNode(world, node, view.asOf))))
  }
}

/** Whether a client notices that it gets one page and not the other. */
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

/** Nodes by ascending id. */
interface List {
  readonly size: number
  readonly slice: (skip: number, count: number) => ReadonlyArray<NodeRecord>
}

/** A page of a list of which the first `shift` nodes are at its end. */
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

/** The nodes that went last, by ascending id, without those whose id another one has by now. */
const goneNodes = ({ gone, nodes, settings }: World): ReadonlyArray<GoneNode> =>
  gone
    .filter(({ id }) => nodes.get(id) === undefined)
    .map((node) => ({ node, at: goneAt(settings.seed, settings.lifecycle, node) }))
    .sort((a, b) => a.node.id - b.node.id)

/** The list of an earlier instant, with the nodes that went since then. */
const pastList = ({ nodes }: World, gone: ReadonlyArray<GoneNode>, asOf: number): List => {
  const back = gone.flatMap(({ at, node }) => (node.createdAt <= asOf && asOf < at ? [node] : []))
  const list = [...nodes.all().filter(({ createdAt }) => createdAt <= asOf), ...back].sort((a, b) => a.id - b.id)
  return { size: list.length, slice: (skip, count) => list.slice(skip, skip + count) }
}
