/**
 * `berth node delete`: shows the nodes, asks, and deletes them.
 */
import { deleteRequest } from "@berthkit/core/client/NodeOperations"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect, Option, Result } from "effect"
import { ensureUnprotected } from "../../applying/Registry.ts"
import { command } from "../command.ts"
import { lossesOf } from "../../commitmentLog/CommitmentLog.ts"
import { duration, flag, switchFlag } from "../../commandLine/Parameter.ts"
import { waitCommand } from "../../failure/callInWords.ts"
import { failIfSomeFailed, forEachNode, printOutcomes, reportFailures } from "../../nodes/forEachNode.ts"
import { whenInterrupted } from "../../output/reportProblem.ts"
import { type Found, type Resolution, resolveNodes, wholeNodes } from "../../nodes/resolve.ts"
import { type Naming, someNodes } from "../../nodes/Target.ts"
import { ensureWaits, untilDeletedGone } from "../../nodes/waitFor.ts"
import { type ShowState, withCount, withProgress } from "../../output/progress.ts"
import { type Approval, approve, ensureApprovable, type Offered, propose } from "../../proposal/Proposal.ts"
import { client } from "../../settings/client.ts"

const flags = {
  nodes: someNodes,
  yes: switchFlag("yes", "Do not ask"),
  wait: switchFlag("wait", "Wait until the nodes are gone"),
  timeout: flag("timeout", duration(), "Maximum time to wait; default 10m"),
  keepIp: switchFlag("keep-ip", "Keep the public address, which may cost money"),
  ignoreNotFound: switchFlag("ignore-not-found", "Succeed if a node does not exist"),
  dryRun: switchFlag("dry-run", "Show what would be deleted, and stop")
}

const naming: Naming = { patterns: true, digitsMayBeName: false, change: true }

/** The proposal to delete a node. */
export const proposalOf = ({ id, name }: Pick<Node, "id" | "name">, loss: string | undefined, keepIp = false) =>
  propose(deleteRequest(id, keepIp), {
    action: "delete",
    id,
    name,
    outcome: `its disk is deleted too${keepIp ? ", its public address stays" : ""}${loss === undefined ? "" : `; ${loss}`}`
  })

const offered = Effect.fnUntraced(function* (resolution: Resolution, keepIp: boolean) {
  yield* ensureUnprotected(
    resolution.nodes.flatMap((found) =>
      Result.isSuccess(found) ? [{ id: found.success.id, name: found.success.node?.name ?? null }] : []
    )
  )
  const losses = yield* lossesOf
  return {
    proposals: resolution.nodes.flatMap((node) =>
      Result.isSuccess(node) && node.success.node !== null
        ? [proposalOf(node.success.node, losses(node.success.id), keepIp)]
        : []
    ),
    single: resolution.single,
    order: resolution
  } satisfies Offered<Resolution>
})

/** Reports every argument that matches no node. */
const reportUnfound = Effect.fnUntraced(function* (resolution: Resolution, ignoreNotFound: boolean) {
  const outcomes = yield* forEachNode(resolution, ({ node }) => Effect.succeed({ outcome: "", node }), {
    ignoreNotFound
  })
  yield* reportFailures(outcomes)
  return outcomes
})

/** The progress of each node's delete. No entry means that no delete was sent. */
type Progress = Map<NodeId, "sent" | "answered">

/** The nodes that were deleted before the user pressed Ctrl-C. */
const deletedSoFar = (
  ids: ReadonlyArray<NodeId>,
  progress: Progress,
  { keepIp, wait }: { readonly keepIp: boolean; readonly wait: boolean }
) => {
  const [deleting, unknown] = (["answered", "sent"] as const).map((how) => ids.filter((id) => progress.get(id) === how))
  const details = { deleting, unknown }
  const rest = ids.filter((id) => progress.get(id) !== "answered")
  const named = (some: ReadonlyArray<NodeId> = [], one: string, several: string) =>
    some.length === 0
      ? ""
      : ` ${some.length === 1 ? "Node" : "Nodes"} ${some.join(", ")} ${some.length === 1 ? one : several}.`
  if (rest.length === 0) {
    const message = `Interrupted.${named(ids, "is being deleted", "are being deleted")}`
    return { message, hint: wait ? waitCommand(ids.map(String), { goal: "deleted" }) : "", details }
  }
  const answered = `Interrupted; ${ids.length - rest.length} of ${ids.length} deletes were answered.`
  const flags = `${keepIp ? " --keep-ip" : ""} --ignore-not-found`
  return {
    message: `${answered}${named(deleting, "is being deleted", "are being deleted")}${named(unknown, "may be deleted", "may be deleted")}`,
    hint: `To delete the rest: berth node delete ${rest.join(" ")}${flags}`,
    details
  }
}

export const remove = command(
  flags,
  Effect.fnUntraced(function* ({ dryRun, ignoreNotFound, keepIp, nodes: given, timeout, wait, yes }) {
    yield* ensureWaits({ timeout, wait })
    const approval: Approval = {
      verb: "delete",
      mustAsk: true,
      yes,
      dryRun
    }
    yield* ensureApprovable(approval)
    const read = Effect.flatMap(Effect.flatMap(resolveNodes(given, naming), wholeNodes), (resolution) =>
      offered(resolution, keepIp)
    )
    const first = yield* read
    // With --yes, the result has a row for every node, even a missing one. Otherwise missing nodes are reported before the question.
    const unfound = yes && !dryRun ? [] : yield* reportUnfound(first.order, ignoreNotFound)
    const approved = yield* approve(first, read, approval)
    if (Option.isNone(approved)) return yield* failIfSomeFailed(unfound)
    const resolution = approved.value

    const ids = resolution.nodes.filter(Result.isSuccess).map(({ success }) => success.id)
    const progress: Progress = new Map()
    const send = (id: NodeId) =>
      Effect.suspend(() => {
        progress.set(id, "sent")
        return Nodes.use((nodes) => nodes.delete(id, { keepPublicIp: keepIp }))
      }).pipe(
        Effect.tap(() => Effect.sync(() => progress.set(id, "answered"))),
        Effect.tapError(({ reason }) => Effect.sync(() => void (reason.mayBeProcessed || progress.delete(id))))
      )
    const untilGone = ({ id, node }: Found, show: ShowState) =>
      untilDeletedGone({ id, node: node && { ...node, status: "terminate" } }, timeout, show)
    const goal = wait ? "deleted" : "deleting"
    const deleted = (wait ? withProgress : withCount)({ goal, total: resolution.nodes.length }, (show) =>
      forEachNode(
        resolution,
        (found) =>
          send(found.id).pipe(
            Effect.andThen(
              wait ? Effect.asVoid(untilGone(found, show)) : show({ what: String(found.id), state: goal })
            ),
            Effect.as({ outcome: goal, node: found.node })
          ),
        { ignoreNotFound }
      )
    )
    const outcomes = yield* whenInterrupted(() => deletedSoFar(ids, progress, { keepIp, wait }))(deleted)
    yield* printOutcomes(outcomes, resolution.single)
    yield* failIfSomeFailed(outcomes)
  }),
  client
)
