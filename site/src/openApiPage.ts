/** Turns an OpenAPI description into a page for people: every operation with its parameters, body, replies and examples. */
import type { Page } from "./Page.ts"
import { address } from "./place.ts"

/** A JSON object of a description. */
type Json = Record<string, any>

const cell = (text: string): string =>
  text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").replaceAll("<", "&lt;").replaceAll("{", "&#123;")

/** Resolves a `$ref`. */
const resolved = (spec: Json, value: Json): Json => {
  const path = value["$ref"] as string | undefined
  return path === undefined
    ? value
    : path
        .slice(2)
        .split("/")
        .reduce((at: Json, name) => at[name], spec)
}

/** The type of a value in a few words. */
const typeOf = (spec: Json, schema: Json): string => {
  const { $ref, anyOf, const: only, enum: values, items, oneOf, type } = schema
  if ($ref !== undefined) {
    const target = resolved(spec, schema)
    return target["type"] === "object" || target["properties"] !== undefined
      ? $ref.split("/").at(-1)
      : typeOf(spec, target)
  }
  if (only !== undefined) return JSON.stringify(only)
  if (values !== undefined) return values.map((value: unknown) => JSON.stringify(value)).join(" or ")
  const several = anyOf ?? oneOf
  if (several !== undefined) return Array.from(new Set(several.map((each: Json) => typeOf(spec, each)))).join(" or ")
  if (type === "array") return `list of ${typeOf(spec, items ?? {})}`
  return Array.isArray(type) ? type.join(" or ") : (type ?? "any")
}

const boundsOf = ({ default: standard, maximum, maxLength, minimum, minLength, pattern }: Json): string =>
  [
    ...(minimum !== undefined ? [`at least ${minimum}`] : []),
    ...(maximum !== undefined ? [`at most ${maximum}`] : []),
    ...(minLength !== undefined ? [`at least ${minLength} characters`] : []),
    ...(maxLength !== undefined ? [`at most ${maxLength} characters`] : []),
    ...(pattern !== undefined ? [`matches \`${pattern}\``] : []),
    ...(standard !== undefined ? [`default \`${JSON.stringify(standard)}\``] : [])
  ].join(", ")

const valueRow = (
  spec: Json,
  name: string,
  schema: Json,
  about: string,
  isRequired: boolean,
  place?: string
): string => {
  const target = resolved(spec, schema)
  const bounds = boundsOf(target)
  const words = [about, bounds === "" ? "" : `${bounds[0]!.toUpperCase()}${bounds.slice(1)}.`].filter(Boolean).join(" ")
  const where = place === undefined ? "" : ` ${place} |`
  return `| \`${name}\` |${where} ${cell(typeOf(spec, schema))} | ${isRequired ? "yes" : "no"} | ${cell(words)} |`
}

/** The fields of an object, including those of a combined schema. */
const fieldsOf = (
  spec: Json,
  schema: Json
): ReadonlyArray<readonly [name: string, field: Json, isRequired: boolean]> => {
  const { allOf = [], properties = {}, required = [] } = resolved(spec, schema)
  return [
    ...Object.entries<Json>(properties).map(([name, field]) => [name, field, required.includes(name)] as const),
    ...allOf.flatMap((each: Json) => fieldsOf(spec, each))
  ]
}

const fieldTable = (spec: Json, schema: Json): string => {
  const rows = fieldsOf(spec, schema).map(([name, field, isRequired]) =>
    valueRow(spec, name, field, field["description"] ?? resolved(spec, field)["description"] ?? "", isRequired)
  )
  return rows.length === 0 ? "" : `| field | type | required | about |\n|---|---|---|---|\n${rows.join("\n")}`
}

const example = (value: unknown): string =>
  value === undefined ? "" : `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``

/** Describes a reply. A name in place of a description is left out, because the link to the body shows it already. */
const replyText = (status: string, description: string, schema: Json): string => {
  if (description === "<No Content>") return "Done; no body."
  const isName = description === "Success" || description === schema["$ref"]?.split("/").at(-1)
  return isName && status < "400" ? "Done." : description
}

const operationText = (spec: Json, method: string, path: string, operation: Json): string => {
  const parameters = (operation["parameters"] ?? []).map((each: Json) => resolved(spec, each))
  const parameterRows = parameters.map(({ description = "", in: place, name, required = false, schema = {} }: Json) =>
    valueRow(spec, name, schema, description, required, place)
  )
  const [body = undefined] = Object.values<Json>(operation["requestBody"]?.content ?? {})
  const replies = Object.entries<Json>(operation["responses"] ?? {}).map(([status, reply]) => {
    const { content = {}, description = "" } = resolved(spec, reply)
    const [shown] = Object.values<Json>(content)
    return { status, description: replyText(status, description, shown?.["schema"] ?? {}), shown }
  })
  const good = replies.filter(({ status }) => status < "400")
  return [
    `### ${operation["summary"] ?? operation["operationId"]}`,
    `\`\`\`http\n${method.toUpperCase()} ${path}\n\`\`\``,
    operation["description"] ?? "",
    parameterRows.length === 0
      ? ""
      : `**Parameters**\n\n| name | in | type | required | about |\n|---|---|---|---|---|\n${parameterRows.join("\n")}`,
    body === undefined
      ? ""
      : ["**Body**", fieldTable(spec, body["schema"] ?? {}), example(body["example"])].filter(Boolean).join("\n\n"),
    `**Replies**\n\n| status | about |\n|---|---|\n${replies.map(({ description, status }) => `| ${status} | ${cell(description)} |`).join("\n")}`,
    ...good.flatMap(({ shown }) => [
      shown?.["schema"]?.["$ref"] === undefined ? "" : `The body is ${typeLink(shown["schema"])}.`,
      example(shown?.["example"])
    ])
  ]
    .filter(Boolean)
    .join("\n\n")
}

