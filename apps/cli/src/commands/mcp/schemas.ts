/**
 * The whole schemas of the records that tools answer with, as `berth schema` prints them: a resource, which takes no token before it is read.
 */
import { Effect, Schema } from "effect"
import { McpServer } from "effect/ai"
import { recordNamed } from "../recordList.ts"

const records = ["node", "plan", "imageWithPlans", "account", "cost", "limits", "outcome", "proposal"]

const schemaOf = async (name: string) => {
  const { definitions, schema } = Schema.toJsonSchemaDocument((await recordNamed(name)).schema)
  return [name, { ...schema, ...(Object.keys(definitions).length > 0 && { $defs: definitions }) }] as const
}

export const schemaResource = McpServer.registerResource({
  uri: "berth://schema",
  name: "schema",
  description: "JSON Schema of every record that tools answer with, as berth schema prints them.",
  mimeType: "application/json",
  content: Effect.promise(async () => JSON.stringify(Object.fromEntries(await Promise.all(records.map(schemaOf)))))
})
