/**
 * Handles the nodes of leases (the records of `berth run`): deletes the node of one lease or of all due leases, or takes over a kept node.
 * Id, name and creation time identify the node; if the reply to its create was lost, the create's idempotency key finds it. A lease stays
 * as long as its node may exist.
 */
import { instantNow } from "@berthkit/core/client/instantNow"
import { Nodes } from "@berthkit/core/client/Nodes"
import { nodeToDelete } from "@berthkit/core/client/nodeOfCreate"
import { IntentStore, recordedCreate } from "@berthkit/core/client/creation/IntentStore"
import { isRunning, self } from "@berthkit/core/client/creation/KeyLock"
import { isSameNode, isSpelling, newMillis, proofOf } from "@berthkit/core/client/creation/Ownership"
import { bootClock } from "@berthkit/core/client/files/Boot"
import { millisBetween, type Stamp, stampNow } from "@berthkit/core/client/files/Stamp"
import { ChangedFor } from "@berthkit/core/client/state/ChangedBy"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import { everyNodeShown } from "@berthkit/core/domain/ErrorReason"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect, Option } from "effect"
import { LeasedNodeDiffers, LeasedNodeNotDeleted, LeasedNodeStays, LocalFileFault } from "../failure/CliFailure.ts"
import {
  chargedSoFar,
  isSameOwner,
  type Lease,
  paidMillisLeft,
  type Standing,
  standingOf,
  takenOver
} from "../leases/Lease.ts"
import { leases } from "../leases/leases.ts"
import { deleteRead } from "../nodes/deleteRead.ts"
import { waitText } from "../nodes/ifAbsent.ts"
import { problemOf } from "../failure/Problem.ts"
import { type Place, removalText } from "../state/Kind.ts"
import type { NodeResult } from "../records/outcome.ts"
import { concurrency } from "../nodes/allNodes.ts"
import { ensureUnprotected, ownMemberships } from "./Registry.ts"
import { elapsed, rupees } from "../output/format.ts"
import { printNote } from "../output/Output.ts"
import { type ShowState, withProgress } from "../output/progress.ts"

/** What happened to a lease's node. */
interface LeaseEnd {
  readonly outcome: "deleted" | "gone" | "nothing" | "in-fleet"
  readonly id: NodeId | null
  readonly name: string
  readonly node: Node | null
}

/** The current time in the form that leases store. */
export const leaseNow = Effect.flatMap(bootClock, stampNow)

/** The charge for a node so far, as a sentence to append; empty if the price is unknown. */
export const chargedText = (lease: Lease, now: Stamp): string => {
  const charged = chargedSoFar(lease, now)
  if (charged === undefined) return ""
  return ` Charged so far: ₹${rupees(charged.amountInr)}${charged.isMinimum ? ", the minimum charge" : ""}.`
}

/** The nodes in the fleets that this machine knows, from their ledgers. */
export const memberships = Effect.orElseSucceed(ownMemberships, (): Effect.Success<typeof ownMemberships> => new Map())

const pausesMillis = [1000, 2000, 4000, 8000]

/** Maximum number of deletes if the service accepts them and does nothing, and the pause between two of them. */
const maxDeletes = 3
const deletePause = "2 seconds"

/** Finds a node in the list if the service does not find it by id. If the list may be incomplete, the 404 for the id counts alone. */
const listed = Effect.fnUntraced(function* (id: NodeId, name: string) {
  const nodes = yield* Nodes
  const named = yield* Effect.catchIf(
    nodes.named(name, { lane: "interactive" }),
    ({ reason }) => reason._tag === "UnexpectedResponse" && reason.expected === everyNodeShown,
    () => Effect.succeed([])
  )
  return named.find((node) => node.id === id)
})

/** The node by its id, or from the list; undefined if neither has it. */
const read = (id: NodeId, name: string) =>
  Nodes.use((nodes) => nodes.get(id)).pipe(
    Effect.catchIf(
      ({ reason }) => reason._tag === "NodeNotFound",
      () => listed(id, name)
    )
  )

