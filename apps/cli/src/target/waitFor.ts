/**
 * Waits for nodes, showing how they get on, and says how to go on waiting when it is interrupted.
 */
import { Nodes } from "@berth/core/client/Nodes"
import type { Goal } from "@berth/core/client/waiting/Waiting"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Node, NodeId } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"
import { type Duration, Effect, Option } from "effect"
import { Interrupted } from "../failure/CliFailure.ts"
import { problemOf } from "../failure/Problem.ts"
import type { Output } from "../output/Output.ts"
import { OutputFormat } from "../output/OutputFormat.ts"
import type { Tell } from "../output/progress.ts"
import { quoted } from "../output/quoted.ts"
import { report } from "../output/report.ts"
import { isPattern } from "./Target.ts"

/** What is waited for, and for how long. */
export interface Wait {
  readonly goal: Goal
  /** None is the client's default, 10 minutes. */
  readonly timeout: Option.Option<Duration.Duration>
}

/** Waits for one node; succeeds with the node as it is then, or with nothing when its end was waited for. */
export const waitFor = Effect.fn("waitFor")(function* (
  node: { readonly id: NodeId; readonly name: string },
  { goal, timeout }: Wait,
  tell: Tell
): Effect.fn.Return<Option.Option<Node>, BerthError, Nodes> {
  const nodes = yield* Nodes
  const what = node.name === String(node.id) ? node.name : `${node.name} (${node.id})`
  const options = {
    timeout: Option.getOrUndefined(timeout),
    onObserved: (observed: Option.Option<Node>) =>
      tell({ what, state: Option.match(observed, { onNone: () => "gone", onSome: ({ status }) => label(status) }) })
  }
  return yield* goal === "deleted"
    ? Effect.as(nodes.awaitDeleted(node.id, options), Option.none<Node>())
    : Effect.asSome(nodes.awaitStatus(node.id, goal, options))
})

/**
 * When interrupted, says that the nodes are left alone and which command goes on waiting: the one with these arguments,
 * each naming one node or, as a pattern, several.
 */
export const resumable =
  (given: ReadonlyArray<string>, { goal }: Wait) =>
  <A, E, R>(wait: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output | Effect.Services<typeof OutputFormat>> =>
    Effect.onInterrupt(wait, () =>
      Effect.gen(function* () {
        const one = given.length === 1 && !isPattern(given[0] ?? "")
        const interrupted = new Interrupted({
          message: `Interrupted; the ${one ? "node is" : "nodes are"} left as ${one ? "it is" : "they are"}.`,
          hint: `To go on waiting: berth node wait ${given.map(quoted).join(" ")} --for ${goal}`
        })
        yield* report(problemOf(interrupted), yield* OutputFormat)
      })
    )
