/** The fields of events, from their schemas: whether a template names a field that exists, and sample events to try it with. */
import { Schema } from "effect"
import { Delivered } from "../../events/Delivered.ts"
import type { JsonSchema } from "../../events/JsonSchema.ts"

const { definitions, schema: all } = Schema.toJsonSchemaDocument(Schema.toCodecJson(Delivered)) as unknown as {
  readonly definitions: Readonly<Record<string, JsonSchema>>
  readonly schema: JsonSchema
}

/** The alternatives of a schema, each without references. */
const alternatives = ({ $ref, ...schema }: JsonSchema): ReadonlyArray<JsonSchema> => {
  if ($ref !== undefined) return alternatives(definitions[$ref.split("/").at(-1)!]!)
  return schema.anyOf === undefined ? [schema] : schema.anyOf.flatMap(alternatives)
}

/** The schemas of the events of these types. A type may have several. */
export const schemasOf = (types: ReadonlyArray<string>): ReadonlyArray<JsonSchema> =>
  alternatives(all).filter(({ properties }) => types.includes(String(properties?.["type"]?.enum?.[0])))

/** One step of a path: a field, a position in a list, or null for a field whose name only the event decides. */
export type Step = string | number | null

const itemsOf = ({ items, prefixItems = [] }: JsonSchema): ReadonlyArray<JsonSchema> =>
  (items === undefined ? prefixItems : [...prefixItems, items]).flatMap(alternatives)

/** The schemas behind a step. `any`: everything exists there. */
const behind = (schema: JsonSchema, step: Step): ReadonlyArray<JsonSchema> | "any" => {
  if (step === null) return "any"
  if (schema.type === "array") {
    if (step === "size") return [{ type: "integer" }]
    return typeof step === "number" || step === "first" || step === "last" || /^\d+$/.test(step) ? itemsOf(schema) : []
  }
  if (schema.type === "string") return step === "size" ? [{ type: "integer" }] : []
  if (schema.type !== "object") return []
  if (schema.properties === undefined) return "any"
  return Object.hasOwn(schema.properties, step) ? alternatives(schema.properties[step]!) : []
}

/** The fields that exist at the end of a path, or the step at which the path leaves the known fields. */
export const follow = (
  schemas: ReadonlyArray<JsonSchema>,
  path: ReadonlyArray<Step>
):
  | { readonly schemas: ReadonlyArray<JsonSchema> | "any" }
  | { readonly unknown: string; readonly known: ReadonlyArray<string> } => {
  let present = schemas
  for (const step of path) {
    const found = present.map((schema) => behind(schema, step))
    if (found.includes("any")) return { schemas: "any" }
    const next = found.flatMap((each) => (each === "any" ? [] : each))
    if (next.length === 0) {
      const known = new Set(present.flatMap(({ properties = {} }) => Object.keys(properties)))
      return { unknown: String(step), known: Array.from(known) }
    }
    present = next
  }
  return { schemas: present }
}

/** The items of lists. */
export const itemsOfAll = (schemas: ReadonlyArray<JsonSchema>): ReadonlyArray<JsonSchema> => schemas.flatMap(itemsOf)

/** A string that is no part of JSON unless it is escaped. */
const sampleText = 'a "b" \\ <c> & d\ne'

/**
 * What a sample has: every field that may exist; all lists and objects, but no single value that may be missing or
 * null; or only required fields.
 */
export const fills = ["all", "containers", "required"] as const
type Fill = (typeof fills)[number]

const isContainer = ({ type }: JsonSchema): boolean => type === "object" || type === "array"

/** Whether a sample has a value with one of these schemas, although an event need not have it. */
const isFilled = (schemas: ReadonlyArray<JsonSchema>, fill: Fill): boolean =>
  fill === "all" || (fill === "containers" && schemas.some(isContainer))

/** A value that fits a schema. */
export const sampleOf = (schema: JsonSchema, fill: Fill): unknown => {
  const all = alternatives(schema)
  const values = all.filter(({ type }) => type !== "null")
  const [first] = values
  if (first === undefined || (values.length < all.length && !isFilled(values, fill))) return null
  const { enum: literals, prefixItems, properties = {}, required = [], type } = first
  if (literals !== undefined) return literals[0]
  switch (type) {
    case "string":
      return sampleText
    case "boolean":
      return true
    case "number":
    case "integer":
      return 1
    case "array":
      return (prefixItems ?? itemsOf(first).slice(0, 1)).map((item) => sampleOf(item, fill))
    case "object":
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name, field]) => required.includes(name) || isFilled(alternatives(field), fill))
          .map(([name, field]) => [name, sampleOf(field, fill)])
      )
    default:
      return null
  }
}
