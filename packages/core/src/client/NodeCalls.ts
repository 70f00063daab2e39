/**
 * The calls on nodes. A list is read by pulling its pages. `Nodes` and the promise client are built on these calls. They use no streams,
 * because the promise client needs none.
 */
import { Context, type Duration, Effect, Layer, type Pull, Random, type Scope } from "effect"
import { pageSize } from "../api/Routes.ts"
import type { BerthError } from "../domain/BerthError.ts"
import type { CommitmentSetting } from "../domain/Commitment.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import type { KnownStatus } from "../domain/NodeStatus.ts"
import * as Creator from "./creation/Creator.ts"
import type { CreateOptions, Creation } from "./creation/Creator.ts"
import { IntentStore } from "./creation/IntentStore.ts"
import { newMillis } from "./creation/Ownership.ts"
import { CallsEnd, endIn, endingWithin } from "./call/Deadline.ts"
import { Engine } from "./call/Engine.ts"
import { ensureWhole, unprovedAbsence } from "./listing/Bounds.ts"
import type { ListBounds, Listed, ListedPage } from "./listing/Listed.ts"
import { listImages } from "./Images.ts"
import { isNode, sentenceOf, type UnreadableRecord } from "./listing/NodePage.ts"
import type { Page } from "./listing/PageRange.ts"
import { collect, pages } from "./listing/Pages.ts"
import { setAsideNodes } from "./listing/setAsideNodes.ts"
import {
  commitmentSetting,
  createNode,
  createRequest,
  deleteNode,
  deleteRequest,
  getNode,
  knownStatus,
  listNodes,
  listPage,
  missingPage,
  nodeId,
  nodeIds,
  nodeSpec,
  readList,
  setCommitmentRequest,
  setNodeCommitment
} from "./NodeOperations.ts"
import { ChangeLog } from "./state/ChangeLog.ts"
import { Observer } from "./telemetry/Observer.ts"
import { type CallOptions, type Operation, valueOf } from "./call/Operation.ts"
import { monotonicMillis } from "./time/Monotonic.ts"
import { checked, timespanFault, unsent } from "./options/OptionCheck.ts"
import * as CoalescedReads from "./waiting/CoalescedReads.ts"
import { awaitGoal, type Goal, type Reads, type WaitOptions } from "./waiting/Waiting.ts"
import { wire } from "./transport/Transport.ts"

/** Options for reading one page. */
export interface PageOptions extends CallOptions {
  /** The number of the page, from 1. Default: 1. */
  readonly page?: number | undefined
  /** 1 to 100. Default 100, which takes the fewest requests. */
  readonly perPage?: number | undefined
  /** Called once with the unreadable records that the page leaves out; each may be a node. `readPage` returns them instead. */
  readonly onEnd?: ((page: ListedPage) => Effect.Effect<void>) | undefined
}

/** Options for listing. */
export interface ListOptions extends CallOptions, ListBounds {
  /** Longest time for each pull of nodes, including all its requests. Default: each request has the client's deadline. */
  readonly deadline?: CallOptions["deadline"]
  /**
   * Longest time for the whole list from its beginning, including the program's time between pulls. When this time has passed, the list
   * fails with `TimedOut`. Default: none.
   */
  readonly totalDeadline?: Duration.Input | undefined
  /** Called once, at the end of the list. */
  readonly onEnd?: ((listed: Listed) => Effect.Effect<void>) | undefined
}

/** Options for deleting. */
export interface DeleteOptions extends CallOptions {
  /** Whether the account keeps the node's public address, which may cost money. Default false. */
  readonly keepPublicIp?: boolean | undefined
}

/** Options for setting what happens at the end of a commitment. */
export interface CommitmentOptions extends CallOptions {
  /** Committed option of the plan; needed for `auto_renew` on a node without a commitment (A17). */
  readonly skuId?: number | undefined
}

/** Removes repeated nodes and keeps the record that was read last. */
const withoutRepeats = (nodes: ReadonlyArray<Node>) =>
  Array.from(new Map(nodes.map((node) => [node.id, node])).values())

/** Remembers the nodes that this client has just created: a 404 does not mean that such a node is gone. */
const makeNewNodes = () => {
  /** The creation times, oldest first. */
  const createdAt = new Map<NodeId, number>()
  return {
    add: (id: NodeId) =>
      Effect.map(monotonicMillis, (now) => {
        for (const [id, at] of createdAt) {
          if (now - at < newMillis) break
          createdAt.delete(id)
        }
        createdAt.set(id, now)
      }),
    remove: (id: NodeId) => Effect.sync(() => void createdAt.delete(id)),
    has: (id: NodeId) => Effect.map(monotonicMillis, (now) => now - (createdAt.get(id) ?? -Infinity) < newMillis)
  }
}

