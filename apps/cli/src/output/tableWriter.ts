/**
 * The format `table`: a list as a table, a single record as a card.
 */
import { Clock, Effect } from "effect"
import type { UsageFault } from "../failure/CliFailure.ts"
import { width } from "./cells.ts"
import { Output, printNote } from "./Output.ts"
import type { Field, RecordDescriptor } from "./RecordDescriptor.ts"
import { selectFields } from "./Selection.ts"
import { card, table } from "./table.ts"
import type { Writer } from "./Writer.ts"

/** The fields that `--columns` names, or all. */
const fieldsOf = <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  columns: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Field<A>>, UsageFault> => {
  const fields = descriptor.fields(records)
  return columns.length === 0 ? Effect.succeed(fields) : Effect.fromResult(selectFields(fields, columns))
}

export const tableWriter: Writer = {
  /** Notes which columns were left out because the terminal is too narrow. */
  list: (descriptor, records, { columns, header }) =>
    Effect.gen(function* () {
      const { data, stdout } = yield* Output
      const nowMillis = yield* Clock.currentTimeMillis
      const fields = yield* fieldsOf(descriptor, records, columns)
      if (records.length === 0) return yield* printNote(`There are ${descriptor.none}.`)
      const shown = columns.length > 0 ? fields : fields.filter(({ cardOnly }) => !cardOnly)
      const { hidden, text } = table(shown, records, {
        available: stdout.columns,
        colour: stdout.colour,
        header,
        nowMillis
      })
      yield* data(text)
      if (hidden.length === 0) return
      const titles = `Not shown at this width: ${hidden.join(", ")}.`
      yield* printNote(
        width(titles) <= stdout.columns ? titles : `${hidden.length} columns are not shown at this width.`
      )
    }),
  one: (descriptor, record, { columns }) =>
    Effect.gen(function* () {
      const { data, stdout } = yield* Output
      const nowMillis = yield* Clock.currentTimeMillis
      const fields = yield* fieldsOf(descriptor, [record], columns)
      yield* data(card(fields, record, { colour: stdout.colour, nowMillis }))
    }),
  inParts: false,
  hasColumns: true
}
