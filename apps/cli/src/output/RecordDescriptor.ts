/**
 * How records of one kind are shown: one descriptor, from which the table, the card, JSON, NDJSON, YAML, CSV, ids, names, `--sort`,
 * `--columns` and `berth schema` all come. The descriptors are in `records/`; how columns are laid out is in `table.ts`.
 */
import { Predicate, Schema } from "effect"
import type { Style } from "./cells.ts"
import { numberOr, rupees } from "./format.ts"

/** A field of a record: a column of a table, a line of a card, a column of CSV, a key to sort by. */
export interface Field<A> {
  /** Its place in the record's JSON, such as `specs.vcpus`. */
  readonly key: string
  readonly title: string
  /** The text of the cell, as it is, at this moment; the writers make it safe to show. */
  readonly value: (record: A, nowMillis: number) => string
  /** A short word for it in `--sort` and `--columns`, such as `price`. */
  readonly alias?: string
  /** Where the record is sorted by another value than that at `key`, its place: the lowest price of a range. */
  readonly sortKey?: string
  /** Numbers are flush right. */
  readonly align?: "left" | "right"
  readonly style?: (record: A) => Style | undefined
  /** The narrowest useful width. A column without one is never cut. */
  readonly shrinkTo?: number
  /** Rows that are printed one by one line up in columns of at least this width. */
  readonly minWidth?: number
  /** Where the terminal is too narrow for all, columns are left out in this order, 1 first. One without always stays. */
  readonly dropOrder?: number
  /** Whether only the card of a single record has it, and not a table of several. */
  readonly cardOnly?: true
  /** Whether it is worked out for people and is not in the record's JSON. CSV leaves it out. */
  readonly computed?: true
}

/** A record's JSON, and the schema that describes it. */
export interface RecordJson<A> {
  readonly schema: Schema.Top
  /** Moments are ISO strings, units are in the names. */
  readonly encode: (record: A) => unknown
}

export interface RecordDescriptor<A> extends RecordJson<A> {
  /** The fields that these records need; of no records, all that there may be. */
  readonly fields: (records: ReadonlyArray<A>) => ReadonlyArray<Field<A>>
  /** Whether some fields depend on the records, so that no list of them is complete. */
  readonly hasMoreFields?: true
  /** Completes `There are …` where there are none, such as `no nodes`. */
  readonly none: string
  /** Key of what `-o id` prints, and what other commands take; default `id`. */
  readonly idKey?: string
  /** Names a record that has nothing under `idKey`. */
  readonly otherIdKey?: string
  /** Key of what `-o name` prints; default `name`. */
  readonly nameKey?: string
}

/** A field's name as its title: `publicIp` is `PUBLIC IP`. */
export const titleOf = (key: string): string => key.replace(/[A-Z]/g, " $&").toUpperCase()

/** The JSON of a domain schema. Its encoder is made when it is first needed. */
export const jsonOf = <A>(schema: Schema.Codec<A, unknown>): RecordJson<A> => {
  let encode: ((record: A) => unknown) | undefined
  return { schema, encode: (record) => (encode ??= Schema.encodeSync(Schema.toCodecJson(schema)))(record) }
}

/** The descriptor of records that all have the same fields. */
export const recordOf = <A>(
  schema: Schema.Codec<A, unknown>,
  more: Pick<RecordDescriptor<A>, "none" | "idKey" | "nameKey">,
  fields: ReadonlyArray<Field<A>>
): RecordDescriptor<A> => ({ ...jsonOf(schema), fields: () => fields, ...more })

/** A record with a number at a key. */
type Numeric<K extends string> = Readonly<Record<K, number | null>>

/** The field of a number, as `text` writes it. */
const numeric =
  (text: (value: number | null) => string) =>
  <K extends string>(key: K, title: string, more?: Partial<Field<Numeric<K>>>): Field<Numeric<K>> => ({
    key,
    title,
    value: (record) => text(record[key]),
    align: "right",
    ...more
  })

/** A number as it is. */
export const number = numeric(numberOr)

/** An amount in rupees. */
export const inr = numeric(rupees)

/** What a record's JSON has at a key; undefined where there is nothing. */
export const valueAt = (json: unknown, key: string): unknown =>
  key.split(".").reduce<unknown>((value, name) => (Predicate.isObject(value) ? value[name] : undefined), json)
