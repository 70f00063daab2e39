/**
 * Tells on stderr which of several nodes failed and why, one problem each, in the format that was asked for.
 */
import { Effect } from "effect"
import type { NodeOutcome } from "../target/NodeOutcome.ts"
import { OutputFormat } from "./OutputFormat.ts"
import { report } from "./report.ts"

export const reportFailures = Effect.fnUntraced(function* (outcomes: ReadonlyArray<NodeOutcome>) {
  const format = yield* OutputFormat
  for (const { error, id, name } of outcomes) {
    if (error !== null) yield* report({ ...error, details: { ...error.details, node: { id, name } } }, format)
  }
})
