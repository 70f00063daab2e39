/**
 * `berth node wait`: waits until nodes have a status or are gone.
 */
import { endingWithin, leftMillis } from "@berthkit/core/client/call/Deadline"
import { Duration, Effect, Result } from "effect"
import { command } from "../command.ts"
import { duration, flag, flagOr, oneOf, type Values } from "../../commandLine/Parameter.ts"
import { NameChanged } from "../../failure/CliFailure.ts"
import { waitCommand } from "../../failure/callInWords.ts"
import { failed, failIfSomeFailed, forEachNode, isMissing, printOutcomes } from "../../nodes/forEachNode.ts"
import { printNote } from "../../output/Output.ts"
import { whenInterrupted } from "../../output/reportProblem.ts"
import { type Resolution, resolveNodes } from "../../nodes/resolve.ts"
import { looking, parseTarget, someNodes } from "../../nodes/Target.ts"
import { waitForNamed, withWholeNodes } from "../../nodes/waitFor.ts"
import { withProgress } from "../../output/progress.ts"
import type { NodeResult } from "../../records/outcome.ts"
import { client } from "../../settings/client.ts"

/** The goals of a wait: every status that a node can reach, and its deletion. */
export const goals = ["running", "created", "power-off", "terminate", "deleted"] as const

const flags = {
  nodes: someNodes,
  goal: flagOr("for", oneOf(goals, "STATUS"), "Status to wait for, or deleted; default running", "running"),
  timeout: flag("timeout", duration(), "Maximum time to wait; default 10m")
}

/** Time limit of the read before the wait. If the read fails, the wait begins nevertheless, because a wait survives temporary failures. */
const maxReadMillis = 5000

const withUnreadIds = (resolution: Resolution): Resolution => ({
  ...resolution,
  nodes: resolution.nodes.map((node) =>
    Result.isFailure(node) &&
    node.failure.id !== null &&
    node.failure.failure._tag === "BerthError" &&
    node.failure.failure.retryable
      ? Result.succeed({
          given: node.failure.given,
          id: node.failure.id,
          node: null,
          isRead: false,
          isNamed: () => true
        })
      : node
  )
})

/** A wait for several nodes reads the list. This function then fails the nodes whose own record has another name. */
const withNamesChecked = (
  outcomes: ReadonlyArray<NodeResult>,
  { nodes }: Resolution
): Effect.Effect<ReadonlyArray<NodeResult>, NameChanged> =>
  Effect.forEach(outcomes, (outcome, i) => {
    const target = nodes[i]!
    if (Result.isFailure(target) || outcome.node === null || target.success.isNamed(outcome.node.name)) {
      return Effect.succeed(outcome)
    }
    const { given, id } = target.success
    const changed = new NameChanged({ given, id, has: outcome.node.name })
    return nodes.length === 1 ? Effect.fail(changed) : Effect.succeed(failed(target, changed))
  })

/** Prints a note about names that match no node, because they may be mistyped. */
const noteMissing = ({ nodes }: Resolution) =>
  Effect.forEach(
    nodes.filter(Result.isFailure),
    ({ failure: { failure } }) =>
      isMissing(failure) ? printNote(`${failure.message} There is nothing to wait for.`) : Effect.void,
    { discard: true }
  )

const waited = Effect.fnUntraced(function* ({ goal, nodes: given, timeout }: Values<typeof flags>) {
  // Leave at least half of the time to the wait, which reports what it has seen.
  const readMillis = Math.min(maxReadMillis, (yield* leftMillis) / 2)
  const readTime = Duration.millis(Math.max(1, readMillis))
  const resolution = withUnreadIds(yield* resolveNodes(given, looking, { retry: false, deadline: readTime }))
  const reached = yield* withProgress({ goal, total: resolution.nodes.length }, (show) =>
    forEachNode(
      resolution,
      (found) =>
        Effect.map(waitForNamed(found, { goal, timeout }, show), (later) => ({
          outcome: goal as string,
          node: later ?? found.node
        })),
      // A missing node counts as deleted.
      { ignoreNotFound: goal === "deleted", absent: goal }
    )
  ).pipe(
    whenInterrupted(() => {
      const isOne = given.length === 1 && parseTarget(given[0]!)._tag !== "Pattern"
      const message = `Interrupted; the ${isOne ? "node is" : "nodes are"} unchanged.`
      return { message, hint: waitCommand(given, { goal }) }
    })
  )
  const outcomes = yield* withNamesChecked(yield* withWholeNodes(reached, goal), resolution)
  if (goal === "deleted") yield* noteMissing(resolution)
  yield* printOutcomes(outcomes, resolution.single)
  yield* failIfSomeFailed(outcomes)
})

export const wait = command(
  flags,
  (options) => (options.timeout === undefined ? waited(options) : endingWithin(options.timeout)(waited(options))),
  client
)