/** The calls on nodes that `Nodes` and the promise client share. */
export class NodeCalls extends Context.Service<
  NodeCalls,
  {
    /** Creates a node. The reply comes before the node runs: wait for `running` with `awaitStatus`. */
    readonly create: (spec: NodeSpec, options?: CreateOptions) => Effect.Effect<Creation, BerthError>
    readonly get: (id: NodeId, options?: CallOptions) => Effect.Effect<Node, BerthError>
    /** All nodes of the account, page by page on demand. Closing the scope stops the read of the page ahead. */
    readonly pages: (
      options?: ListOptions
    ) => Effect.Effect<Pull.Pull<readonly [Node, ...Array<Node>], BerthError>, never, Scope.Scope>
    /**
     * All nodes with exactly this name; names may repeat. Reads the whole list, and reads nodes with unreadable records one by one; fails
     * if such a read fails. Also fails if the list shows no node of the name but may be incomplete (`readToEnd` is false).
     */
    readonly named: (name: string, options?: ListOptions) => Effect.Effect<ReadonlyArray<Node>, BerthError>
    /** One page; empty after the end. Unreadable records are left out with a warning, and passed to `onEnd`. */
    readonly listPage: (options?: PageOptions) => Effect.Effect<ReadonlyArray<Node>, BerthError>
    /** One page in its order, with a placeholder for each unreadable record, and what the page says about the list. */
    readonly readPage: (options?: PageOptions) => Effect.Effect<Page, BerthError>
    /** Deletes a node. It stays listed as `terminate` until its termination ends. */
    readonly delete: (id: NodeId, options?: DeleteOptions) => Effect.Effect<void, BerthError>
    /**
     * Sets what happens when the node's commitment ends. A second request may begin another committed period, so a lost reply is not
     * retried: the call fails, and its reason has `mayBeProcessed`.
     */
    readonly setCommitment: (
      id: NodeId,
      setting: CommitmentSetting,
      options?: CommitmentOptions
    ) => Effect.Effect<void, BerthError>
    /**
     * Waits until the node has the status or, for several ids, until each node has had the status. Results have the
     * order of the ids. Fails with `StatusNotReached` as soon as it is clear that a node cannot reach the status, or
     * that this wait cannot see the status in time, for example because the allowance refills only after the timeout.
     * If this client created the node less than a minute ago, the wait continues even if the service does not find the
     * node yet.
     */
    readonly awaitStatus: {
      (id: NodeId, wanted: KnownStatus, options?: WaitOptions): Effect.Effect<Node, BerthError>
      (
        ids: ReadonlyArray<NodeId>,
        wanted: KnownStatus,
        options?: WaitOptions
      ): Effect.Effect<ReadonlyArray<Node>, BerthError>
    }
    /** Waits until the node, or each of several, is gone, that is, neither readable nor listed. */
    readonly awaitDeleted: (
      id: NodeId | ReadonlyArray<NodeId>,
      options?: WaitOptions
    ) => Effect.Effect<void, BerthError>
  }
