/**
 * Writes records in one format to stdout.
 */
import type { Effect } from "effect"
import type { UsageFault } from "../failure/CliFailure.ts"
import { Output } from "./Output.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"

/** How much of the records is shown. */
export interface View {
  /** What `--columns` names; none means what the format shows by itself. */
  readonly columns: ReadonlyArray<string>
  /** Whether a header goes before the first record. */
  readonly header: boolean
  /** Whether CSV is for a program, which wants each text as it is. */
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
  /** Writes records that others follow, perhaps without an end: each is complete by itself. The header comes at once. */
  readonly next: Write
  /** Whether a list may be written in parts, one after the other; the parts after the first have no header. */
  readonly inParts: boolean
  /** Whether it shows fields, so that `--columns` means something. */
  readonly hasColumns: boolean
}

/** The writer of a format in which each record stands by itself. */
export const rowWriter = (write: Write, hasColumns = false): Writer => ({
  list: write,
  one: (descriptor, record, view) => write(descriptor, [record], view),
  next: write,
  inParts: true,
  hasColumns
})

const put = (text: string) => Output.use(({ data }) => data(text))

/** The writer of a format in which records are one value; of records without an end each is one, and `mark` stands before it. */
export const valueWriter = (text: (value: unknown) => string, mark = ""): Writer => ({
  list: ({ encode }, records) => put(text(records.map(encode))),
  one: ({ encode }, record) => put(text(encode(record))),
  next: ({ encode }, records) => put(records.map((record) => mark + text(encode(record))).join("")),
  inParts: false,
  hasColumns: false
})
