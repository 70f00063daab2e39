/**
 * `--query`: applies a JMESPath expression to the JSON of a command, as in other clouds' command lines. JSON, NDJSON and YAML print the
 * result directly. The other formats print rows: an object or a list of objects has titled columns, a list of lists has untitled columns,
 * and plain values are one per line.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { type JSONValue, TreeInterpreter } from "@jmespath-community/jmespath"
import { Effect, Predicate, Result, Schema } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import type { Format } from "./OutputOptions.ts"
import { jsonBlock, jsonLine } from "./json.ts"
import { yamlText } from "./yaml.ts"
import { nothing, plain } from "./format.ts"
import { parse } from "./parseQuery.ts"
import { Output, printNote } from "./Output.ts"
import { type Field, type RecordDescriptor, titleOf } from "./RecordDescriptor.ts"
import type { View, Writer } from "./Writer.ts"

const fault = (error: unknown) =>
  new UsageFault({
    message: `--query is not usable: ${(error instanceof Error ? error.message : String(error)).replace(/\.$/, "")}.`,
    hint: "It is a JMESPath expression over the JSON, such as '[].name'; see jmespath.org."
  })

/** Evaluates the expression. */
export const search = (expression: string, value: unknown): Effect.Effect<unknown, UsageFault> =>
  Effect.fromResult(
    Result.try({ try: (): unknown => TreeInterpreter.search(parse(expression), value as JSONValue), catch: fault })
  )

/** Whether a result is empty: null, an empty value, or a value with only such parts. */
export const isNothing = (found: unknown): boolean =>
  found === null ||
  found === undefined ||
  found === "" ||
  (typeof found === "object" && Object.values(found).every(isNothing))

/** The result as JSON, NDJSON or YAML; undefined for formats that have rows. */
export const structured = (found: unknown, format: Format): string | undefined => {
  switch (format) {
    case "json":
      return `${jsonBlock(found)}\n`
    case "ndjson":
      return (Array.isArray(found) ? found : [found]).map((each) => `${jsonLine(each)}\n`).join("")
    case "yaml":
      return yamlText(found)
    default:
      return undefined
  }
}

/** Fails for an expression that cannot be parsed, or with a call that is wrong for any data. */
export const checkQuery = (expression: string): Effect.Effect<void, UsageFault> =>
  Effect.asVoid(Effect.fromResult(Result.try({ try: () => parse(expression), catch: fault })))

type Row = Readonly<Record<string, unknown>>

/** The result in rows. */
interface Rows {
  readonly rows: ReadonlyArray<Row>
  /** Whether the columns have titles. */
  readonly named: boolean
  /** Whether each row is a single value. */
  readonly bare: boolean
}

const isScalar = (value: unknown): value is string | number | boolean | null =>
  value === null || typeof value !== "object"

/** A value in a cell; nested values stay JSON. */
const cellText = (value: unknown): string => {
  if (value === undefined || value === null) return nothing
  if (isScalar(value)) return plain(value)
  return Array.isArray(value) && value.every(isScalar) ? plain(value.map(String)) : jsonLine(value)
}

/** A value on its own line, possibly read by other programs. */
const lineText = (value: unknown): string => {
  if (value === null || value === undefined) return nothing
  return typeof value === "string" ? value : jsonLine(value)
}

const rowsOf = (found: unknown): Rows => {
  const all: ReadonlyArray<unknown> = Array.isArray(found) ? found : [found]
  if (all.length > 0 && all.every(Array.isArray)) {
    const rows = all.map((each) => Object.fromEntries(each.map((value, at) => [String(at + 1), value])))
    return { rows, named: false, bare: false }
  }
  const isRow = (each: unknown): each is Row => Predicate.isObject(each) && !Array.isArray(each)
  return all.every(isRow)
    ? { rows: all, named: true, bare: false }
    : { rows: all.map((value) => ({ value })), named: false, bare: true }
}

/** The narrowest useful width of a string. */
const shrinkTo = 12

const fieldsOf = (rows: ReadonlyArray<Row>): ReadonlyArray<Field<Row>> =>
  Array.from(new Set(rows.flatMap((row) => Object.keys(row))), (key) => {
    const values = rows.map((row) => row[key] ?? null).filter((value) => value !== null)
    const isNumeric = values.length > 0 && values.every((value) => typeof value === "number")
    return {
      key,
      title: titleOf(key),
      value: (row: Row) => cellText(row[key]),
      ...(isNumeric ? { align: "right" as const } : { shrinkTo })
    }
  })

const descriptor: RecordDescriptor<Row> = {
  schema: Schema.Unknown,
  encode: (row) => row,
  fields: fieldsOf,
  none: "no results"
}

/** The options for printing a result. */
interface Printing {
  readonly isTable: boolean
  readonly writer: Writer
  readonly view: View
  /** Whether more records may follow. */
  readonly isNext: boolean
  /** Whether the query was applied to a list. */
  readonly ofList: boolean
}

export const printRows = Effect.fnUntraced(function* (
  found: unknown,
  { isNext, isTable, ofList, view, writer }: Printing
) {
  if (found === null || found === undefined) {
    const hint = ofList ? " The JSON is a list: begin with [], as in '[].name'." : ""
    return isNext ? undefined : yield* printNote(`The query has no result.${hint}`)
  }
  const { bare, named, rows } = rowsOf(found)
  if (isTable && bare) {
    return yield* Output.use(({ data }) =>
      data(rows.map(({ value }) => `${escapeControls(lineText(value))}\n`).join(""))
    )
  }
  const header = view.header && (named || !isTable)
  if (isNext) return yield* writer.next(descriptor, rows, { ...view, header })
  const [first] = rows
  if (named && first !== undefined && !Array.isArray(found)) return yield* writer.one(descriptor, first, view)
  yield* writer.list(descriptor, rows, { ...view, header })
})
