/**
 * Waits for nodes and shows the progress. A timeout is allowed only with a wait.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { leftMillis } from "@berthkit/core/client/call/Deadline"
import type { Goal } from "@berthkit/core/client/waiting/Waiting"
import { BerthError } from "@berthkit/core/domain/BerthError"
import { fieldsOf, StatusNotReached } from "@berthkit/core/domain/ErrorReason"
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, isUnstated, label, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { Clock, Deferred, Duration, Effect, Option } from "effect"
import {
  CreatedNotReady,
  DeletedNotGone,
  NameChanged,
  SshSilent,
  silentText,
  UsageFault
} from "../failure/CliFailure.ts"
import { hostOf, isReached } from "../inventory/Host.ts"
import { printNote } from "../output/Output.ts"
import type { ShowState } from "../output/progress.ts"
import type { NodeResult } from "../records/outcome.ts"
import { concurrency, withListed, withListedFields } from "./allNodes.ts"
import { type Found, maxReads } from "./resolve.ts"
import { untilSsh } from "./untilSsh.ts"

/** The goal and limit of a wait. */
export interface Wait {
  readonly goal: Goal
  /** Time limit of the wait; by default the client's, which is 10 minutes. */
  readonly timeout: Duration.Duration | undefined
}

/** Fails if --timeout is given without --wait. */
export const ensureWaits = ({ timeout, wait }: { readonly timeout: Wait["timeout"]; readonly wait: boolean | "ssh" }) =>
  timeout === undefined || wait !== false
    ? Effect.void
    : Effect.fail(new UsageFault({ message: "--timeout needs --wait.", hint: "Add --wait, or omit --timeout." }))

/** Adds the last known status to the error of a wait that failed before its first read. */
const withKnownStatus = (node: Node | null) => (error: BerthError) => {
  const { reason } = error
  if (reason._tag !== "StatusNotReached" || reason.seen.length > 0 || node === null) return error
  const { status } = node
  const known = new StatusNotReached({ ...fieldsOf(reason), last: status, seen: [status] })
  return new BerthError({ operation: error.operation, reason: known, attempts: error.attempts, reply: error.reply })
}

/** The status in words. Says if Berth does not know the status, because an unknown status may be final. */
const stateOf = (status: NodeStatus): string => {
  if (isKnown(status)) return status
  return isUnstated(status) ? "status not stated" : `${label(status)} (a status that berth does not know)`
}

