/**
 * `berth node delete`: shows what it is about to delete, asks, and deletes.
 */
import { Nodes } from "@berth/core/client/Nodes"
import type { Node } from "@berth/core/domain/Node"
import { Effect, Option, Result } from "effect"
import { Command, Flag } from "effect/cli"
import { client } from "../../config/client.ts"
import { paths } from "../../config/paths.ts"
import { problemOf } from "../../failure/Problem.ts"
import { nodeColumns } from "../../output/nodeColumns.ts"
import { Output } from "../../output/Output.ts"
import { OutputFormat } from "../../output/OutputFormat.ts"
import { printOutcomes } from "../../output/outcomeView.ts"
import { type Preview, previewView } from "../../output/Preview.ts"
import { printAll } from "../../output/print.ts"
import { withProgress } from "../../output/progress.ts"
import { report } from "../../output/report.ts"
import { reportFailures } from "../../output/reportFailures.ts"
import { table } from "../../output/table.ts"
import { someNodes } from "../../target/NodeArgument.ts"
import { failIfSomeFailed, forEachNode, nameOf } from "../../target/NodeOutcome.ts"
import { lookAt, type Resolution, resolveNodes } from "../../target/resolve.ts"
import { resumable, waitFor } from "../../target/waitFor.ts"
import { confirm, ensureAskable } from "./confirm.ts"

const flags = {
  nodes: someNodes,
  yes: Flag.Boolean("yes").pipe(
    Flag.withoutNegation,
    Flag.withAlias("y"),
    Flag.withDescription("Do not ask"),
    Flag.withDefault(false)
  ),
  wait: Flag.Boolean("wait").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Wait until the nodes are gone"),
    Flag.withDefault(false)
  ),
  dryRun: Flag.Boolean("dry-run").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Show what would be deleted, and stop"),
    Flag.withDefault(false)
  )
}

const nodesOf = (resolution: Resolution): ReadonlyArray<Node> =>
  resolution.nodes.flatMap((node) => (Result.isSuccess(node) ? Option.toArray(node.success.listed) : []))

/** Prints what would be done, and says of every argument that came to no node why. */
const dryRun = Effect.fnUntraced(function* (resolution: Resolution) {
  const outcomes = yield* forEachNode(resolution, ({ listed }) =>
    Effect.succeed({ outcome: "would be deleted", node: listed })
  )
  const previews = nodesOf(resolution).map(({ id, name }): Preview => ({
    action: "delete",
    id,
    name,
    request: { method: "DELETE", path: paths().nodes.delete({ params: { node_id: id } }), body: null },
    pricePerHourInr: null,
    pricePerMonthInr: null,
    committedPriceInr: null,
    outcome: "the node and its disk are gone"
  }))
  yield* printAll(previewView, previews)
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
    if (Result.isFailure(node)) yield* report(problemOf(node.failure.failure), format)
  yield* note(table(nodeColumns, nodes, { available: stderr.columns, colour: stderr.colour }).text.trimEnd())
  const question = nodes.length === 1 ? `Delete node ${only.name} (${only.id})?` : `Delete these ${nodes.length} nodes?`
  yield* confirm(question, "Nothing was deleted.")
})

export const remove = Command.make(
  "delete",
  flags,
  Effect.fnUntraced(function* ({ dryRun: dry, nodes: given, wait, yes }) {
    const nodes = yield* Nodes
    if (!yes && !dry) yield* ensureAskable
    const named = yield* resolveNodes(given)
    if (dry) return yield* dryRun(yield* lookAt(named))
    const resolution = yes ? named : yield* lookAt(named)
    if (!yes) yield* ask(resolution)

    const ids = resolution.nodes.filter(Result.isSuccess).map(({ success }) => success.id)
    const gone = { goal: "deleted", timeout: Option.none() } as const
    const outcomes = yield* wait
      ? withProgress("deleted", (tell) =>
          forEachNode(resolution, (found) =>
            nodes
              .delete(found.id)
              .pipe(
                Effect.andThen(waitFor({ id: found.id, name: nameOf(found) }, gone, tell)),
                Effect.as({ outcome: "deleted", node: found.listed })
              )
          )
        ).pipe(resumable(ids.map(String), gone))
      : forEachNode(resolution, (found) =>
          Effect.as(nodes.delete(found.id), { outcome: "deleting", node: found.listed })
        )
    yield* printOutcomes(outcomes, resolution.single)
    yield* failIfSomeFailed(outcomes)
  })
).pipe(Command.withDescription("Delete nodes"), Command.provide(client))
