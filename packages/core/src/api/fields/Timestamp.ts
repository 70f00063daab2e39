/**
 * A timestamp: ISO 8601, with fractional seconds of any length and `Z`; one without a zone is UTC (interface.md §2.3,
 * decision 13).
 */
import { DateTime, Option, Predicate } from "effect"
import { type Field, unreadable } from "./Field.ts"

const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i
const dated = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/

/** The instant, to the millisecond; finer digits are cut off. */
export const timestamp: Field<DateTime.Utc> = (wire) => {
  if (!Predicate.isString(wire) || !dated.test(wire)) return unreadable
  const instant = DateTime.make(zoned.test(wire) ? wire : `${wire}Z`)
  return Option.isSome(instant) ? DateTime.toUtc(instant.value) : unreadable
}
