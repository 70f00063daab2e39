/**
 * A price: a string in rupees on the wire, perhaps with a sign or separators (interface.md §2.6); rupees in the domain.
 */
import { Predicate } from "effect"
import { type Field, numeric, unreadable } from "./Field.ts"

/** An optional rupee sign, thousands separated by commas, an optional unit (`Rs. 3.5/Hr`). */
const shape = /^\s*(?:₹|rs\.?|inr)?\s*(\d{1,3}(?:,\d{2,3})+|\d+)(\.\d+)?\s*(?:\/?\s*(?:-|[a-z]+))?\s*$/i

/** The price in rupees. */
export const priceInr: Field<number> = (wire) => {
  const match = Predicate.isString(wire) ? shape.exec(wire) : null
  const price = match === null ? numeric(wire) : numeric(`${match[1]!.replaceAll(",", "")}${match[2] ?? ""}`)
  return price !== unreadable && price >= 0 ? price : unreadable
}
