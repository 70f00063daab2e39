/**
 * Pages of a list of nodes that is not the present one: of an earlier instant, or with every node moved.
 */
import { succeed } from "@berth/core/api/Envelope"
import { pageSize } from "@berth/core/api/Routes"
import { HttpServerResponse } from "effect/http"
import type { Reply } from "../http/Exchange.ts"
import { listedNode } from "../http/records.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { phase, type World } from "../world/World.ts"
import type { ListView } from "./FaultKind.ts"

/** The page that a URL asks for, of the list as the view has it. */
export const viewedPage = (world: World, url: string, view: ListView): Reply => {
  const query = new URL(url, "http://berth.test").searchParams
  const whole = (name: string) => Number(query.get(name) || Number.NaN)
  const size = whole("per_page") || pageSize.default
  const skip = ((whole("page_no") || whole("page") || 1) - 1) * size
  const page =
    view.asOf < world.latest ? pastNodes(world, view).slice(skip, skip + size) : shifted(world, skip, size, view.shift)
  return HttpServerResponse.jsonUnsafe(succeed(page.map((node) => listedNode(world, node, view.asOf))))
}

/** All nodes of an earlier instant, those that went since then included. */
const pastNodes = (world: World, { asOf, shift }: ListView): ReadonlyArray<NodeRecord> => {
  const gone = world.gone.filter(
    (node) => phase(world, node, asOf) !== "gone" && world.nodes.get(node.id) === undefined
  )
  const nodes = [...world.nodes.slice(0, world.nodes.size), ...gone]
    .filter(({ createdAt }) => createdAt <= asOf)
    .sort((a, b) => a.id - b.id)
  const turned = modulo(shift, nodes.length)
  return [...nodes.slice(turned), ...nodes.slice(0, turned)]
}

const shifted = (world: World, skip: number, size: number, shift: number): ReadonlyArray<NodeRecord> => {
  const { nodes } = world
  if (skip >= nodes.size) return []
  const first = modulo(skip + shift, nodes.size)
  const count = Math.min(size, nodes.size - skip)
  const page = nodes.slice(first, count)
  return page.length === count ? page : [...page, ...nodes.slice(0, count - page.length)]
}

const modulo = (value: number, by: number): number => (by === 0 ? 0 : ((value % by) + by) % by)
