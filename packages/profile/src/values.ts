/** Functions that look into JSON values, and into the ranges of a profile. */
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
