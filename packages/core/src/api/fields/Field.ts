/**
 * Readers of single fields. A reader turns the wire value into a domain value, or into `unreadable`. Each field is read by itself,
 * without a schema for the whole record, so one field of unexpected shape does not make the others unreadable (A8).
 */
import { Predicate } from "effect"

/** The result for a value that the reader does not understand. */
export const unreadable: unique symbol = Symbol("unreadable")
type Unreadable = typeof unreadable

/** Reads one field. It is never called with `undefined`, which means that the field is absent. */
export type Field<A> = (wire: unknown) => A | Unreadable

/** A number, or a string with one (`"4"`, `"2.0"`). */
export const numeric: Field<number> = (wire) => {
  if (Predicate.isNumber(wire)) return Number.isFinite(wire) ? wire : unreadable
  if (!Predicate.isString(wire) || !/^\s*-?\d+(\.\d+)?\s*$/.test(wire)) return unreadable
  const value = Number(wire)
  return Number.isFinite(value) ? value : unreadable
}

/** A whole number, or a string with one (`"4"`, `"2.0"`). More digits than a number can hold are rejected. */
export const integer: Field<number> = (wire) => {
  if (Predicate.isString(wire) && !/^\s*-?\d+(\.0+)?\s*$/.test(wire)) return unreadable
  const value = numeric(wire)
  return value !== unreadable && Number.isSafeInteger(value) ? value : unreadable
}

/** A whole number of at least 0. */
export const count: Field<number> = (wire) => {
  const value = integer(wire)
  return value !== unreadable && value >= 0 ? value : unreadable
}

/** A string; a number becomes its digits, unless it has lost some to rounding. */
export const text: Field<string> = (wire) => {
  if (Predicate.isString(wire)) return wire
  return Predicate.isNumber(wire) && Math.abs(wire) <= Number.MAX_SAFE_INTEGER ? String(wire) : unreadable
}

/** A string, or null for `null` and `""`. */
export const optionalText: Field<string | null> = (wire) => (wire === null || wire === "" ? null : text(wire))

/** A boolean, or a value that means a boolean: 0, 1, or a word such as `true`. */
export const flag: Field<boolean> = (wire) => {
  if (Predicate.isBoolean(wire)) return wire
  if (wire === 1 || wire === "true" || wire === "True") return true
  if (wire === 0 || wire === "false" || wire === "False") return false
  return unreadable
}

/** The cache of a field is cleared once it holds this many spellings. */
const maxSpellings = 256

/** Longer spellings are not cached. */
const maxSpellingLength = 32

/** Caches the results of `field` by spelling. A list repeats the few sizes of its plans, and a cache hit is much cheaper than parsing. */
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
