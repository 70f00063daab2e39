/**
 * A price: a string in rupees on the wire, perhaps with a sign or separators (interface.md §2.6); rupees in the domain.
 */
import { Predicate } from "effect"
import { type Field, numeric, unreadable } from "./Field.ts"

const shape = /^\s*(?:₹|rs\.?|inr)?\s*([\d,]+(?:\.\d+)?)/i

/** The price in rupees. */
export const priceInr: Field<number> = (wire) => {
  const plain = numeric(wire)
  if (plain !== unreadable) return plain
  const match = Predicate.isString(wire) ? shape.exec(wire) : null
  return match === null ? unreadable : numeric(match[1]!.replaceAll(",", ""))
}
