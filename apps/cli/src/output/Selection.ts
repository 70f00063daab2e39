/**
 * Selects the fields to show (`--columns`) and sorts records (`--sort`); reports unknown names. Pure.
 */
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Result, Struct } from "effect"
import { UsageFault } from "../failure/CliFailure.ts"
import { type Field, type RecordDescriptor, valueAt } from "./RecordDescriptor.ts"

const lastPart = (key: string) => key.slice(key.lastIndexOf(".") + 1)

/** Whether a word names this field. The word may be the field's key, the end of its key, its alias or its title. */
const means = (word: string, { alias, key, title }: Field<never>): boolean => {
  const wanted = word.toLowerCase()
  return [key, lastPart(key), alias, title].some((name) => name?.toLowerCase() === wanted)
}

/** Finds the field that a word of `--sort` or `--columns` names. */
const fieldNamed = <A>(
  fields: ReadonlyArray<Field<A>>,
  word: string,
  flag: string
): Result.Result<Field<A>, UsageFault> => {
  const found = fields.find((field) => means(word, field))
  if (found !== undefined) return Result.succeed(found)
  const names = fields.map(({ alias, key }) => alias ?? key)
  return Result.fail(
    new UsageFault({
      message: `${flag} cannot be ${word}${didYouMean(nearest(word, names))}`,
      hint: `It takes ${names.join(", ")}.`
    })
  )
}

/** The fields that the records need, followed by all others: whether a name is valid must not depend on the result. */
export const namedFields = <A>(
  { fields }: Pick<RecordDescriptor<A>, "fields">,
  records: ReadonlyArray<A>
): ReadonlyArray<Field<A>> => {
  const needed = fields(records)
  return [...needed, ...fields([]).filter(({ key }) => needed.every((each) => each.key !== key))]
}

/** Selects the named fields, in that order; `all` means those that the records need. */
export const selectFields = <A>(
  fields: ReadonlyArray<Field<A>>,
  columns: ReadonlyArray<string>,
  named: ReadonlyArray<Field<A>> = fields
): Result.Result<ReadonlyArray<Field<A>>, UsageFault> => {
  const selected: Array<Field<A>> = []
  for (const word of columns) {
    if (word.toLowerCase() === "all") {
      selected.push(...fields)
      continue
    }
    const field = fieldNamed(named, word, "--columns")
    if (Result.isFailure(field)) return Result.fail(field.failure)
    selected.push(field.success)
  }
  // On a narrow terminal, drop a column that the user has named only if there is no other way.
  return Result.succeed(Array.from(new Set(selected), Struct.omit(["cardOnly", "dropOrder"])))
}

/** The fields that `--columns` names, or all that the records need. */
export const fieldsFor = <A>(
  descriptor: RecordDescriptor<A>,
  records: ReadonlyArray<A>,
  columns: ReadonlyArray<string>
): Result.Result<ReadonlyArray<Field<A>>, UsageFault> => {
  const fields = descriptor.fields(records)
  return columns.length === 0 ? Result.succeed(fields) : selectFields(fields, columns, namedFields(descriptor, records))
}

type SortKey = readonly [rank: number, value: number | string]

/** Missing values come last in either direction. */
const sortKey = (value: unknown, text: string): SortKey => {
  if (value === null || value === undefined || value === "") return [1, ""]
  if (typeof value === "number") return [0, value]
  return [0, typeof value === "string" ? value : text]
}

/** Created at the first comparison, because it takes milliseconds and most lists are not sorted. */
let collator: Intl.Collator | undefined

/** Compares numbers within strings by value, so `web-2` comes before `web-10`. */
const compareTexts = (a: string, b: string) => (collator ??= new Intl.Collator("en", { numeric: true })).compare(a, b)

/** Compares numbers by size. */
const compare = ([rankA, a]: SortKey, [rankB, b]: SortKey, sign: number): number => {
  if (rankA !== rankB) return rankA - rankB
  return sign * (typeof a === "number" && typeof b === "number" ? a - b : compareTexts(String(a), String(b)))
}

/** Sorts the records by `--sort k[,-k]`; a `-` reverses a key. */
export const sorted = <A>(
  descriptor: Pick<RecordDescriptor<A>, "encode" | "fields">,
  records: ReadonlyArray<A>,
  keys: ReadonlyArray<string>
): Result.Result<ReadonlyArray<A>, UsageFault> => {
  const known = namedFields(descriptor, records).filter(({ computed }) => computed !== true)
  const order: Array<{ readonly field: Field<A>; readonly sign: number }> = []
  for (const key of keys) {
    const field = fieldNamed(known, key.replace(/^[-+]/, ""), "--sort")
    if (Result.isFailure(field)) return Result.fail(field.failure)
    order.push({ field: field.success, sign: key.startsWith("-") ? -1 : 1 })
  }
  if (order.length === 0) return Result.succeed(records)
  const ranked = records.map((record) => {
    const json = descriptor.encode(record)
    return {
      record,
      keys: order.map(({ field }) => sortKey(valueAt(json, field.sortKey ?? field.key), field.value(record, 0)))
    }
  })
  ranked.sort((a, b) => {
    for (const [index, { sign }] of order.entries()) {
      const result = compare(a.keys[index]!, b.keys[index]!, sign)
      if (result !== 0) return result
    }
    return 0
  })
  return Result.succeed(ranked.map(({ record }) => record))
}