/** Like `read`, but repeats the read while the node is so new that the service may not find it. */
const readNew = Effect.fnUntraced(function* (id: NodeId, { begunAt, name }: Lease) {
  const now = yield* leaseNow
  let node = yield* read(id, name)
  for (const pause of millisBetween(begunAt, now) < newMillis ? pausesMillis : []) {
    if (node !== undefined) break
    yield* Effect.sleep(pause)
    node = yield* read(id, name)
  }
  return node
})

/**
 * Whether the other candidates for the lease's node still exist. If one of them is gone, it may have been the lease's node, and `found`
 * may belong to somebody else.
 */
const othersStay = Effect.fnUntraced(function* ({ candidates = [] }: Lease, found: Node) {
  const others = candidates.filter((id) => id !== found.id)
  const stays = yield* Effect.forEach(others, (id) =>
    Effect.match(
      Nodes.use((nodes) => nodes.get(id as NodeId)),
      { onFailure: () => false, onSuccess: ({ status }) => status !== "terminate" }
    )
  )
  return stays.every(Boolean)
})

const differs = (lease: Lease, found: Node) =>
  new LeasedNodeDiffers({ id: found.id, name: lease.node?.name ?? lease.name, has: found.name })

/** Finds the node of a lease that does not state its node, because the reply to the create was lost. */
const nodeOfLease = Effect.fnUntraced(function* (lease: Lease) {
  const recorded = yield* recordedCreate(lease.key)
  const id = recorded?.nodeId ?? undefined
  const found = yield* id === undefined
    ? nodeToDelete({ ...lease, isNameDrawn: lease.isNameDrawn === true }, lease.key)
    : readNew(id, lease)
  if (found === undefined) return undefined
  // The record has an id only if the create's reply stated it or the client later proved it.
  const isOurs = isSpelling(found.name, lease.name) && (yield* othersStay(lease, found))
  return isOurs ? found : yield* differs(lease, found)
})

/** Finds and verifies the node of a lease; undefined if it no longer exists. */
const provenNode = Effect.fnUntraced(function* (lease: Lease) {
  if (lease.node === null) return yield* nodeOfLease(lease)
  const found = yield* readNew(lease.node.id as NodeId, lease)
  if (found === undefined || isSameNode(lease.node, proofOf(found))) return found
  return yield* differs(lease, found)
})

/** Deletes a node and checks that it is being deleted, because some services accept a delete and do nothing. */
const removed = Effect.fnUntraced(function* (lease: Lease, node: Node, perHourInr: number | null) {
  const { id, name } = node
  const ensureSame = (read: Node) =>
    isSameNode(proofOf(node), proofOf(read)) ? Effect.void : Effect.fail(differs(lease, read))
  for (let sent = 1; ; sent++) {
    const isGone = yield* deleteRead(id, ensureSame).pipe(
      Effect.as(false),
      Effect.catchIf(
        (failure) => failure._tag === "BerthError" && failure.reason._tag === "NodeNotFound",
        () => Effect.succeed(true)
      )
    )
    // After a 404, read the node again by its id alone: one 404 may be false, and the list may still show a node that
    // is gone. In all other cases the service has accepted the delete, so a failed read does not matter.
    const after = isGone
      ? yield* Effect.catchIf(
          Nodes.use((nodes) => nodes.get(id)),
          ({ reason }) => reason._tag === "NodeNotFound",
          () => Effect.succeed(undefined)
        )
      : yield* Effect.orElseSucceed(read(id, name), () => undefined)
    if (after === undefined || after.status === "terminate") return
    yield* ensureSame(after)
    if (sent === maxDeletes) return yield* new LeasedNodeStays({ id, name, perHourInr })
    yield* Effect.sleep(deletePause)
  }
})

