/**
 * Completes the OpenAPI description that effect prints from an `HttpApi`, for client generators, linters and validating proxies. Everything
 * comes from the `HttpApi` and the annotations of its endpoints:
 *
 * - Parameters are described by their value, such as a number. Effect describes the transported text, a string with a pattern.
 * - Objects are open, because both sides ignore unknown fields (A14). Effect describes them as closed.
 * - Replies have their headers, and operations their examples.
 * - Failures, which are the same everywhere, are under `components`.
 */
import { Context, Predicate, Schema } from "effect"
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup, OpenApi } from "effect/http-api"

/** A JSON object of the description. */
export type Json = Record<string, any>

/** An example request of an operation. */
export interface RequestExample {
  readonly parameters?: Readonly<Record<string, string | number>>
  readonly body?: unknown
}

class Example extends Context.Service<Example, RequestExample>()("@berthkit/core/api/Document/Example") {}

/** The annotations of an endpoint. */
export const describe = ({
  example,
  ...annotations
}: {
  readonly summary: string
  readonly description: string
  readonly example: RequestExample
}) => Context.add(OpenApi.annotations(annotations), Example, example)

export interface DocumentOptions {
  /** The headers of every reply, by name. */
  readonly headers: Readonly<Record<string, Json>>
  /** The additional headers of replies with a status. */
  readonly headersByStatus: Readonly<Record<number, Readonly<Record<string, Json>>>>
  /** The body of the reply to each operation's example, by operation id. */
  readonly replies: Readonly<Record<string, unknown>>
  /** Examples of failures, by status. */
  readonly failures: Readonly<Record<number, unknown>>
}

type Operation = Json

/** A printed description, with each operation next to its endpoint. */
interface Printed {
  readonly spec: Json
  readonly operations: ReadonlyArray<{ readonly operation: Operation; readonly endpoint: HttpApiEndpoint.Top }>
}

const printedOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>,
  spec: Json
): Printed => {
  const byId = new Map<string, Operation>()
  for (const item of Object.values<Json>(spec["paths"])) {
    for (const operation of Object.values<Operation>(item)) byId.set(operation["operationId"], operation)
  }
  const operations: Array<Printed["operations"][number]> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      const operation = byId.get(`${group.identifier}.${endpoint.identifier}`)
      if (operation !== undefined) operations.push({ operation, endpoint })
    }
  })
  return { spec, operations }
}

const mapValues = (record: Json, f: (value: any) => unknown): Json =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, f(value)]))

/** The keywords whose value is a schema, a list of schemas, or an object of schemas. */
const subschemas: Readonly<Record<string, (value: any, f: (schema: Json) => Json) => unknown>> = {
  items: (schema, f) => (Predicate.isObject(schema) ? f(schema) : schema),
  additionalProperties: (schema, f) => (Predicate.isObject(schema) ? f(schema) : schema),
  anyOf: (schemas: ReadonlyArray<Json>, f) => schemas.map(f),
  oneOf: (schemas: ReadonlyArray<Json>, f) => schemas.map(f),
  allOf: (schemas: ReadonlyArray<Json>, f) => schemas.map(f),
  properties: mapValues,
  patternProperties: mapValues
}

/** Applies `f` to the schemas directly within a schema. */
const mapWithin = (schema: Json, f: (schema: Json) => Json): Json =>
  Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, subschemas[key]?.(value, f) ?? value]))

const isDisjoint = (left: Json, right: Json): boolean => Object.keys(right).every((key) => !(key in left))

/** Simplifies a schema: removes repeated alternatives, and merges parts that may stand in the schema itself. */
const simplified = (schema: Json): Json => {
  const { allOf, anyOf, not, ...rest } = mapWithin(schema, simplified)
  const parts: Array<Json> = [...(allOf ?? [])]
  // `not: null` adds nothing next to another type, because such a value is never null.
  if (not !== undefined && (not.type !== "null" || rest["type"] === undefined)) parts.push({ not })
  if (anyOf !== undefined) {
    const texts = new Set(anyOf.map((option: Json) => JSON.stringify(option)))
    const options = Array.from(texts, (text) => JSON.parse(text as string))
    parts.push(options.length === 1 ? options[0] : { anyOf: options })
  }
  return parts.reduce<Json>(
    (all, part) => (isDisjoint(all, part) ? { ...all, ...part } : { ...all, allOf: [...(all["allOf"] ?? []), part] }),
    rest
  )
}

/** Allows additional fields. */
const open = (schema: Json): Json => {
  const { additionalProperties, ...rest } = mapWithin(schema, open)
  return additionalProperties === undefined || additionalProperties === false ? rest : { ...rest, additionalProperties }
}

/** Applies `f` to the schemas of a request's or reply's media types. */
const mapContent = (body: Json | undefined, f: (media: Json) => Json): void => {
  if (body?.["content"] !== undefined) body["content"] = mapValues(body["content"], f)
}

