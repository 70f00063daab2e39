/**
 * Describes how one kind of record is shown. The table, the card, JSON, NDJSON, YAML, CSV, ids, names, `--sort`, `--columns` and `berth
 * schema` all use this one descriptor. The descriptors are in `records/`; `table.ts` lays out columns.
 */
import { Predicate, Schema } from "effect"
import type { Style } from "./cells.ts"
import { numberOr, rupees } from "./format.ts"

/** A field of a record: a table column, a line of a card, a CSV column, and a sort key. */
export interface Field<A> {
  /** The path of the field in the record's JSON, such as `specs.vcpus`. */
  readonly key: string
  readonly title: string
  /** The text of the cell at the time `nowMillis`. It is not escaped, because the writers escape it. */
  readonly value: (record: A, nowMillis: number) => string
  /** A short name in `--sort` and `--columns`, such as `price`. */
  readonly alias?: string
  /** The path of the value to sort by, if that is not `key`: for example the lowest price of a range. */
  readonly sortKey?: string
  /** Numbers are aligned right. */
  readonly align?: "left" | "right"
  readonly style?: (record: A) => Style | undefined
  /** The narrowest useful width. Without it the column is never cut. */
  readonly shrinkTo?: number
  /** The minimum width in a table whose rows are printed one by one. */
  readonly minWidth?: number
  /** The order in which columns are dropped on a narrow terminal, 1 first. Without it the column always stays. */
  readonly dropOrder?: number
  /** Whether only the card of a single record shows the field. */
  readonly cardOnly?: true
  /** Whether the field is computed for people and is not in the record's JSON. CSV leaves it out. */
  readonly computed?: true
}

/** The JSON form of a record, and its schema. */
export interface RecordJson<A> {
  readonly schema: Schema.Top
  /** Encodes a record. Times are ISO strings, and the names of fields include their units. */
  readonly encode: (record: A) => unknown
}

export interface RecordDescriptor<A> extends RecordJson<A> {
  /** The fields that these records need. If there are no records: all possible fields. */
  readonly fields: (records: ReadonlyArray<A>) => ReadonlyArray<Field<A>>
  /** Whether some fields depend on the records. If so, no list of fields is complete. */
  readonly hasMoreFields?: true
  /** Completes the sentence `There are …` for an empty list, such as `no nodes`. */
  readonly none: string
  /** The key of the value that `-o id` prints, which other commands accept; default `id`. */
  readonly idKey?: string
  /** The key to use for a record without a value at `idKey`. */
  readonly otherIdKey?: string
  /** The key of the value that `-o name` prints; default `name`. */
  readonly nameKey?: string
}

/** The title of a field: `publicIp` becomes `PUBLIC IP`. */
export const titleOf = (key: string): string => key.replace(/[A-Z]/g, " $&").toUpperCase()

/** The JSON form of a domain schema. Its encoder is created at first use. */
export const jsonOf = <A>(schema: Schema.Codec<A, unknown>): RecordJson<A> => {
  let encode: ((record: A) => unknown) | undefined
  return { schema, encode: (record) => (encode ??= Schema.encodeSync(Schema.toCodecJson(schema)))(record) }
}

/** The descriptor of records that always have the same fields. */
export const recordOf = <A>(
  schema: Schema.Codec<A, unknown>,
  more: Pick<RecordDescriptor<A>, "none" | "idKey" | "nameKey">,
  fields: ReadonlyArray<Field<A>>
): RecordDescriptor<A> => ({ ...jsonOf(schema), fields: () => fields, ...more })

/** A record with a number at this key. */
type Numeric<K extends string> = Readonly<Record<K, number | null>>

/** A numeric field, formatted by `text`. */
const numeric =
  (text: (value: number | null) => string) =>
  <K extends string>(key: K, title: string, more?: Partial<Field<Numeric<K>>>): Field<Numeric<K>> => ({
    key,
    title,
    value: (record) => text(record[key]),
    align: "right",
    ...more
  })

/** A plain number. */
export const number = numeric(numberOr)

/** An amount in rupees. */
export const inr = numeric(rupees)

/** The value at a key of a record's JSON; undefined if there is none. */
export const valueAt = (json: unknown, key: string): unknown =>
  key.split(".").reduce<unknown>((value, name) => (Predicate.isObject(value) ? value[name] : undefined), json)
