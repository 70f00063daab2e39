/**
 * How the results of a verb that was given several nodes are shown: one row each.
 */
import { Node } from "@berth/core/domain/Node"
import type { NodeOutcome } from "../target/NodeOutcome.ts"
import { numberOr, textOr } from "./Column.ts"
import { statusStyle } from "./nodeColumns.ts"
import { encodeWith, printAll, printOne, type View } from "./print.ts"
import { OutputFormat } from "./OutputFormat.ts"
import { reportFailures } from "./reportFailures.ts"
import { Effect } from "effect"

const encodeNode = encodeWith(Node)

const outcomeView: View<NodeOutcome> = {
  encode: ({ id, name, node, outcome }) => ({ id, name, outcome, node: node === null ? null : encodeNode(node) }),
  columns: (outcomes) => [
    { title: "ID", value: ({ id }) => numberOr(id), align: "right" },
    { title: "NAME", value: ({ name }) => name, shrinkTo: 12 },
    {
      title: "RESULT",
      value: ({ outcome }) => outcome,
      style: ({ error, node }) => (error !== null ? "bad" : node === null ? undefined : statusStyle(node.status))
    },
    ...(outcomes.some(({ error }) => error !== null)
      ? [{ title: "WHY", value: ({ error }: NodeOutcome) => textOr(error?.message ?? null), shrinkTo: 20 }]
      : [])
  ],
  none: "no such nodes"
}

/**
 * Prints the rows; `single` is one node that was asked for by itself, which is one object in JSON. A table has a row for
 * every node; JSON has the successes alone, and what failed is told on stderr like any other error.
 */
export const printOutcomes = Effect.fnUntraced(function* (outcomes: ReadonlyArray<NodeOutcome>, single: boolean) {
  const format = yield* OutputFormat
  if (format === "table") return yield* printAll(outcomeView, outcomes)
  const done = outcomes.filter(({ error }) => error === null)
  const [only] = done
  yield* single && only !== undefined && format === "json" ? printOne(outcomeView, only) : printAll(outcomeView, done)
  yield* reportFailures(outcomes)
})