/** Applies `f` to every schema of the description except those of parameters. */
const mapSchemas = ({ operations, spec }: Printed, f: (schema: Json) => Json): void => {
  spec["components"].schemas = mapValues(spec["components"].schemas, f)
  const inMedia = (media: Json) => ({ ...media, schema: f(media["schema"]) })
  for (const { operation } of operations) {
    mapContent(operation["requestBody"], inMedia)
    for (const response of Object.values<Json>(operation["responses"])) mapContent(response, inMedia)
  }
}

/** The numeric parameters of an endpoint, by name. */
const numbersOf = ({ params, query }: HttpApiEndpoint.Top): Json => {
  const properties = [params, query].flatMap((schema) =>
    schema === undefined
      ? []
      : [(Schema.toJsonSchemaDocument(Schema.toType(schema)).schema["properties"] ?? {}) as Json]
  )
  return Object.fromEntries(
    properties
      .flatMap((byName) => Object.entries<Json>(byName))
      .map(([name, schema]) => [name, withoutNull(simplified(schema))] as const)
      .filter(([, { type }]) => type === "integer" || type === "number")
  )
}

/** Removes null, because an absent parameter is not null. */
const withoutNull = ({ anyOf, ...rest }: Json): Json =>
  anyOf === undefined ? rest : simplified({ ...rest, anyOf: anyOf.filter(({ type }: Json) => type !== "null") })

const addSummaries = ({ operations }: Printed): void => {
  for (const { endpoint, operation } of operations) {
    operation["summary"] ??= Context.getOrUndefined(endpoint.annotations, OpenApi.Title)
  }
}

const describeParameters = ({ operations }: Printed): void => {
  for (const { endpoint, operation } of operations) {
    const numbers = numbersOf(endpoint)
    const examples = Context.getOrUndefined(endpoint.annotations, Example)?.parameters ?? {}
    operation["parameters"] = operation["parameters"].map((parameter: Json) => {
      const { description, ...schema } = numbers[parameter["name"]] ?? simplified(parameter["schema"])
      const example = examples[parameter["name"]]
      return {
        ...parameter,
        ...(description !== undefined && { description }),
        ...(example !== undefined && { example }),
        schema
      }
    })
  }
}

/** States that requests may have additional fields, so that generated clients accept them. */
const openRequests = ({ operations, spec }: Printed): void => {
  for (const { operation } of operations) {
    mapContent(operation["requestBody"], (media) => {
      const name = /^#\/components\/schemas\/(.+)$/.exec(media["schema"].$ref)?.[1]
      if (name !== undefined) spec["components"].schemas[name].additionalProperties = true
      return media
    })
  }
}

const addExamples = ({ operations }: Printed, { replies }: DocumentOptions): void => {
  for (const { endpoint, operation } of operations) {
    const { body } = Context.getOrUndefined(endpoint.annotations, Example) ?? {}
    mapContent(operation["requestBody"], (media) => ({ ...media, example: body }))
    for (const [status, response] of Object.entries<Json>(operation["responses"])) {
      if (Number(status) >= 400) continue
      mapContent(response, (media) => ({ ...media, example: replies[operation["operationId"]] }))
    }
  }
}

const addHeaders = ({ operations, spec }: Printed, { headers, headersByStatus }: DocumentOptions): void => {
  spec["components"].headers = Object.assign({}, headers, ...Object.values(headersByStatus))
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries<Json>(operation["responses"])) {
      response["headers"] = Object.fromEntries(
        Object.keys({ ...headers, ...headersByStatus[Number(status)] }).map((name) => [
          name,
          { $ref: `#/components/headers/${name}` }
        ])
      )
    }
  }
}

/** Moves each failure, which is the same for all operations, to `components`. */
const shareFailures = ({ operations, spec }: Printed, { failures }: DocumentOptions): void => {
  const shared: Json = {}
  for (const { operation } of operations) {
    operation["responses"] = Object.fromEntries(
      Object.entries<Json>(operation["responses"]).map(([status, response]) => {
        if (Number(status) < 400) return [status, response]
        const name = `Failure${status}`
        mapContent(response, (media) => ({ ...media, example: failures[Number(status)] }))
        shared[name] = response
        return [status, { $ref: `#/components/responses/${name}` }]
      })
    )
  }
  spec["components"].responses = shared
}

/** The transform for `api`'s annotation. It turns effect's description into one with plain parameters and short schemas. */
export const plain =
  <Id extends string, Groups extends HttpApiGroup.Constraint>(api: HttpApi.HttpApi<Id, Groups>) =>
  (spec: Json): Json => {
    const printed = printedOf(api, spec)
    addSummaries(printed)
    describeParameters(printed)
    mapSchemas(printed, simplified)
    return spec
  }

/** Does the same as `plain`, and adds open objects, headers, examples and failures. */
export const complete =
  <Id extends string, Groups extends HttpApiGroup.Constraint>(
    api: HttpApi.HttpApi<Id, Groups>,
    options: DocumentOptions
  ) =>
  (spec: Json): Json => {
    const printed = printedOf(api, plain(api)(spec))
    mapSchemas(printed, open)
    openRequests(printed)
    addExamples(printed, options)
    addHeaders(printed, options)
    shareFailures(printed, options)
    return spec
  }