/** Saves the candidates for the lease's node, because one of them may be gone at the next check. */
const keepCandidates = (lease: Lease, { reason }: BerthError) => {
  if (reason._tag !== "OutcomeUnknown" || reason.candidates.length < 2) return Effect.void
  const candidates = Array.from(new Set([...(lease.candidates ?? []), ...reason.candidates]))
  return Effect.ignore(leases.put({ ...lease, candidates }))
}

/** Fails if a fleet may protect the node of another run. A run always deletes the node that it created itself. */
const ensureMayGo = Effect.fnUntraced(function* (lease: Lease, { id, name }: Node) {
  if (isSameOwner(lease.owner, yield* self)) return
  yield* ensureUnprotected([{ id, name }], `Node ${id} (${name}) was not deleted, and is billed.`)
})

/**
 * Ends a lease. Call it within `leases.change`, which reads the lease again: another process may have ended it. A node that has become
 * a member of a fleet stays.
 */
export const endLease = Effect.fnUntraced(function* (lease: Lease) {
  const name = lease.node?.name ?? lease.name
  const perHourInr = lease.price?.perHourInr ?? null
  const notDeleted = (id: number | null) =>
    Effect.fnUntraced(function* (failure: BerthError | LeasedNodeDiffers | LeasedNodeStays) {
      if (failure._tag !== "BerthError") return yield* failure
      if (id === null) yield* keepCandidates(lease, failure)
      const place = yield* Effect.orElseSucceed(leases.placeOf(lease.key), () => undefined)
      const sentAt = (yield* recordedCreate(lease.key))?.sentAt ?? null
      const wait = sentAt === null ? "eleven minutes" : waitText(sentAt, yield* instantNow)
      return yield* new LeasedNodeNotDeleted({
        id,
        name,
        perHourInr,
        error: failure,
        removal: place && removalText(place),
        wait
      })
    })
  const node = yield* Effect.catch(provenNode(lease), notDeleted(lease.node?.id ?? null))
  const member = node === undefined ? undefined : (yield* memberships).get(node.id)
  if (node !== undefined && member === undefined) yield* ensureMayGo(lease, node)
  if (member !== undefined) {
    yield* printNote(
      `Node ${node!.id} (${node!.name}) is ${member.member} of the fleet ${member.fleet} now: it stays, and is billed.`
    )
  } else if (node !== undefined && node.status !== "terminate") {
    if (lease.keptSince !== null) yield* leases.put({ ...lease, isEnding: true })
    yield* Effect.catch(removed(lease, node, perHourInr), notDeleted(node.id)).pipe(
      Effect.provideService(ChangedFor, { fleet: null, lease: lease.key })
    )
  }
  const store = yield* IntentStore
  const forgotten = leases.remove(lease.key)
  // If the node is gone or belongs to a fleet, ignore a failure to remove the lease: the next reap finds that the lease
  // has ended.
  yield* node === undefined ? forgotten : Effect.catch(forgotten, ({ message }) => printNote(message))
  if (store !== undefined) yield* Effect.ignore(store.remove(lease.key))
  const end: LeaseEnd = {
    outcome:
      member !== undefined ? "in-fleet" : node !== undefined ? "deleted" : lease.node === null ? "nothing" : "gone",
    id: node?.id ?? (lease.node?.id as NodeId | undefined) ?? null,
    name,
    node: node ?? null
  }
  return end
})

/** Whether a lease is due now. */
const standing = Effect.fnUntraced(function* (lease: Lease, withinMillis: number): Effect.fn.Return<Standing> {
  const alive = yield* isRunning(lease.owner)
  return standingOf(lease, alive, yield* leaseNow, withinMillis)
})

/** The leases that are due, and the files that are not readable leases. */
export const dueLeases = Effect.fnUntraced(function* (withinMillis: number) {
  const { unreadable, values } = yield* leases.all
  const due = yield* Effect.filter(values, (lease) =>
    Effect.map(standing(lease, withinMillis), (found) => found === "due")
  )
  return { due, unreadable }
})

