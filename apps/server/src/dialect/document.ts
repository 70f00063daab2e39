/**
 * The OpenAPI description of today's dialect. It is made from the documented one, with other query parameters, replies and
 * failures. The examples are replies of the dialect in a small world, and the schemas of replies are derived from the
 * examples.
 */
import type { Json } from "@berthkit/core/api/Document"
import { Predicate } from "effect"
import type { Operation } from "@berthkit/profile/operations"
import { offersAt } from "../world/todaysCatalogue.ts"
import { defaultPlace, defaultToday, locations, type Today } from "../world/Today.ts"
import { begin } from "../world/scenario.ts"
import { defaults } from "../world/WorldSettings.ts"
import { attributesToday, createdToday, deletedToday, listedToday, offerToday, savedToday } from "./records.ts"
import { creation, failures, fields, general, levels, operations, parameters } from "./statements.ts"

/** The bodies of successful replies, taken from a fresh world of today's dialect. */
const successes = (today: Today): Readonly<Record<Operation, object>> => {
  const world = begin({ ...defaults, clock: "frozen", scenario: "small", uniqueNames: true, today }, 0)
  const node = world.nodes.all()[0]!
  const now = world.latest
  const envelope = (data: unknown, beside: object = {}) => ({
    code: 200,
    data,
    errors: {},
    message: "Success",
    ...beside
  })
  return {
    "nodes.create": envelope(createdToday(world, node)),
    "nodes.get": envelope(attributesToday(world, node, now)),
    "nodes.list": envelope([listedToday(world, node, now)], { total_count: 1, total_page_number: 1 }),
    "nodes.delete": envelope(deletedToday(node)),
    "images.list": envelope([offerToday(offersAt(world.catalogue, defaultPlace.location)[0]!, now, today.currency)]),
    "images.saved": envelope([savedToday(world.savedImages[0]!, 0)]),
    "commitments.set": { status: 200, message: "Updated Successfully" }
  }
}

/** The schema of a value, with the descriptions of its fields. */
const schemaOf = (value: unknown, name?: string): Json => {
  const description = name === undefined || !Object.hasOwn(fields, name) ? {} : { description: fields[name] }
  return { ...typeOf(value), ...description }
}

/** The type of a value in an example. Null says nothing about the type, because other replies have a value there. */
const typeOf = (value: unknown): Json => {
  if (value === null) return {}
  if (Array.isArray(value)) return { type: "array", ...(value.length === 0 ? {} : { items: schemaOf(value[0]) }) }
  if (!Predicate.isObject(value)) return { type: typeof value }
  const parts = Object.entries(value)
  return {
    type: "object",
    ...(parts.length === 0
      ? {}
      : {
          required: parts.map(([name]) => name),
          properties: Object.fromEntries(parts.map(([name, part]) => [name, schemaOf(part, name)]))
        })
  }
}

/** The reply to a create that states a number of nodes: the records are in a list. */
const nested = (record: Json): Json => ({
  type: "object",
  required: ["total_number_of_node_requested", "total_number_of_node_created", "node_create_response"],
  properties: {
    total_number_of_node_requested: { type: "integer" },
    total_number_of_node_created: { type: "integer" },
    node_create_response: { type: "array", items: record }
  }
})

/** The failure when the account has no credit. */
const withoutCredit: Json = {
  type: "object",
  required: ["is_credit_sufficient"],
  properties: { is_credit_sufficient: { type: "boolean" } }
}

const successSchema = (operation: Operation, example: object): Json => {
  const schema = schemaOf(example)
  if (operation !== "nodes.create") return schema
  const { data, ...others } = schema["properties"] as Json
  return { ...schema, properties: { ...others, data: { anyOf: [data, nested(data), withoutCredit] } } }
}

const inQuery = (name: keyof typeof parameters, schema: object, isRequired: boolean, example: unknown): Json => ({
  name,
  in: "query",
  schema,
  required: isRequired,
  description: parameters[name],
  example
})

const place = [
  inQuery("project_id", { type: "integer", minimum: 1 }, true, defaultPlace.projectId),
  inQuery("location", { type: "string", enum: locations }, true, defaultPlace.location)
]

const parametersOf = (operation: Operation, documented: ReadonlyArray<Json>): ReadonlyArray<Json> => [
  ...place,
  ...documented.filter(({ name }) => name !== "version"),
  ...(operation === "images.list" ? [inQuery("osversion", { type: "string" }, false, "24.04")] : []),
  ...(operation === "nodes.delete" ? [inQuery("reserve_ip_required", { type: "string" }, false, "true")] : [])
]

