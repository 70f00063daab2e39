/**
 * The formats `id` and `name`: one value per line and nothing else, so that `berth node delete $(berth node list -o id)` works.
 */
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Effect } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { Output } from "./Output.ts"
import { type RecordDescriptor, valueAt } from "./RecordDescriptor.ts"
import { rowWriter, type Writer } from "./Writer.ts"

/** The value at this key, or otherwise at the record's other key. */
const valueOf = <A>({ idKey, otherIdKey }: RecordDescriptor<A>, record: unknown, key: string): unknown => {
  const value = valueAt(record, key)
  return value === null && key === idKey && otherIdKey !== undefined ? valueAt(record, otherIdKey) : value
}

const writerOf = (format: "id" | "name"): Writer => {
  const write = Effect.fnUntraced(function* <A>(descriptor: RecordDescriptor<A>, records: ReadonlyArray<A>) {
    const key = format === "id" ? (descriptor.idKey ?? "id") : (descriptor.nameKey ?? "name")
    const lines: Array<string> = []
    for (const record of records) {
      const encoded = descriptor.encode(record)
      const value = valueOf(descriptor, encoded, key)
      if (value === undefined) {
        return yield* new UsageFault({
          message: `--output cannot be ${format}: these records have none.`,
          hint: "Use -o json, yaml, csv or table."
        })
      }
      // A record without a value gets no line, because the output is input for another command.
      if (value !== null) lines.push(`${escapeControls(String(value))}\n`)
    }
    yield* Output.use(({ data }) => data(lines.join("")))
  })
  return rowWriter(write)
}

export const idWriter = writerOf("id")
export const nameWriter = writerOf("name")
