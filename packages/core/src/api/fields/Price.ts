/**
 * A price: a string in rupees on the wire (interface.md §2.6); rupees in the domain. A string that does not match the grammar below is
 * unreadable, because reading a part of it, such as the 12.92 of `12.92 USD`, would give a wrong price.
 *
 *     price   = [sign] amount [sign | "/-"] [period]
 *     sign    = "₹" | "Rs" | "Rs." | "INR"
 *     amount  = digits ["." digits], thousands separated by commas as 1,234,567 or 12,34,567, or not at all
 *     period  = "/" or "per", and the period of the field: `Rs. 3.5/Hr`
 */
import { Predicate } from "effect"
import { maxInr, toMicros } from "../../domain/Money.ts"
import { type Field, numeric, unreadable } from "./Field.ts"

const sign = "(?:₹|rs\\.?|inr)"
const amount = "((?:[1-9]\\d{0,2}(?:,\\d{3})+|[1-9]\\d?(?:,\\d{2})*,\\d{3}|\\d+)(?:\\.\\d+)?)"

const priceOf = (period?: string): Field<number> => {
  const tail = period === undefined ? "" : `(?:\\s*(?:\\/|per\\b)\\s*${period})?`
  const shape = new RegExp(`^\\s*(?:${sign}\\s*)?${amount}(?:\\s*(?:${sign}|/-))?${tail}\\s*$`, "i")
  return (wire) => {
    const price = Predicate.isString(wire) ? numeric(shape.exec(wire)?.[1]!.replaceAll(",", "")) : numeric(wire)
    // Round to a millionth of a rupee, because `Money.ts` adds whole millionths without errors.
    return price !== unreadable && price >= 0 && price <= maxInr ? toMicros(price) / 1_000_000 : unreadable
  }
}

/** An amount in rupees. */
export const priceInr = priceOf()

/** Rupees per hour. */
export const pricePerHourInr = priceOf("(?:hr|hour)")

/** Rupees per month. */
export const pricePerMonthInr = priceOf("(?:mo|month)")
