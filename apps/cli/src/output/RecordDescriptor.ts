/**
 * How records of one kind are shown: their JSON, and their fields as columns of a table and lines of a card. How columns are
 * laid out is in `table.ts`; the fields of each record are in `records/`.
 */
import { Schema } from "effect"
import type { Style } from "./cells.ts"

/** A field of a record: a column of a table, or a line of a card. */
export interface Field<A> {
  /** Its name in JSON. */
  readonly key: string
  readonly title: string
  /** The text of the cell, as it is; the table makes it safe to show. */
  readonly value: (record: A) => string
  /** Numbers are flush right. */
  readonly align?: "left" | "right"
  readonly style?: (record: A) => Style | undefined
  /** The narrowest useful width. A column without one is never cut. */
  readonly shrinkTo?: number
  /** Where the terminal is too narrow for all, columns are left out in this order, 1 first. One without always stays. */
  readonly dropOrder?: number
  /** Whether only the card of a single record has it. */
  readonly cardOnly?: true
}

export interface RecordDescriptor<A> {
  /** The record as JSON: the codec of its domain schema. */
  readonly encode: (record: A) => unknown
  /** The fields that these records need. */
  readonly fields: (records: ReadonlyArray<A>) => ReadonlyArray<Field<A>>
  /** Completes `There are …` where there are none, such as `no nodes`. */
  readonly none: string
}

/** A field's name as its title: `publicIp` is `PUBLIC IP`. */
export const titleOf = (key: string): string => key.replace(/[A-Z]/g, " $&").toUpperCase()

/** The JSON of a domain schema: moments are ISO strings, units are in the names. Made when it is first needed. */
export const encodeWith = <A>(schema: Schema.Codec<A, unknown>): ((record: A) => unknown) => {
  let encode: ((record: A) => unknown) | undefined
  return (record) => (encode ??= Schema.encodeSync(Schema.toCodecJson(schema)))(record)
}