const anchorOf = (name: string) => `schema-${name}`

const typeLink = ({ $ref }: Json): string => {
  const name = $ref.split("/").at(-1)
  return `[\`${name}\`](#${anchorOf(name)})`
}

/** The page for the description that the site serves as `file`. */
export const openApiPage = (slug: string, spec: Json, file: string): Page => {
  const operations = Object.entries<Json>(spec["paths"]).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ method, operation, path }))
  )
  const groups = (spec["tags"] ?? []).map(({ description = "", name }: Json) => {
    const own = operations.filter(({ operation }) => operation["tags"]?.includes(name))
    const texts = own.map(({ method, operation, path }) => operationText(spec, method, path, operation))
    return own.length === 0 ? "" : [`## ${name}`, description, ...texts].filter(Boolean).join("\n\n")
  })
  // The schemas of failures come last.
  const isFailure = (name: string) => name.startsWith("Failure")
  const named = Object.entries<Json>(spec["components"]?.schemas ?? {}).toSorted(
    ([a], [b]) => Number(isFailure(a)) - Number(isFailure(b)) || a.localeCompare(b)
  )
  const schemas = named.map(([name, schema]) => {
    const table = fieldTable(spec, schema)
    const about = [schema["description"] ?? "", table === "" ? `Type: ${cell(typeOf(spec, schema))}.` : table]
    return [`<span class="anchor" id="${anchorOf(name)}"></span>\n\n### ${name}`, ...about].filter(Boolean).join("\n\n")
  })
  const { description = "", title } = spec["info"]
  return {
    slug,
    title,
    description,
    markdown: [
      description,
      `The description for programs: <a href="${address(file)}" download><code>${file}</code></a>, OpenAPI ${spec["openapi"]}.`,
      ...groups,
      schemas.length === 0 ? "" : `## Schemas\n\n${schemas.join("\n\n")}`
    ]
      .filter(Boolean)
      .join("\n\n")
  }
}
