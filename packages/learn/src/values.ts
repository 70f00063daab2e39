/** Functions that look into JSON values, and that parse sizes and instants in any format that a service uses. */
import { Predicate } from "effect"
import type { Kind, Ranges } from "./Profile.ts"

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => Predicate.isObject(value)

export const kindOf = (value: unknown): Kind => {
  if (value === null || value === undefined) return "null"
  if (Array.isArray(value)) return "array"
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number"
  return typeof value as "boolean" | "string" | "object"
}

const size = /^(\d+(?:\.(\d+))?)(\s*)(GB|MB|GiB|MiB)?$/

/** The parts of `16.00 GB`, or of a text of digits; undefined for any other text. */
export const sizeOf = (text: string) => {
  const [, number, decimals = "", space, unit] = size.exec(text) ?? []
  if (number === undefined) return undefined
  return { value: Number(number), decimals: decimals.length, suffix: unit === undefined ? "" : `${space}${unit}`, unit }
}

const instant = /^(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d|)$/

/** The parts of an ISO 8601 instant; undefined for any other text. */
export const instantOf = (text: string) => {
  const [, date, between, time, decimals = "", zone] = instant.exec(text) ?? []
  if (date === undefined) return undefined
  const millis = Date.parse(`${date}T${time}.${decimals.slice(0, 3).padEnd(3, "0")}${zone === "" ? "Z" : zone}`)
  return Number.isNaN(millis) ? undefined : { millis, decimals: decimals.length, between: between!, zone: zone! }
}

/** A nested object; an empty object if it is missing. */
export const part = (whole: JsonObject, name: string): JsonObject => {
  const value = whole[name]
  return isObject(value) ? value : {}
}

/**
 * The middle of each range, in ascending order. A wide range, between two distant reads, says little and counts only if all
 * ranges are wide.
 */
export const middlesOf = (ranges: Ranges): ReadonlyArray<number> => {
  const isSharp = ({ max, min }: Ranges[number]) => max - min <= Math.max(5_000, max / 2)
  const sharp = ranges.filter(isSharp)
  return (sharp.length === 0 ? ranges : sharp).map(({ max, min }) => (min + max) / 2).toSorted((a, b) => a - b)
}
