/**
 * A field that remembers what it made of the spellings it saw last. A list says the same few sizes over and over, those
 * of its plans, and looking one up is far cheaper than taking it apart.
 */
import { Predicate } from "effect"
import type { Field, Unreadable } from "./Field.ts"

/** How many spellings are remembered before all are forgotten. */
const maxSpellings = 256

/** Characters in the longest spelling that is remembered. */
const maxSpellingLength = 32

/** Reads as `field` does. */
export const remembered = <A extends string | number | boolean>(field: Field<A>): Field<A> => {
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
