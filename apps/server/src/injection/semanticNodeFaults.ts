/**
 * Lies about which nodes there are: told of a world's past, or by leaving the world other than the reply says. Each gives the
 * reply that is told instead, `undefined` where there is nothing to lie about.
 */
import { succeed } from "@berth/core/api/Envelope"
import { pageSize, prefix } from "@berth/core/api/Routes"
import { HttpServerResponse } from "effect/http"
import { failureResponse } from "../http/failures.ts"
import { createdNode, listedNode, nodeAttributes } from "../http/records.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { phase, put, type World } from "../world/World.ts"
import { millis } from "./FaultKind.ts"
import { type Reply, recordsOf, successOf, withJson } from "./replyBody.ts"

/** What a list of nodes is told from instead. */
export interface ListView {
  /** The instant whose nodes are told. */
  readonly asOf: number
  /** How many places every node has moved towards the front. */
  readonly shift: number
}

const defaultAge = "10 seconds"

export const asOf = (age: string | undefined, now: number): number => now - millis(age ?? defaultAge)

/** The page that was asked for, of the list as the view has it. */
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

const unknown = (id: number): Reply => failureResponse(404, `There is no node ${id}.`)

/** A node as it was; a 404 when it was not. One that is gone by now is told as it was, too. */
export const laggingNode = (world: World, id: number, asOf: number): Reply | undefined => {
  const node = world.nodes.get(id) ?? world.gone.findLast((gone) => gone.id === id)
  if (node === undefined) return undefined
  if (node.createdAt > asOf || phase(world, node, asOf) === "gone") return unknown(id)
  return HttpServerResponse.jsonUnsafe(succeed(nodeAttributes(world, node, asOf)))
}

/** A 404 for a node that is there. */
export const listedButUnknown = (world: World, id: number): Reply | undefined =>
  world.nodes.get(id) === undefined ? undefined : unknown(id)

/** The node that a reply says was made. */
const madeNode = (world: World, reply: Reply): NodeRecord | undefined => {
  const envelope = reply.status === 202 ? successOf(reply) : undefined
  const id = envelope === undefined ? undefined : recordsOf(envelope)[0]?.["id"]
  return typeof id === "number" ? world.nodes.get(id) : undefined
}

export const denyCreate = (world: World, reply: Reply, status: number): Reply | undefined =>
  madeNode(world, reply) === undefined ? undefined : failureResponse(status, "The node could not be created.")

export const duplicateCreate = (world: World, reply: Reply): Reply | undefined => {
  const node = madeNode(world, reply)
  if (node === undefined) return undefined
  put(world, { ...node, id: world.nodes.nextId })
  return reply
}

export const getStuck = (world: World, reply: Reply): Reply | undefined => {
  const node = madeNode(world, reply)
  if (node === undefined) return undefined
  put(world, { ...node, forced: "created" })
  return reply
}

/** Gives the node that was made the id of the one that went last, in the world and in the reply. */
export const reuseId = (world: World, reply: Reply): Reply | undefined => {
  const node = madeNode(world, reply)
  const id = world.gone.findLast((gone) => world.nodes.get(gone.id) === undefined)?.id
  if (node === undefined || id === undefined) return undefined
  const renamed = { ...node, id }
  world.nodes.remove(node.id)
  world.nodes.restore(renamed)
  put(world, renamed)
  return withJson(
    HttpServerResponse.setHeader(reply, "location", `${prefix}/nodes/${id}/`),
    succeed(createdNode(world, renamed))
  )
}
