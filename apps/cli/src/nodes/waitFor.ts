/**
 * Waits for nodes, showing their progress; and the rule that a limit needs a wait.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Goal } from "@berthkit/core/client/waiting/Waiting"
import { BerthError } from "@berthkit/core/domain/BerthError"
import { fieldsOf, StatusNotReached } from "@berthkit/core/domain/ErrorReason"
import type { Node } from "@berthkit/core/domain/Node"
import { isKnown, isUnstated, label, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { Deferred, type Duration, Effect, Option } from "effect"
import { CreatedNotReady, DeletedNotGone, NameChanged, UsageFault } from "../failure/CliFailure.ts"
import type { ShowState } from "../output/progress.ts"
import type { NodeResult } from "../records/outcome.ts"
import { concurrency, withListed, withListedFields } from "./allNodes.ts"
import { type Found, maxReads } from "./resolve.ts"

/** The goal of a wait, and its limit. */
export interface Wait {
  readonly goal: Goal
  /** Default: the client's, 10 minutes. */
  readonly timeout: Duration.Duration | undefined
}

/** Fails where a time is given to a wait that is not asked for. */
export const ensureWaits = ({ timeout, wait }: { readonly timeout: Wait["timeout"]; readonly wait: boolean }) =>
  timeout === undefined || wait
    ? Effect.void
    : Effect.fail(new UsageFault({ message: "--timeout needs --wait.", hint: "Add --wait, or omit --timeout." }))

/** A wait that failed before it read the node, with the status that was known before it. */
const withKnownStatus = (node: Node | null) => (error: BerthError) => {
  const { reason } = error
  if (reason._tag !== "StatusNotReached" || reason.seen.length > 0 || node === null) return error
  const { status } = node
  const known = new StatusNotReached({ ...fieldsOf(reason), last: status, seen: [status] })
  return new BerthError({ operation: error.operation, reason: known, attempts: error.attempts, reply: error.reply })
}

/** A status that berth does not know may be the last one: whoever waits is told. */
const stateOf = (status: NodeStatus): string => {
  if (isKnown(status)) return status
  return isUnstated(status) ? "status not stated" : `${label(status)} (a status that berth does not know)`
}

/**
 * Waits for one node; succeeds with the node as it is then, or with null when it waited for the node's end. `check` is run with each
 * record of it.
 */
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

/** Waits until a node that was created runs. One that does not exists all the same, and costs money. */
export const untilCreatedRuns = (node: Node, timeout: Wait["timeout"], show: ShowState) =>
  waitFor({ id: node.id, node }, { goal: "running", timeout }, show).pipe(
    Effect.map((later) => withListed(later ?? node, node)),
    Effect.mapError((error) => new CreatedNotReady({ id: node.id, error }))
  )

/** Waits until a node that was asked to go is gone. */
export const untilDeletedGone = (found: Pick<Found, "id" | "node">, timeout: Wait["timeout"], show: ShowState) =>
  Effect.mapError(
    waitFor(found, { goal: "deleted", timeout }, show),
    (error) => new DeletedNotGone({ id: found.id, error })
  )

/** Waits for one node that was named, and fails as soon as it has another name. */
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

/** The outcomes of a wait with the record of each node as every other command has it. Fails for none. */
export const withWholeNodes = Effect.fnUntraced(function* (outcomes: ReadonlyArray<NodeResult>, goal: Goal) {
  const seen = outcomes.flatMap(({ node }) => (node === null ? [] : [node]))
  // Only a get states whether a node is locked; waits for several nodes read the list.
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
