/**
 * Operations on the nodes of a world: create, get, list, delete (A7, A11 and A14).
 */
import { Result } from "effect"
import { choose, terminatesAt } from "../lifecycle/CommitmentTerm.ts"
import type { ForcedStatus } from "../lifecycle/NodeLife.ts"
import { committedOption } from "./catalogue.ts"
import type { NodeRecord } from "./NodeRecord.ts"
import type { NodeOrder } from "./nodeOrder.ts"
import type { NameTaken, NodeLocked, NodeUnknown } from "./Refusal.ts"
import { phase, put, type World } from "./World.ts"

/** Makes a node. Its id is the next one; none is ever handed out twice. */
export const createNode = (world: World, order: NodeOrder, now: number): Result.Result<NodeRecord, NameTaken> => {
  const holder = world.settings.uniqueNames ? world.holderOfName.get(order.name) : undefined
  if (holder !== undefined) return Result.fail({ _tag: "NameTaken", name: order.name, holder })
  const node: NodeRecord = {
    id: world.nodes.nextId,
    name: order.name,
    plan: order.plan,
    imageId: order.imageId,
    createdAt: now,
    deletedAt: null,
    // Until a setting is chosen, a commitment made at the create falls back to hourly billing when it ends.
    commitment:
      order.skuId === null
        ? null
        : choose(null, "hourly_billing", committedOption(order.plan, order.skuId) ?? null, now),
    backups: order.backups,
    locked: false
  }
  put(world, node)
  return Result.succeed(node)
}

export const getNode = (world: World, id: number): Result.Result<NodeRecord, NodeUnknown> => {
  const node = world.nodes.get(id)
  return node === undefined ? Result.fail({ _tag: "NodeUnknown", id }) : Result.succeed(node)
}

/** One page in ascending id; past the end it is empty. `pageNumber` from 1, `pageSize` from 1. */
export const listNodes = (world: World, pageNumber: number, pageSize: number): ReadonlyArray<NodeRecord> =>
  world.nodes.slice((pageNumber - 1) * pageSize, pageSize)

/** Begins the termination of a node. A node that is terminating already is left as it is, and that is no failure. */
export const deleteNode = (
  world: World,
  id: number,
  now: number
): Result.Result<NodeRecord, NodeUnknown | NodeLocked> =>
  Result.flatMap(getNode(world, id), (node): Result.Result<NodeRecord, NodeLocked> => {
    if (node.locked) return Result.fail({ _tag: "NodeLocked", id })
    if (phase(world, node, now) === "terminate") return Result.succeed(node)
    const deleted = { ...node, deletedAt: now }
    put(world, deleted)
    return Result.succeed(deleted)
  })

/** A change that the control plane forces on a node. An absent field stays; a status of `null` lets the lifecycle decide again. */
export interface NodeForce {
  readonly status?: ForcedStatus | "terminate" | null
  readonly locked?: boolean
}

/**
 * Forces a status or a lock on a node. A forced status stays until the node terminates; `terminate`
 * itself is a delete, and any other status takes a node back that was terminating.
 */
export const forceNode = (
  world: World,
  id: number,
  { locked, status }: NodeForce,
  now: number
): Result.Result<NodeRecord, NodeUnknown> =>
  Result.map(getNode(world, id), (node) => {
    const { forced: _, ...free } = node
    const kept = { ...(status === undefined ? node : free), locked: locked ?? node.locked }
    const forced = status === undefined || status === null ? kept : withStatus(kept, status, now)
    put(world, forced)
    return forced
  })

const withStatus = (node: NodeRecord, status: ForcedStatus | "terminate", now: number): NodeRecord => {
  if (status === "terminate") return { ...node, deletedAt: node.deletedAt ?? now }
  const hasEnded = node.commitment !== null && terminatesAt(node.commitment) <= now
  return { ...node, forced: status, deletedAt: null, commitment: hasEnded ? null : node.commitment }
}