>()("@berthkit/core/client/NodeCalls") {
  static readonly layer = Layer.effect(
    NodeCalls,
    Effect.gen(function* () {
      const { allowance, call, deadline, lane, location, maxAttempts, serviceTimeAt } = yield* Engine
      const observer = yield* Observer
      const { noted } = yield* ChangeLog

      const get = (id: NodeId, options?: CallOptions) =>
        Effect.flatMap(unsent("nodes.get")(nodeId(id)), (id) =>
          Effect.map(call(getNode({ id, location }), wire.nodes.get({ params: { node_id: id } }), options), valueOf)
        )

      const page = <A>(
        operation: Operation<A>,
        missing: A,
        { page, perPage = pageSize.maximum, ...options }: PageOptions
      ) => {
        const read = Effect.map(
          call(operation, wire.nodes.list({ query: { page_no: page, per_page: perPage } }), options),
          valueOf
        )
        const isNotFound = ({ reason }: BerthError) => (page ?? 1) > 1 && reason._tag === "PathNotFound"
        // Some services answer a page after the end of the list with 404 instead of an empty page. A single 404 may be
        // a mistake that hides nodes, so the page counts as missing only after a second 404.
        return read.pipe(
          Effect.catchIf(isNotFound, () => read),
          Effect.catchIf(isNotFound, () => Effect.succeed(missing))
        )
      }

      const onePage =
        <A>(operation: Operation<A>, missing: A) =>
        (options: PageOptions = {}) =>
          Effect.andThen(unsent("nodes.list")(checked(options)), () =>
            page(operation, missing, { ...options, page: options.page ?? 1 })
          )

      let hasWarned = false
      /** Warns once about records that were left out; otherwise a program would think that the rest is the whole list. */
      const warnOf = ({ unreadable: [first, ...more] }: ListedPage) => {
        if (first === undefined || hasWarned) return Effect.void
        hasWarned = true
        const others = more.length === 0 ? "" : `, and ${more.length} more`
        return Effect.logWarning(`The list has a record that cannot be read: ${sentenceOf(first)}${others}.`)
      }
      /** Reports the records that were left out before the caller gets the nodes. */
      const ending =
        <L extends ListedPage>(onEnd?: (listed: L) => Effect.Effect<void>) =>
        (listed: L) =>
          Effect.andThen(warnOf(listed), onEnd?.(listed) ?? Effect.void)

      const readNodes = (options?: PageOptions) =>
        Effect.flatMap(onePage(listPage, [])(options), (records) =>
          Effect.as(
            ending(options?.onEnd)({
              unreadable: records.filter((record): record is UnreadableRecord => !isNode(record))
            }),
            records.filter(isNode)
          )
        )

      /** Refuses an empty first page if its reply counts nodes, because such an account is not empty. */
      const pageAsItIs = (options?: PageOptions) =>
        Effect.tap(onePage(readList, missingPage)(options), ({ records, total }) =>
          (options?.page ?? 1) === 1 && records.length === 0 ? ensureWhole(total, 0) : Effect.void
        )

      const creator = Creator.make({
        send: (spec, options, sending, faultOf) =>
          Effect.map(call({ ...createNode(faultOf), sending }, createRequest(spec), options), valueOf),
        deadline,
        location,
        maxAttempts,
        get,
        pages: (options) => (number) => page(listNodes, missingPage, { ...options, page: number }),
        plans: (options) =>
          Effect.map(call(listImages(location), wire.images.list({ query: {} }), options), ({ value: { records } }) =>
            // Keep only these fields, because the catalogue is large.
            records.map(({ image, name, os, plan, sku }) => ({ image, name, os, plan, sku }))
          ),
        serviceTimeAt,
        store: yield* IntentStore
      })
      const newNodes = makeNewNodes()
      const create = (spec: NodeSpec, options?: CreateOptions) =>
        Effect.andThen(checked(options), nodeSpec(spec, location !== undefined)).pipe(
          unsent("nodes.create"),
          Effect.flatMap((spec) => {
            const creation = creator(spec, options)
            // This call only looks for the node of an earlier create, and sends no create.
            if (options?.adoptOnly === true) return creation
            const { commitmentSetting, image, name, plan } = spec
            const order = `${plan} from ${image}${commitmentSetting === undefined ? "" : ` with ${commitmentSetting}`}`
            return noted({ action: "create", name, asked: order }, creation, ({ node: { id, name }, outcome }) => ({
              outcome,
              node: id,
              name
            }))
          }),
          Effect.tap(({ node, outcome }) => (outcome === "created" ? newNodes.add(node.id) : Effect.void))
        )

      const list = (all: ListOptions = {}) => {
        const { totalDeadline, ...options } = all
        const { onEnd, ...call } = options
        const usable = unsent("nodes.list")(checked(all))
        const opened = pages({
          readPage: ({ page: number, perPage }) => page(readList, missingPage, { ...call, page: number, perPage }),
          onRecords: (records) => observer?.drifted(observer.drift.nodeDrift(records), "nodes.list"),
          onEnd: ending(onEnd),
          exact: options.exact,
          maxNodes: options.maxNodes,
          limited: (pull) =>
            Effect.andThen(
              usable,
              Effect.suspend(() => endingWithin(options.deadline)(pull))
            )
        })
        return totalDeadline === undefined || timespanFault(totalDeadline) !== undefined
          ? opened
          : Effect.flatMap(endIn(totalDeadline), (end) => Effect.map(opened, Effect.provideService(CallsEnd, end)))
      }

      const named = (name: string, all: ListOptions = {}) => {
        const { totalDeadline, ...options } = all
        let end: Pick<Listed, "readToEnd" | "total" | "unreadable"> = { readToEnd: true, total: null, unreadable: [] }
        const onEnd = (listed: Listed) => {
          end = listed
          return options.onEnd?.(listed) ?? Effect.void
        }
        const isNamed = (other: string) => other === name
        const { exact: _exact, maxNodes: _maxNodes, onEnd: _onEnd, ...call } = options
        const found = collect(list({ ...options, onEnd })).pipe(
          Effect.tap((nodes) => ensureWhole(end.total, nodes.length + end.unreadable.length)),
          Effect.flatMap((nodes) =>
            Effect.flatMap(
              setAsideNodes(end.unreadable, isNamed, (id) => get(id, call)),
              (more) => {
                const found = withoutRepeats([...nodes.filter((node) => isNamed(node.name)), ...more])
                return found.length === 0 && end.readToEnd === false
                  ? Effect.fail(unprovedAbsence(nodes.length))
                  : Effect.succeed(found)
              }
            )
          ),
          (found) => Effect.suspend(() => endingWithin(totalDeadline)(found))
        )
        return Effect.andThen(unsent("nodes.list")(checked(all)), found)
      }

      const remove = (id: NodeId, { keepPublicIp, ...options }: DeleteOptions = {}) =>
        Effect.flatMap(unsent("nodes.delete")(Effect.andThen(checked({ keepPublicIp }), nodeId(id))), (id) =>
          noted(
            { action: "delete", node: id },
            Effect.tap(
              Effect.map(call(deleteNode({ id, location }), deleteRequest(id, keepPublicIp), options), valueOf),
              () => newNodes.remove(id)
            ),
            () => ({ outcome: "deleted" })
          )
        )

      const setCommitment = (id: NodeId, setting: CommitmentSetting, options?: CommitmentOptions) =>
        Effect.flatMap(unsent("commitments.set")(Effect.andThen(nodeId(id), commitmentSetting(setting))), (setting) => {
          const skuId = options?.skuId
          const asked = skuId === undefined ? setting : `${setting} with the committed option ${skuId}`
          return noted(
            { action: "commitment", node: id, asked },
            Effect.map(
              call(
                setNodeCommitment({ id, location, setting, skuId }),
                setCommitmentRequest(id, setting, skuId),
                options
              ),
              valueOf
            ),
            () => ({ outcome: "set" })
          )
        })

      // The list need not be exact, because a node that is missing from it is read by itself.
      const coalesced = CoalescedReads.make({ get, list: (options) => collect(list({ ...options, exact: false })) })
      const phase = yield* Random.next
      const awaitOne = (id: NodeId, goal: Goal, options?: WaitOptions) => {
        const inLane = options?.lane ?? lane ?? "wait"
        const reads: Reads = {
          get: (deadlineAt, isFirst) => (isFirst ? coalesced.first : coalesced.again)(id, { lane: inLane, deadlineAt }),
          isNew: newNodes.has(id),
          refusal: (deadlineAt) => allowance.refusal({ lane: inLane, deadlineAt })
        }
        return awaitGoal(id, goal, reads, phase, options)
      }

      const waitable = (ids: NodeId | ReadonlyArray<NodeId>, options: WaitOptions | undefined) =>
        Effect.andThen(checked(options), nodeIds(ids))

      const awaitStatus = Effect.fnUntraced(function* (
        ids: NodeId | ReadonlyArray<NodeId>,
        wanted: KnownStatus,
        options?: WaitOptions
      ) {
        yield* unsent("nodes.await")(Effect.andThen(waitable(ids, options), knownStatus(wanted)))
        const reach = (id: NodeId) =>
          Effect.flatMap(awaitOne(id, wanted, options), (node) => Effect.orDie(Effect.fromOption(node)))
        return yield* typeof ids === "number" ? reach(ids) : Effect.forEach(ids, reach, { concurrency: "unbounded" })
      }) as NodeCalls["Service"]["awaitStatus"]

      const awaitDeleted = Effect.fnUntraced(function* (ids: NodeId | ReadonlyArray<NodeId>, options?: WaitOptions) {
        yield* unsent("nodes.await")(waitable(ids, options))
        yield* Effect.forEach([ids].flat(), (id) => awaitOne(id, "deleted", options), {
          concurrency: "unbounded",
          discard: true
        })
      })

      return NodeCalls.of({
        create,
        get,
        pages: list,
        named,
        listPage: readNodes,
        readPage: pageAsItIs,
        delete: remove,
        setCommitment,
        awaitStatus,
        awaitDeleted
      })
    })
  )
}
