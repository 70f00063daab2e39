/**
 * What a tool says of its result. The whole schemas of `berth schema` would take 8000 tokens of every conversation, so that a tool
 * shows their outline, derived from them: the keys that each record certainly has. The whole ones are a resource.
 */
import { Predicate, Schema } from "effect"

type Json = Readonly<Record<string, unknown>>

/** Follows a reference to a definition beside it. */
const resolved = (schema: unknown, definitions: Json): Json => {
  let found = schema
  while (Predicate.isObject(found) && Predicate.isString(found["$ref"])) {
    found = definitions[found["$ref"].replace(/^#\/\$defs\//, "")]
  }
  return Predicate.isObject(found) ? found : {}
}

/** The keys of a record. */
export const keysOf = (schema: Schema.Top): Json => {
  const { definitions, schema: record } = Schema.toJsonSchemaDocument(schema)
  return { type: "object", required: resolved(record, definitions)["required"] }
}

/** A result with several parts, all of them there. */
export const parts = (properties: Readonly<Record<string, Json>>): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties)
})

export const listOf = (items: Json): Json => ({ type: "array", items })
