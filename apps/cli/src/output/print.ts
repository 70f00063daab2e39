/**
 * Prints records as data, in the format that was asked for. What a record looks like as JSON is its domain schema's
 * business, and as a table that of its columns.
 */
import { Effect, Schema, Stream } from "effect"
import { width } from "./cells.ts"
import type { Column } from "./Column.ts"
import { jsonBlock, jsonLine } from "./json.ts"
import { Output, say } from "./Output.ts"
import { OutputFormat } from "./OutputFormat.ts"
import { card, table } from "./table.ts"

/** How records of one kind are shown. */
export interface View<A> {
  /** The record as JSON: the codec of its domain schema. */
  readonly encode: (record: A) => unknown
  readonly columns: (records: ReadonlyArray<A>) => ReadonlyArray<Column<A>>
  /** The lines of a single record. Default: the columns. */
  readonly card?: ReadonlyArray<Column<A>>
  /** What is said when there are none, such as `no nodes`. */
  readonly none: string
}

/** The JSON of a domain schema: moments are ISO strings, units are in the names. */
export const encodeWith = <A>(schema: Schema.Codec<A, unknown>): ((record: A) => unknown) =>
  Schema.encodeSync(Schema.toCodecJson(schema))

/** Prints a table, and says what was left out for want of width. */
const printTable = Effect.fnUntraced(function* <A>(view: View<A>, records: ReadonlyArray<A>) {
  const { data, stdout } = yield* Output
  if (records.length === 0) return yield* say(`There are ${view.none}.`)
  const { hidden, text } = table(view.columns(records), records, { available: stdout.columns, colour: stdout.colour })
  yield* data(text)
  if (hidden.length === 0) return
  const named = `Not shown at this width: ${hidden.join(", ")}.`
  yield* say(width(named) <= stdout.columns ? named : `${hidden.length} columns are not shown at this width.`)
})

/** Prints a list whole. */
export const printAll = Effect.fnUntraced(function* <A>(view: View<A>, records: ReadonlyArray<A>) {
  const { data } = yield* Output
  switch (yield* OutputFormat) {
    case "table":
      return yield* printTable(view, records)
    case "json":
      return yield* data(`${jsonBlock(records.map(view.encode))}\n`)
    case "ndjson":
      return yield* data(records.map((record) => `${jsonLine(view.encode(record))}\n`).join(""))
  }
})

/** Prints a list as it comes: `ndjson` page by page, everything else when it is complete. */
export const printStream = Effect.fnUntraced(function* <A, E, R>(view: View<A>, records: Stream.Stream<A, E, R>) {
  if ((yield* OutputFormat) !== "ndjson") return yield* printAll(view, yield* Stream.runCollect(records))
  const { data, readerGone } = yield* Output
  yield* records.pipe(
    Stream.mapArrayEffect((page) =>
      Effect.as(data(page.map((record) => `${jsonLine(view.encode(record))}\n`).join("")), page)
    ),
    Stream.takeUntilEffect(() => readerGone),
    Stream.runDrain
  )
})

/** Prints one record: a card, or the JSON of the record alone. */
export const printOne = Effect.fnUntraced(function* <A>(view: View<A>, record: A) {
  const { data, stdout } = yield* Output
  switch (yield* OutputFormat) {
    case "table":
      return yield* data(card(view.card ?? view.columns([record]), record, { colour: stdout.colour }))
    case "json":
      return yield* data(`${jsonBlock(view.encode(record))}\n`)
    case "ndjson":
      return yield* data(`${jsonLine(view.encode(record))}\n`)
  }
})
