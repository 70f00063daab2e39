/**
 * What came of a verb for one of the nodes it was given: one result row each.
 */
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Node, NodeId } from "@berth/core/domain/Node"
import { Effect, Option, Result } from "effect"
import { type CliFailure, SomeFailed } from "../failure/CliFailure.ts"
import { type Problem, problemOf } from "../failure/Problem.ts"
import { concurrency, type Found, type Resolution } from "./resolve.ts"

export interface NodeOutcome {
  readonly id: NodeId | null
  /** The node's name; where it is not known, the argument as it was given. */
  readonly name: string
  /** What it came to, such as `running` or `deleted`; `failed` when there is an error. */
  readonly outcome: string
  /** The node as it was seen last, where it was. */
  readonly node: Node | null
  readonly error: Problem | null
}

/** How a verb ended for a node. */
export interface Ended {
  readonly outcome: string
  readonly node: Option.Option<Node>
}

/** The name a node is known by. */
export const nameOf = ({ given, listed }: Found): string =>
  Option.match(listed, { onNone: () => given, onSome: ({ name }) => name })

/** Does it to every node; a failure is a row and ends nothing, except when there is only the one. */
export const forEachNode = Effect.fnUntraced(function* <R>(
  resolution: Resolution,
  act: (node: Found) => Effect.Effect<Ended, BerthError, R>
): Effect.fn.Return<ReadonlyArray<NodeOutcome>, BerthError | CliFailure, R> {
  const one = (target: Resolution["nodes"][number]) =>
    Effect.gen(function* () {
      const found = yield* Effect.fromResult(Result.mapError(target, ({ failure }) => failure))
      const { node, outcome } = yield* act(found)
      const name = Option.match(node, { onNone: () => nameOf(found), onSome: ({ name }) => name })
      return { id: found.id, name, outcome, node: Option.getOrNull(node), error: null }
    })
  const failed = (target: Resolution["nodes"][number], failure: BerthError | CliFailure): NodeOutcome =>
    Result.match(target, {
      onFailure: ({ given }) => ({ id: null, name: given, outcome: "failed", node: null, error: problemOf(failure) }),
      onSuccess: (found) => ({
        id: found.id,
        name: nameOf(found),
        outcome: "failed",
        node: Option.getOrNull(found.listed),
        error: problemOf(failure)
      })
    })
  const alone = resolution.nodes.length === 1
  return yield* Effect.forEach(
    resolution.nodes,
    (target) => (alone ? one(target) : Effect.catch(one(target), (failure) => Effect.succeed(failed(target, failure)))),
    { concurrency }
  )
})

/** Fails when some of the rows did. */
export const failIfSomeFailed = (outcomes: ReadonlyArray<NodeOutcome>): Effect.Effect<void, SomeFailed> => {
  const failed = outcomes.filter(({ error }) => error !== null).length
  return failed === 0 ? Effect.void : Effect.fail(new SomeFailed({ failed, of: outcomes.length }))
}
