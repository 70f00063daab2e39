/**
 * Applies a verb (the action of a command) to every node that its arguments name, with one outcome for each node.
 */
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node } from "@berthkit/core/domain/Node"
import { Effect, Result } from "effect"
import { type DeletedNotGone, type NameChanged, SomeFailed } from "../failure/CliFailure.ts"
import { type Failure, problemOf } from "../failure/Problem.ts"
import { OutputFormat } from "../output/OutputOptions.ts"
import { printAll, printOne } from "../output/print.ts"
import { reportHints, reportProblem } from "../output/reportProblem.ts"
import { type NodeResult, outcomeRecord } from "../records/outcome.ts"
import { concurrency } from "./allNodes.ts"
import type { Found, Resolution } from "./resolve.ts"

/** What a verb did to a node. */
export interface Done {
  readonly outcome: string
  /** The node afterwards; null if unknown. */
  readonly node: Node | null
}

/** The outcome of a verb that failed for a node. */
export const failed = (target: Resolution["nodes"][number], failure: Failure): NodeResult => {
  const error = problemOf(failure)
  return Result.match(target, {
    onFailure: ({ id, name }) => ({ id, name, outcome: "failed", node: null, error }),
    onSuccess: ({ id, node }) => ({ id, name: node?.name ?? null, outcome: "failed", node, error })
  })
}

/** Whether the failure means that the node does not exist. */
export const isMissing = (failure: Failure): boolean =>
  failure._tag === "NameNotFound" || (failure._tag === "BerthError" && failure.reason._tag === "NodeNotFound")

/**
 * Runs the verb for each node. If there are several nodes, a failure becomes the outcome of its node, and the others continue. If there
 * is only one node, its failure fails the command. With `ignoreNotFound`, a missing node has the outcome `absent`, or the given word.
 */
export const forEachNode = Effect.fnUntraced(function* <R>(
  resolution: Resolution,
  act: (node: Found) => Effect.Effect<Done, BerthError | DeletedNotGone | NameChanged, R>,
  { absent = "absent", ignoreNotFound = false } = {}
): Effect.fn.Return<ReadonlyArray<NodeResult>, Failure, R> {
  const attempt = (target: Resolution["nodes"][number]) =>
    Effect.gen(function* () {
      const found = yield* Effect.fromResult(Result.mapError(target, ({ failure }) => failure))
      const { node, outcome } = yield* act(found)
      const name = node?.name ?? found.node?.name ?? null
      return { id: found.id, name, outcome, node, error: null }
    })
  const one = (target: Resolution["nodes"][number]) =>
    Effect.catchIf(
      attempt(target),
      (failure) => ignoreNotFound && isMissing(failure),
      (failure) => Effect.succeed<NodeResult>({ ...failed(target, failure), outcome: absent, error: null })
    )
  const alone = resolution.nodes.length === 1
  return yield* Effect.forEach(
    resolution.nodes,
    (target) => (alone ? one(target) : Effect.catch(one(target), (failure) => Effect.succeed(failed(target, failure)))),
    { concurrency }
  )
})

/** Reports on stderr which nodes failed and why. */
export const reportFailures = Effect.fnUntraced(function* (outcomes: ReadonlyArray<NodeResult>) {
  for (const { error, id, name } of outcomes) {
    if (error !== null) yield* reportProblem({ ...error, details: { ...error.details, node: { id, name } } })
  }
})

/**
 * Prints the outcomes. With `single`, JSON is one object. A table has a row for every node, and the hints of its failures follow on stderr;
 * JSON contains only successes, since failures are on stderr like all errors.
 */
export const printOutcomes = Effect.fnUntraced(function* (outcomes: ReadonlyArray<NodeResult>, single: boolean) {
  if ((yield* OutputFormat) === "table") {
    yield* printAll(outcomeRecord, outcomes)
    return yield* reportHints(outcomes.flatMap(({ error }) => error ?? []))
  }
  const done = outcomes.filter(({ error }) => error === null)
  const [only] = done
  yield* single && only !== undefined ? printOne(outcomeRecord, only) : printAll(outcomeRecord, done)
  yield* reportFailures(outcomes)
})

/** Fails if there is a failure among the outcomes. */
export const failIfSomeFailed = (outcomes: ReadonlyArray<NodeResult>): Effect.Effect<void, SomeFailed> => {
  const failed = outcomes.filter(({ error }) => error !== null).length
  return failed === 0 ? Effect.void : Effect.fail(new SomeFailed({ failed, of: outcomes.length }))
}
