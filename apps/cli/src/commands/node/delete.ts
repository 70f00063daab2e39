/**
 * `berth node delete`: shows the nodes, asks, and deletes them.
 */
import { deleteRequest } from "@berth/core/client/NodeRequests"
import { Nodes } from "@berth/core/client/Nodes"
import type { Node } from "@berth/core/domain/Node"
import { Effect, Option, Result } from "effect"
import { Command } from "effect/cli"
import { problemOf } from "../../failure/Problem.ts"
import { failIfSomeFailed, forEachNode, printOutcomes, reportFailures } from "../../nodes/forEachNode.ts"
import { type Resolution, resolveNodes, wholeNodes } from "../../nodes/resolve.ts"
import { type Naming, someNodes } from "../../nodes/Target.ts"
import { resumable, waitFor } from "../../nodes/waitFor.ts"
import { Output } from "../../output/Output.ts"
import { OutputFormat } from "../../output/OutputFormat.ts"
import { printAll } from "../../output/print.ts"
import { withProgress } from "../../output/progress.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { table } from "../../output/table.ts"
import { confirm, ensureAskable } from "../../proposal/confirm.ts"
import { proposalRecord, propose } from "../../proposal/Proposal.ts"
import { nodeRecord } from "../../records/node.ts"
import { client } from "../../settings/client.ts"
import { switchFlag } from "../../settings/switches.ts"

const flags = {
  nodes: someNodes,
  yes: switchFlag("yes", "Do not ask"),
  wait: switchFlag("wait", "Wait until the nodes are gone"),
  dryRun: switchFlag("dry-run", "Show what would be deleted, and stop")
}

const naming: Naming = { patterns: true, digitsMayBeName: false }

const nodesOf = (resolution: Resolution): ReadonlyArray<Node> =>
  resolution.nodes.flatMap((node) => (Result.isSuccess(node) ? Option.toArray(node.success.node) : []))

/** Prints the proposal, and reports every argument that names no node. */
const printProposal = Effect.fnUntraced(function* (resolution: Resolution) {
  const outcomes = yield* forEachNode(resolution, ({ node }) => Effect.succeed({ outcome: "would be deleted", node }))
  const proposals = nodesOf(resolution).map(({ id, name }) =>
    propose(deleteRequest(id), { action: "delete", id, name, outcome: "the node and its disk are gone" })
  )
  yield* printAll(proposalRecord, proposals)
  yield* reportFailures(outcomes)
  yield* failIfSomeFailed(outcomes)
})

/** Shows the nodes and asks whether to delete them. */
const ask = Effect.fnUntraced(function* (resolution: Resolution) {
  const { note, stderr } = yield* Output
  const nodes = nodesOf(resolution)
  const [only] = nodes
  if (only === undefined) return
  const format = yield* OutputFormat
  for (const node of resolution.nodes)
    if (Result.isFailure(node)) yield* reportProblem(problemOf(node.failure.failure), format)
  const columns = nodeRecord.fields(nodes).filter(({ cardOnly }) => !cardOnly)
  yield* note(table(columns, nodes, { available: stderr.columns, colour: stderr.colour }).text.trimEnd())
  const question = nodes.length === 1 ? `Delete node ${only.name} (${only.id})?` : `Delete these ${nodes.length} nodes?`
  yield* confirm(question, "Nothing was deleted.")
})

export const remove = Command.make(
  "delete",
  flags,
  Effect.fnUntraced(function* ({ dryRun, nodes: given, wait, yes }) {
    const nodes = yield* Nodes
    if (!yes && !dryRun) yield* ensureAskable
    const resolution = yield* wholeNodes(yield* resolveNodes(given, naming))
    if (dryRun) return yield* printProposal(resolution)
    if (!yes) yield* ask(resolution)

    const ids = resolution.nodes.filter(Result.isSuccess).map(({ success }) => success.id)
    const gone = { goal: "deleted", timeout: Option.none() } as const
    const outcomes = yield* wait
      ? withProgress("deleted", (show) =>
          forEachNode(resolution, (found) =>
            nodes
              .delete(found.id)
              .pipe(Effect.andThen(waitFor(found, gone, show)), Effect.as({ outcome: "deleted", node: found.node }))
          )
        ).pipe(resumable(ids.map(String), gone))
      : forEachNode(resolution, (found) => Effect.as(nodes.delete(found.id), { outcome: "deleting", node: found.node }))
    yield* printOutcomes(outcomes, resolution.single)
    yield* failIfSomeFailed(outcomes)
  })
).pipe(Command.withDescription("Delete nodes"), Command.provide(client))
