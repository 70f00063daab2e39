/**
 * The fields of a form, made from the control plane's own OpenAPI description: one field for each property of a schema. Only
 * the control plane validates values; the page shows its sentences next to the fields.
 */
import { type Signal, signal } from "@preact/signals"
import { plain } from "@berthkit/web/components/text"

/** The part of JSON Schema that the description uses. */
export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<string | number | boolean>
  readonly anyOf?: ReadonlyArray<JsonSchema>
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
}

export type Schemas = Readonly<Record<string, JsonSchema>>

/** Follows a reference to a schema. */
export const resolved = (schema: JsonSchema, schemas: Schemas): JsonSchema =>
  schema.$ref === undefined ? schema : resolved(schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)]!, schemas)

/** Decides how a field looks, and how its text is parsed. An empty string means that the field has no value. */
type Kind = "choice" | "choices" | "lines" | "list" | "number" | "text" | "json"

export interface FormField {
  readonly id: string
  /** The names of the objects around the field, then its own name. */
  readonly path: ReadonlyArray<string>
  readonly name: string
  readonly hint: string
  readonly kind: Kind
  /** The values to choose from, as JSON. An empty string means no value. */
  readonly choices: ReadonlyArray<{ readonly value: string; readonly text: string }>
  readonly placeholder: string
  readonly inputMode: "text" | "decimal"
  /** The text or the choice. For `choices`, one chosen value per line. */
  readonly text: Signal<string>
  readonly problem: Signal<string | undefined>
}

/** The fields of a nested object. */
export interface FormGroup {
  readonly name: string
  readonly fields: ReadonlyArray<FormField>
}

const jsonText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const linesOf = (record: object): string =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${jsonText(value)}`)
    .join("\n")

/** Parses lines of `name: value`. */
const readLines = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const at = line.indexOf(":")
        return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
      })
  )

const jsonOr = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const readers: Readonly<Record<Kind, (text: string) => unknown>> = {
  choice: (text) => JSON.parse(text),
  choices: (text) => (text.includes("\n") ? text.split("\n") : text),
  lines: readLines,
  list: (text) => (text.includes(",") ? text.split(",").map((one) => one.trim()) : text),
  number: (text) => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text),
  text: (text) => text,
  json: jsonOr
}

let madeFields = 0

interface FieldOptions {
  /** The label of the empty choice. Default: `default`. */
  readonly emptyText?: string
  readonly path?: ReadonlyArray<string>
}

const makeField = (name: string, schema: JsonSchema, value: unknown, options: FieldOptions): FormField => {
  const { emptyText = "default", path = [] } = options
  const kinds = schema.anyOf ?? [schema]
  const types = kinds.map(({ type }) => type)
  const list = kinds.find(({ type }) => type === "array")
  const given = kinds.find((kind) => kind.enum !== undefined)?.enum
  const choices = list?.items?.enum ?? given ?? (types.includes("boolean") ? [true, false] : [])
  const isNumber = types.includes("integer") || types.includes("number")
  const kind: Kind =
    list?.items?.enum !== undefined
      ? "choices"
      : choices.length > 0
        ? "choice"
        : types.includes("object")
          ? "lines"
          : list?.items?.type === "string"
            ? "list"
            : isNumber
              ? "number"
              : types.includes("string")
                ? "text"
                : "json"
  const none =
    kind === "choice" && (value === undefined || types.includes("null")) ? [{ value: "", text: emptyText }] : []
  const textOf =
    kind === "choice" ? JSON.stringify : kind === "lines" ? (given: unknown) => linesOf(given as object) : jsonText
  madeFields += 1
  return {
    id: `field-${madeFields}`,
    path: [...path, name],
    name,
    // No hint for `choices`, because the choices themselves are visible.
    hint: kind === "choices" ? "" : (schema.description?.replaceAll("`", "") ?? ""),
    kind,
    choices: [
      ...none,
      ...choices.map((one) => ({ value: kind === "choice" ? JSON.stringify(one) : String(one), text: String(one) }))
    ],
    placeholder: kind === "lines" ? "name: value" : kind === "json" && list !== undefined ? '[{"name":"web"}]' : "",
    inputMode: isNumber && !types.includes("string") ? "decimal" : "text",
    text: signal(value === undefined ? "" : textOf(value)),
    problem: signal<string | undefined>(undefined)
  }
}

export const isWide = ({ kind }: FormField): boolean => kind === "lines" || kind === "json" || kind === "choices"

export const isGroup = (part: FormField | FormGroup): part is FormGroup => "fields" in part

const takesLine = (part: FormField | FormGroup): boolean => isGroup(part) || (isWide(part) && part.kind !== "choices")

/** The fields of a schema. Fields that take a whole line come last, because they would otherwise leave lines half empty. */
export const makeFields = (
  schema: JsonSchema,
  schemas: Schemas,
  values: Readonly<Record<string, unknown>> = {},
  { only, ...options }: FieldOptions & { readonly only?: ReadonlyArray<string> } = {}
): ReadonlyArray<FormField | FormGroup> => {
  const { properties = {} } = resolved(schema, schemas)
  return (only ?? Object.keys(properties))
    .map((name) => {
      const part = resolved(properties[name]!, schemas)
      if (part.properties === undefined) return makeField(name, part, values[name], options)
      const inner = { ...options, path: [...(options.path ?? []), name] }
      const made = makeFields(part, schemas, (values[name] ?? {}) as Readonly<Record<string, unknown>>, inner)
      return { name, fields: fieldsIn(made) }
    })
    .toSorted((a, b) => Number(takesLine(a)) - Number(takesLine(b)))
}

export const fieldsIn = (parts: ReadonlyArray<FormField | FormGroup>): ReadonlyArray<FormField> =>
  parts.flatMap((part) => (isGroup(part) ? part.fields : [part]))

/** The values of the form, as JSON. */
export const readFields = (fields: ReadonlyArray<FormField>): Readonly<Record<string, unknown>> => {
  const body: Record<string, unknown> = {}
  for (const { kind, path, text } of fields) {
    const typed = text.value.trim()
    if (typed === "") continue
    const [name, inner] = path as [string, string?]
    const value = readers[kind](typed)
    body[name] = inner === undefined ? value : { ...(body[name] as object | undefined), [inner]: value }
  }
  return body
}

type Errors = Readonly<Record<string, ReadonlyArray<string>>>

/** Puts each sentence next to its field. Returns the sentences that belong to no field, and the fields with errors. */
export const showProblems = (fields: ReadonlyArray<FormField>, errors: Errors = {}) => {
  const about = new Map<FormField, Array<string>>()
  const others: Array<string> = []
  for (const [path, sentences] of Object.entries(errors)) {
    const field = fields.findLast((field) => `${path}.`.startsWith(`${field.path.join(".")}.`))
    const inner = field === undefined ? "" : path.slice(field.path.join(".").length + 1)
    const texts = sentences.map((sentence) => plain(inner === "" ? sentence : `${inner}: ${sentence}`))
    if (field === undefined) others.push(...texts)
    else about.set(field, [...(about.get(field) ?? []), ...texts])
  }
  for (const field of fields) field.problem.value = about.get(field)?.join(" ")
  return { others, atFault: [...about.keys()] }
}
