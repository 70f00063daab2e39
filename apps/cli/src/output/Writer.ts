/**
 * Writes records in one format to stdout.
 */
import type { Effect } from "effect"
import type { Output } from "./Output.ts"
import type { RecordDescriptor } from "./RecordDescriptor.ts"

export interface Writer {
  readonly list: <A>(descriptor: RecordDescriptor<A>, records: ReadonlyArray<A>) => Effect.Effect<void, never, Output>
  readonly one: <A>(descriptor: RecordDescriptor<A>, record: A) => Effect.Effect<void, never, Output>
  /** Whether a list may be written in parts, one after the other. */
  readonly inParts: boolean
}
