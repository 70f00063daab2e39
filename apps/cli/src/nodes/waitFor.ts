/**
 * Waits for nodes, showing their progress. An interrupted wait prints the command that goes on waiting.
 */
import { Nodes } from "@berth/core/client/Nodes"
import type { Goal } from "@berth/core/client/waiting/Waiting"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Node, NodeId } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"
import { type Duration, Effect, Option } from "effect"
import { Interrupted } from "../failure/CliFailure.ts"
import { problemOf } from "../failure/Problem.ts"
import { quoted } from "../output/format.ts"
import type { Output } from "../output/Output.ts"
import { OutputFormat } from "../output/OutputFormat.ts"
import type { ShowState } from "../output/progress.ts"
import { reportProblem } from "../output/reportProblem.ts"
import { isPattern } from "./Target.ts"

/** The goal of a wait, and its limit. */
export interface Wait {
  readonly goal: Goal
  /** Default: the client's, 10 minutes. */
  readonly timeout: Option.Option<Duration.Duration>
}

/** Waits for one node; succeeds with the node as it is then, or with none when it waited for the node's end. */
export const waitFor = Effect.fn("waitFor")(function* (
  node: { readonly id: NodeId; readonly name: string },
  { goal, timeout }: Wait,
  show: ShowState
): Effect.fn.Return<Option.Option<Node>, BerthError, Nodes> {
  const nodes = yield* Nodes
  const what = node.name === String(node.id) ? node.name : `${node.name} (${node.id})`
  const options = {
    timeout: Option.getOrUndefined(timeout),
    onObserved: (observed: Option.Option<Node>) =>
      show({ what, state: Option.match(observed, { onNone: () => "gone", onSome: ({ status }) => label(status) }) })
  }
  return yield* goal === "deleted"
    ? Effect.as(nodes.awaitDeleted(node.id, options), Option.none<Node>())
    : Effect.asSome(nodes.awaitStatus(node.id, goal, options))
})

/**
 * When interrupted, reports that the nodes are unchanged, and the command that goes on waiting: the one with these arguments,
 * each naming one node or, as a pattern, several.
 */
export const resumable =
  (given: ReadonlyArray<string>, { goal }: Wait) =>
  <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output | Effect.Services<typeof OutputFormat>> =>
    Effect.onInterrupt(wait, () =>
      Effect.gen(function* () {
        const isOne = given.length === 1 && !isPattern(given[0] ?? "")
        const interrupted = new Interrupted({
          message: `Interrupted; the ${isOne ? "node is" : "nodes are"} unchanged.`,
          hint: `To go on waiting: berth node wait ${given.map(quoted).join(" ")} --for ${goal}`
        })
        yield* reportProblem(problemOf(interrupted), yield* OutputFormat)
      })
    )
