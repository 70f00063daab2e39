/**
 * Adds the descriptions of fields to the OpenAPI description of the control plane. Effect's printer leaves out the descriptions of fields
 * that have a check or a text form. Readers need these descriptions, and the forms of the page show them.
 */
import type { Json } from "@berthkit/core/api/Document"
import { Schema } from "effect"
import { triggerFields } from "../faults/Fault.ts"
import { catalogue } from "../injection/catalogue.ts"
import { RateLimit, WorldOptions } from "../world/WorldOptions.ts"

const described: ReadonlyArray<{
  readonly schema: Schema.Top
  readonly fields: Schema.Struct.Fields
  readonly summary?: string
}> = [
  { schema: WorldOptions, fields: WorldOptions.fields },
  { schema: RateLimit, fields: RateLimit.fields },
  ...catalogue.map(({ options, schema, summary }) => ({ schema, summary, fields: { ...options, ...triggerFields } }))
]

export const describeFields = (spec: Json): Json => {
  for (const { fields, schema, summary } of described) {
    const whole = spec["components"].schemas[String(Schema.resolveAnnotations(schema)?.["identifier"])]
    if (summary !== undefined) whole.description = summary
    for (const [name, field] of Object.entries(fields)) {
      const description = Schema.resolveAnnotations(field)?.["description"]
      const part = whole.properties[name]
      if (typeof description === "string" && part.$ref === undefined) part.description = description
    }
  }
  return spec
}
