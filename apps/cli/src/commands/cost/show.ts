/**
 * `berth cost`: what the account costs per hour and month, and the nodes that are off and still billed.
 */
import { Nodes } from "@berth/core/client/Nodes"
import { Plans } from "@berth/core/client/Plans"
import { Effect, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { rupees } from "../../output/format.ts"
import { printNote } from "../../output/Output.ts"
import { printAll } from "../../output/print.ts"
import { type Cost, costRecord } from "../../records/cost.ts"
import { client } from "../../settings/client.ts"
import { costs, type Grouping, groupings } from "./sum.ts"

const count = (nodes: number): string => (nodes === 1 ? "1 node" : `${nodes} nodes`)

/** The sentences below the table, each a note of its own. */
const totalTexts = ({
  nodes,
  offAndBilled,
  pricePerHourInr,
  pricePerMonthInr,
  withoutPrice
}: Cost): ReadonlyArray<string> => {
  const price = `₹${rupees(pricePerHourInr ?? 0)} per hour, ₹${rupees(pricePerMonthInr ?? 0)} per month`
  const sentences = [`${count(nodes)}: ${price}, by the hourly prices of their plans.`]
  if (offAndBilled > 0) sentences.push(`${count(offAndBilled)} off and still billed.`)
  if (withoutPrice > 0) sentences.push(`${count(withoutPrice)} without a known price, not in the sum.`)
  return sentences
}

export const cost = Command.make(
  "cost",
  {
    by: Flag.Literals("by", groupings).pipe(
      Flag.withMetavar("GROUP"),
      Flag.withDescription("A row for each node, plan or status; default node"),
      Flag.withDefault<Grouping>("node")
    )
  },
  Effect.fnUntraced(function* ({ by }) {
    const [nodes, plans] = yield* Effect.all(
      [
        Nodes.use((service) => Stream.runCollect(service.list({ lane: "interactive" }))),
        Plans.use((service) => service.list())
      ],
      { concurrency: 2 }
    )
    const { rows, total } = costs(nodes, plans, by)
    yield* printAll(costRecord, rows)
    if (total.nodes > 0) for (const text of totalTexts(total)) yield* printNote(text)
  })
).pipe(Command.provide(client))