/** The failure for an unreadable lease file, whose node may be billed. */
export const unreadableLease = (place: Place): LocalFileFault =>
  new LocalFileFault({
    path: place.path,
    message: `${place.path} is not a lease that this berth can read; it is left alone. Its node may be billed.`,
    hint: `Find its node with berth node list --name 'run-*', delete the node, then ${removalText(place)}.`
  })

const reapDue = (due: Lease, withinMillis: number) =>
  leases
    .change(
      due.key,
      Effect.fnUntraced(function* (lease) {
        // Another process may have ended the lease, or may have taken over its node, in the meantime.
        if (lease === undefined || (yield* standing(lease, withinMillis)) !== "due") return Option.none<NodeResult>()
        const { id, name, node, outcome } = yield* endLease(lease)
        return Option.some<NodeResult>({ id, name, outcome, node, error: null })
      })
    )
    .pipe(
      Effect.catch((failure) => {
        const { name, node } = due
        const problem = problemOf(failure)
        return Effect.succeedSome<NodeResult>({
          id: (node?.id as NodeResult["id"]) ?? null,
          name: node?.name ?? name,
          outcome: "failed",
          node: null,
          error: {
            ...problem,
            details: { ...problem.details, run: { pid: due.owner.pid, startTime: due.owner.startTime } }
          }
        })
      })
    )

/** The same, with its progress. */
const reapOne = Effect.fnUntraced(function* (due: Lease, withinMillis: number, show: ShowState) {
  const { name, node } = due
  const what = node === null ? name : `${node.name} (${node.id})`
  yield* show({ what, state: node === null ? "looking for its node" : "deleting" })
  const row = yield* reapDue(due, withinMillis)
  yield* show({ what, state: Option.exists(row, ({ error }) => error !== null) ? "not deleted" : "gone" })
  return row
})

/** Ends every due lease, and returns a row for each. If a node cannot be deleted, its lease stays. */
export const reapLeases = Effect.fnUntraced(function* (withinMillis = 0) {
  const { due, unreadable } = yield* dueLeases(withinMillis)
  const rows = yield* withProgress({ goal: "deleted", total: due.length, isQuiet: true }, (show) =>
    Effect.forEach(due, (lease) => reapOne(lease, withinMillis, show), { concurrency })
  )
  return { rows: rows.flatMap(Option.toArray), unreadable }
})

/** The criteria for a kept node. */
interface Wanted {
  readonly order: string
  /** Any name if none is given. */
  readonly name: string | undefined
  readonly ttlMillis: number
}

/** Takes over one lease, if its node is still kept and runs. */
const takeOne = (key: string, ttlMillis: number) =>
  leases.change(
    key,
    Effect.fnUntraced(function* (lease) {
      if (lease === undefined || standingOf(lease, undefined, yield* leaseNow) !== "kept") return undefined
      const node = yield* Effect.orElseSucceed(provenNode(lease), () => undefined)
      if (node?.status !== "running") return undefined
      const taken = takenOver(lease, ttlMillis, yield* self, yield* leaseNow)
      yield* leases.put(taken)
      return { lease: taken, node }
    })
  )

/** The kept node with the most paid time left, and its lease; undefined if there is none. */
export const takeKept = Effect.fnUntraced(function* ({ name, order, ttlMillis }: Wanted) {
  const { values } = yield* leases.all
  const now = yield* leaseNow
  const members = yield* memberships
  const fits = (lease: Lease) =>
    lease.keptSince !== null &&
    !(lease.node !== null && members.has(lease.node.id)) &&
    lease.order === order &&
    (name === undefined || lease.name === name)
  const candidates = values.filter(fits).toSorted((a, b) => paidMillisLeft(b, now) - paidMillisLeft(a, now))
  for (const { key } of candidates) {
    const taken = yield* takeOne(key, ttlMillis)
    if (taken === undefined) continue
    const { id, name: has } = taken.node
    yield* printNote(
      `Took node ${id} (${has}), which an earlier run kept; its hour has ${elapsed(paidMillisLeft(taken.lease, now))} left.${chargedText(taken.lease, now)}`
    )
    return taken
  }
  return undefined
})
