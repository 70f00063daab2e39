/**
 * Prints records as data in the requested format, with one writer per format.
 */
import { Effect, Stream } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { jsonLine, jsonWriter, ndjsonWriter } from "./json.ts"
import { Output } from "./Output.ts"
import { type Format, OutputFormat, OutputOptions } from "./OutputOptions.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"
import { sorted } from "./Selection.ts"
import { tableWriter } from "./table.ts"
import { valueText } from "./valueText.ts"
import type { Writer } from "./Writer.ts"

/** Modules that only one format needs are loaded when it writes. */
const writers: Record<Format, () => Writer | Promise<Writer>> = {
  table: () => tableWriter,
  json: () => jsonWriter,
  ndjson: () => ndjsonWriter,
  yaml: async () => (await import("./yaml.ts")).yamlWriter,
  csv: async () => (await import("./csv.ts")).csvWriter,
  id: async () => (await import("./idWriter.ts")).idWriter,
  name: async () => (await import("./idWriter.ts")).nameWriter
}

/** The output flags, which `checkOutput.ts` has validated. */
const printing = Effect.gen(function* () {
  const format = yield* OutputFormat
  const { header, query, raw, sort, columns } = yield* OutputOptions
  const writer = yield* Effect.promise(async () => writers[format]())
  return { format, writer, query, sort, view: { columns, header, raw } }
})

/** Data as lines of JSON. */
const linesOf = (data: ReadonlyArray<unknown>): string => data.map((each) => `${jsonLine(each)}\n`).join("")

/**
 * Applies the query. Some errors of a query show only at this point. If the command has already changed something, its data is printed as
 * plain lines of JSON. Otherwise the command fails, and the user can run it again.
 */
const shown =
  (data: () => ReadonlyArray<unknown>) =>
  <R>(print: Effect.Effect<void, UsageFault, R>): Effect.Effect<void, UsageFault, R | Output> =>
    Effect.catch(print, (fault) =>
      Effect.flatMap(Output, ({ hasChanged, lost }) =>
        Effect.flatMap(hasChanged, (changed) =>
          changed
            ? lost(linesOf(data()), { error: new Error(fault.message.replace(/\.$/, "")), remedy: fault.hint })
            : Effect.fail(fault)
        )
      )
    )

/** The options for printing a query's result. */
interface Queried extends Pick<Effect.Success<typeof printing>, "format" | "writer" | "view"> {
  /** Whether more records may follow; default false. */
  readonly isNext?: boolean
}

const printQueried = Effect.fnUntraced(function* (
  expression: string,
  value: unknown,
  { format, isNext = false, view, writer }: Queried
) {
  const { isNothing, printRows, search, structured } = yield* Effect.promise(() => import("./query.ts"))
  const found = yield* search(expression, value)
  // The data may be the only place that shows the id of a new node.
  if (isNothing(found)) yield* Output.use(({ unqueried }) => unqueried(linesOf(Array.isArray(value) ? value : [value])))
  const text = structured(found, format)
  if (text === undefined) {
    const ofList = Array.isArray(value)
    return yield* printRows(found, { isTable: format === "table", writer, view, isNext, ofList })
  }
  yield* Output.use(({ data }) => data(`${isNext && format === "yaml" ? "---\n" : ""}${text}`))
})

/** Prints a complete list. */
export const printAll = <A>(descriptor: RecordDescriptor<A>, records: ReadonlyArray<A>) =>
  Effect.gen(function* () {
    const { format, query, sort, view, writer } = yield* printing
    const ordered = yield* Effect.fromResult(sorted(descriptor, records, sort))
    if (query !== undefined) return yield* printQueried(query, ordered.map(descriptor.encode), { format, view, writer })
    yield* writer.list(descriptor, ordered, view)
  }).pipe(shown(() => records.map(descriptor.encode)))

/** Prints a list in parts if the format allows it, otherwise when it is complete. */
export const printStream = Effect.fnUntraced(function* <A, E, R>(
  descriptor: RecordDescriptor<A>,
  records: Stream.Stream<A, E, R>
) {
  const { query, sort, view, writer } = yield* printing
  if (!writer.inParts || query !== undefined || sort.length > 0) {
    return yield* printAll(descriptor, yield* Stream.runCollect(records))
  }
  const { readerGone } = yield* Output
  let first = true
  const write = (page: ReadonlyArray<A>) =>
    Effect.suspend(() => {
      const header = view.header && first
      first = false
      return writer.list(descriptor, page, { ...view, header })
    })
  yield* records.pipe(
    Stream.mapArrayEffect((page) => Effect.as(write(page), page)),
    Stream.takeUntilEffect(() => readerGone),
    Stream.runDrain
  )
  if (first) yield* write([])
})

/** Prints one record. */
export const printOne = <A>(descriptor: RecordDescriptor<A>, record: A) =>
  Effect.gen(function* () {
    const { format, query, view, writer } = yield* printing
    if (query !== undefined) return yield* printQueried(query, descriptor.encode(record), { format, view, writer })
    yield* writer.one(descriptor, record, view)
  }).pipe(shown(() => [descriptor.encode(record)]))

/** Prints a value that is not a record, such as a schema. */
export const printValue = Effect.fnUntraced(function* (value: unknown) {
  const { format, query, view, writer } = yield* printing
  if (query !== undefined) return yield* printQueried(query, value, { format, view, writer })
  yield* Effect.flatMap(valueText(value, format), (text) => Output.use(({ data }) => data(text)))
})

/**
 * Prints records as they come, possibly without end. Returns the function that prints the next ones; its first call prints the header row,
 * even without records. An invalid command line fails before that.
 */
export const printNext = Effect.fnUntraced(function* <A>(descriptor: RecordDescriptor<A>) {
  const { format, query, sort, view, writer } = yield* printing
  if (sort.length > 0) {
    return yield* new UsageFault({
      message: "--sort needs all records, and these are printed as they come.",
      hint: "Omit --sort."
    })
  }
  let isFirst = true
  const viewOnce = () => {
    const header = view.header && isFirst
    isFirst = false
    return { ...view, header }
  }
  return (records: ReadonlyArray<A>) =>
    query === undefined
      ? Effect.suspend(() => writer.next(descriptor, records, viewOnce()))
      : Effect.forEach(
          records,
          (record) =>
            Effect.suspend(() =>
              printQueried(query, descriptor.encode(record), { format, writer, view: viewOnce(), isNext: true })
            ),
          { discard: true }
        )
})
