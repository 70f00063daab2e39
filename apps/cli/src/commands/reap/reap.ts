/**
 * `berth reap`: deletes only the nodes that earlier runs left behind.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import { Duration, Effect } from "effect"
import { lossesOf } from "../../commitmentLog/CommitmentLog.ts"
import { command } from "../command.ts"
import { proposalOf } from "../node/delete.ts"
import { duration, flagOr, switchFlag } from "../../commandLine/Parameter.ts"
import { failIfSomeFailed, printOutcomes } from "../../nodes/forEachNode.ts"
import { problemOf } from "../../failure/Problem.ts"
import { printNote } from "../../output/Output.ts"
import { reportProblem } from "../../output/reportProblem.ts"
import { dueLeases, memberships, reapLeases, unreadableLease } from "../../applying/leasedNodes.ts"
import { printAll } from "../../output/print.ts"
import { proposalRecord } from "../../proposal/Proposal.ts"
import type { Place } from "../../state/Kind.ts"
import { type NodeResult, outcomeRecord } from "../../records/outcome.ts"
import { leasingClient } from "../../settings/leasingClient.ts"

const flags = {
  within: flagOr(
    "within",
    duration({ minMillis: 0, maxMillis: 3_600_000 }),
    "Also delete kept nodes whose paid hour ends within this time; default 0s",
    Duration.zero
  ),
  dryRun: switchFlag("dry-run", "Show what would be deleted, and stop")
}

/** Reports unreadable lease files. Fails if there is such a file or if a node was not deleted. */
const ended = Effect.fnUntraced(function* (rows: ReadonlyArray<NodeResult>, unreadable: ReadonlyArray<Place>) {
  const faults = unreadable.map(unreadableLease)
  const last = rows.every(({ error }) => error === null) ? faults.pop() : undefined
  for (const fault of faults) yield* reportProblem(problemOf(fault))
  yield* failIfSomeFailed(rows)
  if (last !== undefined) return yield* last
})

export const reap = command(
  flags,
  Effect.fnUntraced(function* ({ dryRun, within }) {
    const withinMillis = Duration.toMillis(within)
    if (dryRun) {
      const { due: all, unreadable } = yield* dueLeases(withinMillis)
      const members = yield* memberships
      const due = all.filter(({ node }) => node === null || !members.has(node.id))
      const unknown = due.filter(({ node }) => node === null).map(({ name }) => name)
      if (unknown.length > 0)
        yield* printNote(`${unknown.join(", ")}: it is not known whether the create made a node; berth reap finds out.`)
      const losses = yield* lossesOf
      const proposals = due.flatMap(({ name, node }) =>
        node === null ? [] : [proposalOf({ id: node.id as NodeId, name }, losses(node.id))]
      )
      yield* printAll(proposalRecord, proposals)
      return yield* ended([], unreadable)
    }
    const { rows, unreadable } = yield* reapLeases(withinMillis)
    if (rows.length === 0) yield* printAll({ ...outcomeRecord, none: "no nodes that runs left behind" }, [])
    else yield* printOutcomes(rows, false)
    yield* ended(rows, unreadable)
  }),
  leasingClient(true)
)
