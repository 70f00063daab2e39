/**
 * The format `table`: a list as a table, a single record as a card.
 */
import { Effect } from "effect"
import { width } from "./cells.ts"
import { Output, printNote } from "./Output.ts"
import { card, table } from "./table.ts"
import type { Writer } from "./Writer.ts"

export const tableWriter: Writer = {
  /** Notes which columns were left out because the terminal is too narrow. */
  list: (descriptor, records) =>
    Effect.gen(function* () {
      const { data, stdout } = yield* Output
      if (records.length === 0) return yield* printNote(`There are ${descriptor.none}.`)
      const fields = descriptor.fields(records).filter(({ cardOnly }) => !cardOnly)
      const { hidden, text } = table(fields, records, { available: stdout.columns, colour: stdout.colour })
      yield* data(text)
      if (hidden.length === 0) return
      const titles = `Not shown at this width: ${hidden.join(", ")}.`
      yield* printNote(
        width(titles) <= stdout.columns ? titles : `${hidden.length} columns are not shown at this width.`
      )
    }),
  one: (descriptor, record) =>
    Output.use(({ data, stdout }) => data(card(descriptor.fields([record]), record, { colour: stdout.colour }))),
  inParts: false
}
