/**
 * The format `table`: a list as a table, a single record as a card.
 */
import { Clock, Effect } from "effect"
import { width } from "./cells.ts"
import { Output, printNote } from "./Output.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"
import { fieldsFor } from "./Selection.ts"
import { card, table } from "./table.ts"
import type { View, Writer } from "./Writer.ts"

/** Writes the rows, and gives the titles of the columns for which the terminal is too narrow. */
const writeRows = Effect.fnUntraced(function* <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  { columns, header }: View
) {
  const { data, stdout } = yield* Output
  const nowMillis = yield* Clock.currentTimeMillis
  const fields = yield* Effect.fromResult(fieldsFor(descriptor, records, columns))
  const shown = columns.length > 0 ? fields : fields.filter(({ cardOnly }) => !cardOnly)
  const { hidden, text } = table(shown, records, {
    available: stdout.columns,
    colour: stdout.colour,
    header,
    nowMillis
  })
  yield* data(text)
  return hidden
})

export const tableWriter: Writer = {
  /** Notes which columns were left out. */
  list: (descriptor, records, view) =>
    Effect.gen(function* () {
      if (records.length === 0) {
        yield* Effect.fromResult(fieldsFor(descriptor, records, view.columns))
        return yield* printNote(`There are ${descriptor.none}.`)
      }
      const hidden = yield* writeRows(descriptor, records, view)
      const { stdout } = yield* Output
      if (hidden.length === 0) return
      const titles = `Not shown at this width: ${hidden.join(", ")}.`
      yield* printNote(
        width(titles) <= stdout.columns
          ? titles
          : `${hidden.length} ${hidden.length === 1 ? "column" : "columns"} hidden.`
      )
    }),
  one: (descriptor, record, { columns }) =>
    Effect.gen(function* () {
      const { data, stdout } = yield* Output
      const nowMillis = yield* Clock.currentTimeMillis
      const fields = yield* Effect.fromResult(fieldsFor(descriptor, [record], columns))
      yield* data(card(fields, record, { colour: stdout.colour, nowMillis }))
    }),
  next: (descriptor, records, view) => Effect.asVoid(writeRows(descriptor, records, view)),
  inParts: false,
  hasColumns: true
}