/** Waits for one node; returns its last record, or null after waiting for its deletion. `check` runs with each record. */
export const waitFor = Effect.fn("waitFor")(function* (
  { id, node }: Pick<Found, "id" | "node">,
  { goal, timeout }: Wait,
  show: ShowState,
  check: (node: Node) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Node | null, BerthError, Nodes> {
  const nodes = yield* Nodes
  const what = node === null ? String(id) : `${node.name} (${id})`
  const options = {
    timeout,
    onObserved: (observed: Option.Option<Node>) =>
      Effect.andThen(
        Option.match(observed, { onNone: () => Effect.void, onSome: check }),
        show({ what, state: Option.match(observed, { onNone: () => "gone", onSome: ({ status }) => stateOf(status) }) })
      )
  }
  const waited =
    goal === "deleted" ? Effect.as(nodes.awaitDeleted(id, options), null) : nodes.awaitStatus(id, goal, options)
  return yield* Effect.mapError(waited, withKnownStatus(node))
})

/** How long to wait for a running node's public address. */
const maxAddressMillis = 60_000
const addressPausesMillis = [1000, 1000, 2000, 4000]
/** The part of the time limit that is reserved for the last read. */
const lastReadMillis = 1000

/** The conditions for a usable node. */
interface Usable extends Pick<Wait, "timeout"> {
  /** Whether the node was ordered with a public address. On some services a node gets its address only some time after it begins to run. */
  readonly isPublic: boolean
}

/** Reads a running node until it has its public address. After the time limit it prints a note and returns the node as it is. */
const untilAddressed = Effect.fnUntraced(function* (running: Node, maxMillis: number, show: ShowState) {
  const nodes = yield* Nodes
  const what = `${running.name} (${running.id})`
  const startedAt = yield* Clock.currentTimeMillis
  let node = running
  for (let read = 0; hostOf(node).publicIp === null; read++) {
    const left = maxMillis - ((yield* Clock.currentTimeMillis) - startedAt)
    const longest = addressPausesMillis[Math.min(read, addressPausesMillis.length - 1)]!
    const pause = Math.min(longest, left - lastReadMillis)
    if (pause <= 0) {
      yield* printNote(`Node ${what} runs, and has no public address yet. See it later: berth node ip ${node.id}`)
      break
    }
    yield* show({ what, state: "running without its public address" })
    yield* Effect.sleep(pause)
    // The node runs even if this read fails, so keep polling.
    const later = yield* Effect.option(nodes.get(node.id, { lane: "wait", retry: false, deadline: left - pause }))
    if (Option.isSome(later) && later.value.status === "running") node = later.value
  }
  yield* show({ what, state: "running" })
  return node
})

/** Waits until a created node runs and has its addresses. */
export const untilUsable = Effect.fnUntraced(function* (node: Node, { isPublic, timeout }: Usable, show: ShowState) {
  const startedAt = yield* Clock.currentTimeMillis
  const running = (yield* waitFor({ id: node.id, node }, { goal: "running", timeout }, show)) ?? node
  if (!isPublic) return running
  const waitedMillis = (yield* Clock.currentTimeMillis) - startedAt
  const leftOfWait = timeout === undefined ? maxAddressMillis : Duration.toMillis(timeout) - waitedMillis
  return yield* untilAddressed(running, Math.min(maxAddressMillis, leftOfWait, yield* leftMillis), show)
})

/** Waits until a created node is usable. The error names the node, because it exists and costs money. */
export const untilCreatedRuns = (node: Node, usable: Usable, show: ShowState) =>
  untilUsable(node, usable, show).pipe(
    Effect.map((later) => withListed(later, node)),
    Effect.mapError((error) => new CreatedNotReady({ id: node.id, error }))
  )

/** The default limit of a wait for ssh, including the wait until the node runs. */
const maxSshMillis = 600_000

/** Waits until a created node is usable and its ssh server answers. */
export const untilCreatedAnswers = Effect.fnUntraced(function* (node: Node, usable: Usable, show: ShowState) {
  const startedAt = yield* Clock.currentTimeMillis
  const running = yield* untilCreatedRuns(node, usable, show)
  const endMillis = startedAt + (usable.timeout === undefined ? maxSshMillis : Duration.toMillis(usable.timeout))
  const left = Math.min(endMillis - (yield* Clock.currentTimeMillis), yield* leftMillis)
  const silent = yield* untilSsh(running, left, show)
  return silent === undefined ? running : yield* new SshSilent({ id: node.id, name: node.name, ...silent })
})

/** How long `berth run` waits for the ssh server of a running node. */
const maxRunSshMillis = 60_000

/**
 * Waits for a limited time for the ssh server of a leased node. If no server answers, prints a note and succeeds,
 * because not every command needs ssh. If the user asked for the wait, tries every address, as `node create` does.
 * Otherwise skips a node without a reachable public address, because each run would then take a minute longer.
 */
export const untilSshOrNote = Effect.fnUntraced(function* (node: Node, isAsked: boolean, show: ShowState) {
  const { publicIp } = hostOf(node)
  if (!isAsked && !isReached(publicIp)) {
    const why =
      publicIp === null ? "no public address" : `the address ${publicIp}, from a network in which no machine answers`
    return yield* printNote(
      `Node ${node.name} (${node.id}) has ${why}, so berth does not wait for its ssh server. To wait for it all the same: --wait ssh`
    )
  }
  const silent = yield* untilSsh(node, Math.min(maxRunSshMillis, yield* leftMillis), show)
  if (silent === undefined) return
  yield* printNote(
    `${silentText({ id: node.id, name: node.name, ...silent })} The command starts anyway. To start it without this wait: --wait running`
  )
})

/** Waits until a node whose deletion was requested is gone. */
export const untilDeletedGone = (found: Pick<Found, "id" | "node">, timeout: Wait["timeout"], show: ShowState) =>
  Effect.mapError(
    waitFor(found, { goal: "deleted", timeout }, show),
    (error) => new DeletedNotGone({ id: found.id, error })
  )

/** Waits for one named node, and fails as soon as it has another name. */
export const waitForNamed = Effect.fnUntraced(function* (
  found: Found,
  wait: Wait,
  show: ShowState
): Effect.fn.Return<Node | null, BerthError | NameChanged, Nodes> {
  const { given, id, isNamed } = found
  const changed = yield* Deferred.make<never, NameChanged>()
  const check = ({ name }: Node) =>
    isNamed(name)
      ? Effect.void
      : Effect.andThen(Deferred.fail(changed, new NameChanged({ given, id, has: name })), Effect.never)
  return yield* Effect.raceFirst(Deferred.await(changed), waitFor(found, wait, show, check))
})

/** Adds the full records to the outcomes of a wait. A failed read keeps the record of the list. */
export const withWholeNodes = Effect.fnUntraced(function* (outcomes: ReadonlyArray<NodeResult>, goal: Goal) {
  const seen = outcomes.flatMap(({ node }) => (node === null ? [] : [node]))
  // A wait for several nodes reads the list, which does not say whether a node is locked, so read these nodes by id.
  const listed = goal === "deleted" ? [] : seen.filter(({ locked }) => locked === null)
  const nodes = yield* Nodes
  const read = yield* Effect.forEach(
    listed.length > maxReads ? [] : listed,
    (node) => Effect.orElseSucceed(nodes.get(node.id, { retry: false, deadline: "5 seconds" }), () => node),
    { concurrency }
  )
  const later = new Map([...seen, ...read].map((node) => [node.id, node]))
  const whole = new Map((yield* withListedFields(Array.from(later.values()))).map((node) => [node.id, node]))
  return outcomes.map((outcome) => ({
    ...outcome,
    node: outcome.node && (whole.get(outcome.node.id) ?? outcome.node)
  }))
})
