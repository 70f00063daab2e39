/**
 * Writes CSV as RFC 4180 quotes it, a record on each line: the values of the record's JSON under their keys. Lines end with a line feed
 * alone, because the tools of a shell would keep a carriage return (docs/decisions/0121).
 */
import { escapeControls } from "@berth/terminal/escapeControls"
import { Clock, Effect } from "effect"
import { jsonLine } from "./json.ts"
import { Output } from "./Output.ts"
import { type Field, type RecordDescriptor, valueAt } from "./RecordDescriptor.ts"
import { selectFields } from "./Selection.ts"
import type { View, Writer } from "./Writer.ts"

/** A value as the text of a cell: no text of another's making begins a line or a control code. */
const cellText = (value: unknown): string => {
  if (value === null || value === undefined) return ""
  return escapeControls(typeof value === "object" ? jsonLine(value) : String(value))
}

const quoted = (text: string): string => (/[",]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

const lineOf = (cells: ReadonlyArray<string>): string => `${cells.map(quoted).join(",")}\n`

const write = Effect.fnUntraced(function* <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  { columns, header }: View
) {
  const known = descriptor.fields(records)
  const fields: ReadonlyArray<Field<A>> =
    columns.length === 0
      ? known.filter(({ computed }) => computed !== true)
      : yield* Effect.fromResult(selectFields(known, columns))
  const nowMillis = yield* Clock.currentTimeMillis
  const rows = records.map((record) => {
    const json = descriptor.encode(record)
    return lineOf(
      fields.map((field) => {
        const value = valueAt(json, field.key)
        return cellText(value === undefined ? field.value(record, nowMillis) : value)
      })
    )
  })
  const { data } = yield* Output
  yield* data((header ? lineOf(fields.map(({ key }) => key)) : "") + rows.join(""))
})

export const csvWriter: Writer = {
  list: write,
  one: (descriptor, record, view) => write(descriptor, [record], view),
  next: write,
  inParts: true,
  hasColumns: true
}
