/**
 * The nodes of the account: create, get, list, delete, set the commitment, wait for a status.
 */
import { Context, Effect, Layer, Option, Random, Stream } from "effect"
import { nodeFromWire, nodeSpecToWire } from "../api/NodeCodec.ts"
import { pageSize } from "../api/Routes.ts"
import type { BerthError } from "../domain/BerthError.ts"
import type { CommitmentSetting } from "../domain/Commitment.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import type { KnownStatus } from "../domain/NodeStatus.ts"
import * as Creator from "./creation/Creator.ts"
import type { CreateOptions, Creation } from "./creation/Creator.ts"
import { IntentStore, makeMemory } from "./creation/IntentStore.ts"
import { Engine } from "./Engine.ts"
import * as Listing from "./listing/Listing.ts"
import { type CallOptions, many, nothing, one, type Operation, valueOf } from "./Operation.ts"
import * as SharedLooks from "./SharedLooks.ts"
import { awaitGoal, type WaitOptions } from "./Waiting.ts"
import { wire } from "./Wire.ts"

/** Which page of the list. */
export interface PageOptions extends CallOptions {
  /** From 1. Default 1. */
  readonly page?: number | undefined
  /** 1 to 100. Default 100, the fewest requests. */
  readonly perPage?: number | undefined
}

/** What the new setting is. */
export interface CommitmentOptions extends CallOptions {
  /** Committed option of the plan; needed for `auto_renew` on a node without a commitment (decision 17). */
  readonly skuId?: number | undefined
}

const readNodes = many(nodeFromWire)
const readNode = one(nodeFromWire)

const createNode: Operation<Node> = {
  name: "nodes.create",
  lane: "mutation",
  repeatable: "create",
  expectation: {},
  decode: readNode
}
const listNodes: Operation<ReadonlyArray<Node>> = {
  name: "nodes.list",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: {},
  decode: readNodes
}
const getNode = (nodeId: NodeId): Operation<Node> => ({
  name: "nodes.get",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { nodeId },
  decode: readNode
})
const deleteNode = (nodeId: NodeId): Operation<void> => ({
  name: "nodes.delete",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId, emptyAllowed: true },
  decode: nothing
})
const setNodeCommitment = (nodeId: NodeId): Operation<void> => ({
  name: "commitments.set",
  lane: "mutation",
  repeatable: "idempotent",
  expectation: { nodeId, emptyAllowed: true },
  decode: nothing
})

export class Nodes extends Context.Service<
  Nodes,
  {
    /** Creates a node. The reply comes before the node runs: wait for `running` with `awaitStatus`. */
    readonly create: (spec: NodeSpec, options?: CreateOptions) => Effect.Effect<Creation, BerthError>
    readonly get: (id: NodeId, options?: CallOptions) => Effect.Effect<Node, BerthError>
    /**
     * Every node of the account in order of ids, page by page as they are pulled. Whatever is created or deleted meanwhile,
     * a node that exists throughout comes exactly once.
     */
    readonly list: (options?: CallOptions) => Stream.Stream<Node, BerthError>
    /** One page; empty past the end. */
    readonly listPage: (options?: PageOptions) => Effect.Effect<ReadonlyArray<Node>, BerthError>
    /** Deletes a node. It stays listed as `terminate` until its termination ends. */
    readonly delete: (id: NodeId, options?: CallOptions) => Effect.Effect<void, BerthError>
    /** Sets what happens when the node's commitment ends. */
    readonly setCommitment: (
      id: NodeId,
      setting: CommitmentSetting,
      options?: CommitmentOptions
    ) => Effect.Effect<void, BerthError>
    /** Waits until the node has the status. Fails with `StatusNotReached` when it cannot, or not in time. */
    readonly awaitStatus: (id: NodeId, wanted: KnownStatus, options?: WaitOptions) => Effect.Effect<Node, BerthError>
    /** Waits until the node is gone: neither readable nor listed. */
    readonly awaitDeleted: (id: NodeId, options?: WaitOptions) => Effect.Effect<void, BerthError>
  }
>()("@berth/core/client/Nodes") {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.gen(function* () {
      const { call, deadline, serviceTimeAt } = yield* Engine

      const get = (id: NodeId, options?: CallOptions) =>
        Effect.map(call(getNode(id), wire.nodes.get({ params: { node_id: id } }), options), valueOf)

      const listPage = (options?: PageOptions) => {
        const query = { page_no: options?.page ?? 1, per_page: options?.perPage ?? pageSize.maximum }
        return Effect.map(call(listNodes, wire.nodes.list({ query }), options), valueOf)
      }

      const create = yield* Creator.make({
        send: (spec, options) =>
          Effect.map(call(createNode, wire.nodes.create({ payload: nodeSpecToWire(spec) }), options), valueOf),
        deadline,
        get,
        readPage: (page) => listPage({ page, lane: "mutation" }),
        serviceTimeAt,
        store: (yield* IntentStore) ?? makeMemory()
      })

      const list = (options?: CallOptions) =>
        Stream.paginate(
          Listing.begin,
          Effect.fnUntraced(function* (progress) {
            const window = Listing.next(progress)
            const page = yield* listPage({ lane: "sweep", ...options, page: window.page, perPage: window.perPage })
            const step = Listing.take(progress, window, page)
            return [step.nodes, Option.fromUndefinedOr(step.progress)] as const
          })
        )

      const remove = (id: NodeId, options?: CallOptions) =>
        Effect.map(call(deleteNode(id), wire.nodes.delete({ params: { node_id: id } }), options), valueOf)

      const setCommitment = (id: NodeId, setting: CommitmentSetting, options?: CommitmentOptions) => {
        const payload = {
          vcn_id: id,
          node_status: setting,
          ...(options?.skuId !== undefined && { committed_plan: options.skuId })
        }
        return Effect.map(call(setNodeCommitment(id), wire.commitments.set({ payload }), options), valueOf)
      }

      const look = SharedLooks.make({ get: (id) => get(id, { lane: "wait" }), list: list({ lane: "wait" }) })
      const phase = yield* Random.next

      const awaitStatus = Effect.fn("Nodes.awaitStatus")(function* (
        id: NodeId,
        wanted: KnownStatus,
        options?: WaitOptions
      ) {
        const node = yield* awaitGoal(id, wanted, look(id), phase, options)
        return yield* Effect.fromOption(node).pipe(Effect.orDie)
      })

      const awaitDeleted = Effect.fn("Nodes.awaitDeleted")(function* (id: NodeId, options?: WaitOptions) {
        yield* awaitGoal(id, "deleted", look(id), phase, options)
      })

      return Nodes.of({ create, get, list, listPage, delete: remove, setCommitment, awaitStatus, awaitDeleted })
    })
  )
}
