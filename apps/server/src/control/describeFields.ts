/**
 * Puts the descriptions of fields into the description of the control plane. Its printer leaves them out where a field has a check
 * of its own or a text form, and the forms of the page, like any other reader, need them.
 */
import type { Json } from "@berth/core/api/Document"
import { Schema } from "effect"
import { triggerFields } from "../faults/Fault.ts"
import { catalogue } from "../injection/catalogue.ts"
import { WorldOptions } from "../world/WorldOptions.ts"

const described: ReadonlyArray<readonly [schema: Schema.Top, fields: Schema.Struct.Fields]> = [
  [WorldOptions, WorldOptions.fields],
  ...catalogue.map(({ options, schema }) => [schema, { ...options, ...triggerFields }] as const)
]

export const describeFields = (spec: Json): Json => {
  for (const [schema, fields] of described) {
    const { properties } = spec["components"].schemas[String(Schema.resolveAnnotations(schema)?.["identifier"])]
    for (const [name, field] of Object.entries(fields)) {
      const description = Schema.resolveAnnotations(field)?.["description"]
      if (typeof description === "string" && properties[name].$ref === undefined)
        properties[name].description = description
    }
  }
  return spec
}