/** The form of failures whose status has no special form. The reason is in `errors`. */
const otherFailure: Json = {
  type: "object",
  required: ["code", "data", "errors", "message"],
  properties: {
    code: { type: "integer" },
    data: { type: "object" },
    errors: {
      anyOf: [
        { type: "string" },
        { type: "object", additionalProperties: { type: "array", items: { type: "string" } } }
      ]
    },
    message: { type: "string" }
  }
}

const failureOf = (status: number, documented: Json | undefined): Json => {
  const known = failures[status]
  const reason = String(documented?.["description"] ?? "").replace(/ \(.*$/s, "")
  const example = known?.example ?? { code: status, data: {}, errors: reason, message: "Error" }
  const schema =
    status === 400
      ? { anyOf: [schemaOf(example), otherFailure] }
      : known && status !== 412
        ? schemaOf(example)
        : otherFailure
  return {
    ...documented,
    description: known?.text ?? `${reason} (chosen)`,
    content: { "application/json": { schema, example } }
  }
}

/** Statuses that only the documented interface uses; today's dialect answers 400 or 412 instead. */
const isGone = (status: string): boolean => status === "409" || status === "422"

const responsesOf = (operation: Operation, documented: Json, example: object): Json => {
  const [, success] = Object.entries<Json>(documented).find(([status]) => status.startsWith("2"))!
  const { Location: _, ...headers } = success["headers"] as Json
  const others = Object.entries(documented).filter(([status]) => !status.startsWith("2") && !isGone(status))
  const canRefuse = operation === "nodes.create" || operation === "nodes.delete"
  return {
    200: {
      description: operations[operation],
      headers,
      content: { "application/json": { schema: successSchema(operation, example), example } }
    },
    ...Object.fromEntries(others),
    ...(canRefuse ? { 412: { $ref: "#/components/responses/Failure412" } } : {})
  }
}

const bodyOf = (documented: Json): Json => {
  const { properties, required: _, ...schema } = documented
  const added = Object.entries(creation).map(([name, [type, description]]) => [name, { ...type, description }] as const)
  const { enable_security_agent: __, region: ___, ...kept } = properties as Json
  const names = { type: "string", pattern: "^[A-Za-z0-9-]{3,50}$", description: general[4] }
  return { ...schema, required: ["name", "plan"], properties: { ...kept, ...Object.fromEntries(added), name: names } }
}

const creationExample = (today: Today) => {
  const { image, plan } = offersAt(begin({ ...defaults, today }, 0).catalogue, defaultPlace.location)[0]!
  return {
    name: "web-1",
    plan: plan.slug,
    image: image.slug,
    ssh_keys: ["ssh-ed25519 AAAA alex@host"],
    number_of_instances: 1
  }
}

/** The schemas that the description still refers to. */
const referred = (spec: Json): Json => {
  const { components, ...rest } = spec
  const { schemas, ...others } = components as Json
  const kept: Record<string, unknown> = {}
  const follow = (text: string) => {
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      if (name === undefined || name in kept) continue
      kept[name] = schemas[name]
      follow(JSON.stringify(schemas[name]))
    }
  }
  follow(JSON.stringify({ rest, others }))
  return { ...rest, components: { ...others, schemas: kept } }
}

/** Turns the documented description into a description of today's dialect with its default settings. */
export const describeToday = (documented: Json): Json => {
  const spec: Json = structuredClone(documented)
  const examples = successes(defaultToday)
  for (const path of Object.values<Json>(spec["paths"])) {
    for (const operation of Object.values<Json>(path)) {
      const id = operation["operationId"] as Operation
      operation["description"] = operations[id]
      operation["parameters"] = parametersOf(id, operation["parameters"])
      operation["responses"] = responsesOf(id, operation["responses"], examples[id])
      if (id !== "nodes.create") continue
      const content = operation["requestBody"].content["application/json"]
      content.schema = bodyOf(spec["components"].schemas["NodeCreation"])
      content.example = creationExample(defaultToday)
    }
  }
  const { responses } = spec["components"] as Json
  const { Failure409: refused, Failure422: _, ...kept } = responses as Json
  spec["components"].responses = Object.fromEntries(
    Object.entries<Json>({ ...kept, Failure412: refused }).map(([name, response]) => [
      name,
      failureOf(Number(name.slice("Failure".length)), response)
    ])
  )
  // No reply of today's dialect names the path of a new node.
  delete spec["components"].headers["Location"]
  const facts = general.map((fact) => `- ${fact}`).join("\n")
  return referred({
    ...spec,
    info: { ...spec["info"], description: `The service as its clients of 2026 see it.\n\n${facts}\n\n${levels}` }
  })
}
