// Generates the receivers' view of events from the schemas: `events.json`, a JSON Schema, and `src/receive/Events.ts`, plain
// types. A test compares both.
import { writeFileSync } from "node:fs"
import { Schema } from "effect"
import { Delivered } from "../src/events/Delivered.ts"
import type { JsonSchema } from "../src/events/JsonSchema.ts"

/** Effect writes NaN and the infinities as strings. No event contains them. */
const isUnwritten = ({ enum: values }: JsonSchema) => values?.includes("NaN") === true

const withoutUnwritten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((each) => !isUnwritten(each)).map(withoutUnwritten)
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([name, each]) => [name, withoutUnwritten(each)] as const)
  const { anyOf, ...others } = Object.fromEntries(entries)
  if (!Array.isArray(anyOf)) return Object.fromEntries(entries)
  return anyOf.length === 1 ? { ...others, ...anyOf[0] } : { ...others, anyOf }
}

const document = Schema.toJsonSchemaDocument(Schema.toCodecJson(Delivered))
const definitions = withoutUnwritten(document.definitions) as Readonly<Record<string, JsonSchema>>
const all = document.schema as JsonSchema

/** The text of `events.json`. */
export const printSchema = (): string => {
  const title = "The events that berth-watch delivers"
  const $schema = "https://json-schema.org/draft/2020-12/schema"
  return `${JSON.stringify({ $schema, title, ...all, $defs: definitions }, null, 2)}\n`
}

const maxLine = 120

const nameIn = ($ref: string) => $ref.split("/").at(-1)!

const typeOf = (schema: JsonSchema, indent: string): string => {
  if (schema.$ref !== undefined) return nameIn(schema.$ref)
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  if (schema.anyOf !== undefined) return schema.anyOf.map((each) => typeOf(each, indent)).join(" | ")
  switch (schema.type) {
    case "string":
    case "boolean":
    case "null":
      return schema.type
    case "number":
    case "integer":
      return "number"
    case "array":
      if (schema.prefixItems !== undefined) {
        return `readonly [${schema.prefixItems.map((each) => typeOf(each, indent)).join(", ")}]`
      }
      return `ReadonlyArray<${schema.items === undefined ? "unknown" : typeOf(schema.items, indent)}>`
    case "object":
      return schema.properties === undefined ? "Readonly<Record<string, unknown>>" : bodyOf(schema, indent)
    default:
      return "unknown"
  }
}

const bodyOf = ({ properties = {}, required = [] }: JsonSchema, indent: string): string => {
  const inside = `${indent}  `
  const fields = Object.entries(properties).map(([name, schema]) => {
    const comment = schema.description === undefined ? "" : `${inside}/** ${schema.description} */\n`
    const head = `${inside}readonly ${name}${required.includes(name) ? "" : "?"}:`
    const type = typeOf(schema, inside)
    const isLong = !type.includes("{") && `${head} ${type}`.length > maxLine
    return `${comment}${head}${
      isLong
        ? type
            .split(" | ")
            .map((each) => `\n${inside}  | ${each}`)
            .join("")
        : ` ${type}`
    }\n`
  })
  return `{\n${fields.join("")}${indent}}`
}

/** Descriptions of types that the schemas do not describe and that are not events. */
const described: Readonly<Record<string, string>> = {
  Silence: "A silence that held an event.",
  KnownStatus: "The statuses that Berth knows.",
  Node: "A node as observed. Values that the service did not state are null.",
  OperatingSystem: "An operating system of the catalogue.",
  CatalogueImage: "An image of the catalogue.",
  PlanPrice: "The price of a plan with some of its images.",
  CataloguePlan: "A plan of the catalogue.",
  NodeBaseline: "A node that existed before the sink. The event is only for this sink."
}

const descriptionOf = (name: string, { description, properties }: JsonSchema): string => {
  const text = description ?? described[name]
  if (text !== undefined) return text
  const [type] = properties?.["type"]?.enum ?? []
  if (type === undefined) throw new Error(`${name} is not described`)
  return `An event of the type \`${String(type)}\`.`
}

const printType = (name: string, schema: JsonSchema): string => {
  const comment = `/** ${descriptionOf(name, schema)} */\n`
  if (schema.properties !== undefined) return `${comment}export interface ${name} ${bodyOf(schema, "")}\n`
  return `${comment}export type ${name} = ${typeOf(schema, "")}\n`
}

const header = `/**
 * The delivered events as plain types; times are strings (RFC 3339). Generated from the daemon's schemas by
 * \`pnpm --filter @berthkit/watch events\`; a test compares.
 */

/** An event; its \`type\` says which. A later version of the daemon may add types and fields. */
`

/** The text of `src/receive/Events.ts`. */
export const printTypes = (): string => {
  const names = all.anyOf!.map((each) => `\n  | ${nameIn(each.$ref!)}`)
  return [
    `${header}export type WatchEvent =${names.join("")}\n`,
    ...Object.entries(definitions).map(([name, schema]) => printType(name, schema))
  ].join("\n")
}

if (import.meta.main) {
  writeFileSync(new URL("../events.json", import.meta.url), printSchema())
  writeFileSync(new URL("../src/receive/Events.ts", import.meta.url), printTypes())
}
