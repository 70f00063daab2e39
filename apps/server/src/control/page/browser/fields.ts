/**
 * The fields of a form, made from the control plane's own description: one for each property of a schema. What a value may be is decided by
 * the control plane alone; its sentences are shown beside the fields.
 */
import { type Signal, signal } from "@preact/signals"
import { plain } from "@berthkit/web/components/text"

/** As much of JSON Schema as the description uses. */
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

/** The schema that a reference names. */
export const resolved = (schema: JsonSchema, schemas: Schemas): JsonSchema =>
  schema.$ref === undefined ? schema : resolved(schemas[schema.$ref.slice(schema.$ref.lastIndexOf("/") + 1)]!, schemas)

/** What a control looks like, and how its text is read. Nothing typed is nothing given. */
type Kind = "choice" | "choices" | "lines" | "list" | "number" | "text" | "json"

export interface FormField {
  readonly id: string
  /** Its name, behind those of the objects that it is in. */
  readonly path: ReadonlyArray<string>
  readonly name: string
  readonly hint: string
  readonly kind: Kind
  /** Values to choose from, as JSON; an empty one stands for none. */
  readonly choices: ReadonlyArray<{ readonly value: string; readonly text: string }>
  readonly placeholder: string
  readonly inputMode: "text" | "decimal"
  /** What is typed or chosen; of `choices` one in each line. */
  readonly text: Signal<string>
  readonly problem: Signal<string | undefined>
}

/** Fields of an object within an object. */
export interface FormGroup {
  readonly name: string
  readonly fields: ReadonlyArray<FormField>
}

const jsonText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

const linesOf = (record: object): string =>
  Object.entries(record)
    .map(([name, value]) => `${name}: ${jsonText(value)}`)
    .join("\n")

/** `name: value` in each line. */
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
  /** What a choice shows that is left out. Default `default`. */
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
    // A group shows its choices anyway.
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

/** What is shown of a schema: those that take a line of their own come last, so that no line is left half empty. */
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

/** What has been given, as JSON. */
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

/** Gives each sentence to the field that it is about. Returns those that are about none, and the fields at fault. */
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
