/**
 * Prints records as data, in the format that was asked for: one writer per format.
 */
import { Effect, Stream } from "effect"
import { jsonWriter, ndjsonWriter } from "./json.ts"
import { Output } from "./Output.ts"
import { type Format, OutputFormat } from "./OutputFormat.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"
import { tableWriter } from "./tableWriter.ts"
import type { Writer } from "./Writer.ts"

const writers: Record<Format, Writer> = { table: tableWriter, json: jsonWriter, ndjson: ndjsonWriter }

const writer = Effect.map(OutputFormat, (format) => writers[format])

/** Prints a list whole. */
export const printAll = <A>(descriptor: RecordDescriptor<A>, records: ReadonlyArray<A>) =>
  Effect.flatMap(writer, ({ list }) => list(descriptor, records))

/** Prints a list as it comes where the format can be written in parts, otherwise when it is complete. */
export const printStream = Effect.fnUntraced(function* <A, E, R>(
  descriptor: RecordDescriptor<A>,
  records: Stream.Stream<A, E, R>
) {
  const { inParts, list } = yield* writer
  if (!inParts) return yield* list(descriptor, yield* Stream.runCollect(records))
  const { readerGone } = yield* Output
  yield* records.pipe(
    Stream.mapArrayEffect((page) => Effect.as(list(descriptor, page), page)),
    Stream.takeUntilEffect(() => readerGone),
    Stream.runDrain
  )
})

/** Prints one record. */
export const printOne = <A>(descriptor: RecordDescriptor<A>, record: A) =>
  Effect.flatMap(writer, ({ one }) => one(descriptor, record))
