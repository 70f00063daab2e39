/**
 * A field that caches its readings by spelling. A list repeats the same few sizes, those of its plans, and a cache hit is far
 * cheaper than parsing one.
 */
import { Predicate } from "effect"
import type { Field, Unreadable } from "./Field.ts"

/** The cache is cleared when it holds this many spellings. */
const maxSpellings = 256

/** Longer spellings are not cached. */
const maxSpellingLength = 32

/** Reads as `field` does. */
export const cached = <A extends string | number | boolean>(field: Field<A>): Field<A> => {
  const readings = new Map<string, A | Unreadable>()
  return (wire) => {
    if (!Predicate.isString(wire) || wire.length > maxSpellingLength) return field(wire)
    const known = readings.get(wire)
    if (known !== undefined) return known
    const reading = field(wire)
    if (readings.size >= maxSpellings) readings.clear()
    readings.set(wire, reading)
    return reading
  }
}
