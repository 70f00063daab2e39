/**
 * Prints the types of the control plane's requests and replies as TypeScript that needs no library, from the OpenAPI
 * description that the plane serves. The published package has this file instead of the declarations of
 * `src/testing/promise/ControlTypes.ts`.
 */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { ControlApi } from "../src/control/ControlApi.ts"
import { WorldOptions } from "../src/world/WorldOptions.ts"

/** The types that a test writes, except faults, and a sentence about each. An optional field may also be undefined. */
const written = {
  WorldOptions: "How a world is made. Everything has a default.",
  RateLimit: "So many requests per window.",
  WorldUpdate: "What can be changed of a running world.",
  NodeChange: "What is forced on a node.",
  SavedImageOrder: "The image to save of a node.",
  ExpectedCall: "A call that is expected, and how often.",
  Expectation: "The calls that are expected of a program."
}

/** The types that a test receives. */
const given = {
  WorldSummary: "A world at a glance.",
  WorldEvent: "Something that happened while the clock was moved.",
  NodeView: "A node as the control plane shows it.",
  SavedImageView: "An image that was saved of a node.",
  JournalEntry: "One request and its reply, or a reset of the world.",
  Verdict: "Whether the calls were as expected, and how they differ."
}

/** The part of JSON Schema that the description uses. */
interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: ReadonlyArray<string>
  readonly additionalProperties?: JsonSchema | false
  readonly description?: string
}

const schemas = OpenApi.fromApi(ControlApi).components.schemas as unknown as Readonly<Record<string, JsonSchema>>

const identifierOf = ({ $ref = "" }: JsonSchema): string => $ref.slice($ref.lastIndexOf("/") + 1)

const nameOf = (identifier: string): string => identifier.replaceAll(/\W/g, "")

const typeOf = (schema: JsonSchema, isWritten: boolean): string => {
  const inner = (part: JsonSchema) => typeOf(part, isWritten)
  if (schema.$ref !== undefined) return nameOf(identifierOf(schema))
  if (schema.anyOf !== undefined) return schema.anyOf.map(inner).join(" | ")
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ")
  switch (schema.type) {
    case "integer":
      return "number"
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema.type
    case "array":
      return `ReadonlyArray<${inner(schema.items!)}>`
    case "object":
      return schema.properties === undefined && schema.additionalProperties
        ? `Readonly<Record<string, ${inner(schema.additionalProperties)}>>`
        : `{\n${fieldsOf(schema, isWritten).join("\n")}\n}`
    default:
      return "unknown"
  }
}

/** Fields line by line. `descriptions` win over those of the schema; fields of `inherited` are left out. */
const fieldsOf = (
  { properties = {}, required = [] }: JsonSchema,
  isWritten: boolean,
  descriptions: Readonly<Record<string, string>> = {},
  inherited: Readonly<Record<string, JsonSchema>> = {}
): ReadonlyArray<string> =>
  Object.entries(properties).flatMap(([name, field]) => {
    if (name in inherited) return []
    const description = descriptions[name] ?? field.description
    const type = typeOf(field, isWritten)
    const typed = required.includes(name) ? `: ${type}` : isWritten ? `?: ${type} | undefined` : `?: ${type}`
    return [...(description === undefined ? [] : [`/** ${description} */`]), `readonly ${name}${typed}`]
  })

/** Descriptions of a struct's fields, which say more than the descriptions of their value types. */
const descriptionsOf = (fields: Schema.Struct.Fields): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      String(Schema.resolveAnnotations(field)?.["description"] ?? "").replace(/(?<=[^.])$/, ".")
    ])
  )

const interfaceOf = (name: string, about: string, lines: ReadonlyArray<string>): string =>
  `/** ${about} */\nexport interface ${name} {\n${lines.join("\n")}\n}\n`

/** The types as text, which the compiler formats. */
export const controlTypes = (): string => {
  const kinds = schemas["Fault"]!.anyOf!.map(identifierOf)
  const [first, ...others] = kinds.map((kind) => schemas[kind]!.properties!)
  // Fields that every fault has. `fault` is left out because its type differs.
  const common = Object.fromEntries(
    Object.entries(first!).filter(([name, field]) =>
      others.every((fields) => JSON.stringify(fields[name]) === JSON.stringify(field))
    )
  )
  // Faults with the same options become one form.
  const forms = Map.groupBy(kinds, (kind) => fieldsOf(schemas[kind]!, true, {}, { ...common, fault: {} }).join("\n"))
  const faults = Array.from(forms, ([options, kinds]) => {
    const names = kinds.map((kind) => typeOf(schemas[kind]!.properties!["fault"]!, true))
    return `| {\nreadonly fault: ${names.join(" | ")}\n${options}\n}`
  })
  return [
    "/**",
    " * What goes in and out of the control plane, as JSON: instants and durations are text.",
    " */",
    "",
    ...Object.entries(written).map(([name, about]) => {
      const descriptions = name === "WorldOptions" ? descriptionsOf(WorldOptions.fields) : undefined
      return interfaceOf(name, about, fieldsOf(schemas[name]!, true, descriptions))
    }),
    ...Object.entries(given).map(([name, about]) => interfaceOf(name, about, fieldsOf(schemas[name]!, false))),
    interfaceOf(
      "Trigger",
      "When a fault fires, and at which requests. Without any of it: always, at all of them.",
      fieldsOf({ properties: common }, true)
    ),
    "/** A fault to be armed. */",
    `export type Fault = Trigger & (${faults.join("\n")})`
  ].join("\n")
}

if (import.meta.main) process.stdout.write(controlTypes())
