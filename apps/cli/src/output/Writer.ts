/**
 * Writes records in one format to stdout.
 */
import type { Effect } from "effect"
import type { UsageFault } from "../failure/CliFailure.ts"
import { Output } from "./Output.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"

/** What to show of the records. */
export interface View {
  /** The columns of `--columns`; empty means the format's default. */
  readonly columns: ReadonlyArray<string>
  /** Whether to write a header before the first record. */
  readonly header: boolean
  /** Whether CSV is for a program. Strings are then not changed to protect spreadsheets. */
  readonly raw: boolean
}

type Write = <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  view: View
) => Effect.Effect<void, UsageFault, Output>

export interface Writer {
  readonly list: Write
  readonly one: <A>(descriptor: RecordDescriptor<A>, record: A, view: View) => Effect.Effect<void, UsageFault, Output>
  /** Writes records, each complete by itself. More records may follow, so the header is written at once. */
  readonly next: Write
  /** Whether a list may be written in parts; later parts have no header. */
  readonly inParts: boolean
  /** Whether the format shows single fields, so that `--columns` applies. */
  readonly hasColumns: boolean
}

/** The writer of a format that writes each record independently. */
export const rowWriter = (write: Write, hasColumns = false): Writer => ({
  list: write,
  one: (descriptor, record, view) => write(descriptor, [record], view),
  next: write,
  inParts: true,
  hasColumns
})

const put = (text: string) => Output.use(({ data }) => data(text))

/** The writer of a format that writes a list as one value. In an endless stream it writes each record as a value, after `mark`. */
export const valueWriter = (text: (value: unknown) => string, mark = ""): Writer => ({
  list: ({ encode }, records) => put(text(records.map(encode))),
  one: ({ encode }, record) => put(text(encode(record))),
  next: ({ encode }, records) => put(records.map((record) => mark + text(encode(record))).join("")),
  inParts: false,
  hasColumns: false
})
