/**
 * Writes CSV for spreadsheets and programs: one record per line, with the values of its JSON under their keys.
 */
import { csvLine, inert } from "@berthkit/terminal/csv"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, Effect } from "effect"
import { nothing } from "./format.ts"
import { jsonLine } from "./json.ts"
import { Output } from "./Output.ts"
import { type RecordDescriptor, valueAt } from "./RecordDescriptor.ts"
import { fieldsFor } from "./Selection.ts"
import { rowWriter, type View } from "./Writer.ts"

/**
 * The text of a cell. Values may come from other people, so the text cannot start a new line or contain a control code. Unless `raw` is
 * set, it cannot be a formula either.
 */
const cellText = (value: unknown, raw: boolean): string => {
  if (value === null || value === undefined) return ""
  if (typeof value === "string") return escapeControls(raw ? value : inert(value))
  return escapeControls(typeof value === "object" ? jsonLine(value) : String(value))
}

const write = Effect.fnUntraced(function* <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  { columns, header, raw }: View
) {
  const known = yield* Effect.fromResult(fieldsFor(descriptor, records, columns))
  const fields = columns.length > 0 ? known : known.filter(({ computed }) => computed !== true)
  const nowMillis = yield* Clock.currentTimeMillis
  const rows = records.map((record) => {
    const json = descriptor.encode(record)
    return csvLine(
      fields.map((field) => {
        const value = valueAt(json, field.key)
        if (value !== undefined) return cellText(value, raw)
        const text = field.value(record, nowMillis)
        return cellText(text === nothing ? null : text, raw)
      })
    )
  })
  const { data } = yield* Output
  yield* data((header ? csvLine(fields.map(({ key }) => key)) : "") + rows.join(""))
})

export const csvWriter = rowWriter(write, true)
