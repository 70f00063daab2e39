/**
 * The whole schemas of the records that tools answer with, as `berth schema` prints them: a resource, which takes no token before it is read.
 */
import { Effect, Schema } from "effect"
import { McpServer } from "effect/ai"
import { Proposal } from "../../proposal/Proposal.ts"
import { accountRecord } from "../../records/account.ts"
import { costRecord } from "../../records/cost.ts"
import { imageWithPlansRecord } from "../../records/image.ts"
import { limitsRecord } from "../../records/limits.ts"
import { nodeRecord } from "../../records/node.ts"
import { outcomeRecord } from "../../records/outcome.ts"
import { planRecord } from "../../records/plan.ts"

const records: Readonly<Record<string, Schema.Top>> = {
  node: nodeRecord.schema,
  plan: planRecord.schema,
  imageWithPlans: imageWithPlansRecord.schema,
  account: accountRecord.schema,
  cost: costRecord.schema,
  limits: limitsRecord.schema,
  outcome: outcomeRecord.schema,
  proposal: Proposal
}

const text = Effect.sync(() =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(records).map(([name, record]) => {
        const { definitions, schema } = Schema.toJsonSchemaDocument(record)
        return [name, { ...schema, ...(Object.keys(definitions).length > 0 && { $defs: definitions }) }]
      })
    )
  )
)

export const schemaResource = McpServer.registerResource({
  uri: "berth://schema",
  name: "schema",
  description: "JSON Schema of every record that tools answer with, as berth schema prints them.",
  mimeType: "application/json",
  content: text
})
