/**
 * A timestamp: ISO 8601, with fractional seconds of any length and `Z`; one without a zone is UTC (interface.md §2.3,
 * decision 13).
 */
import { DateTime, Option, Predicate } from "effect"
import { type Field, unreadable } from "./Field.ts"

const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i
const dated = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/

/** The documented shape, `2026-03-01T10:20:30.123456Z`, cut to what JavaScript's own format has. */
const documented = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/
const milliseconds = "2026-03-01T10:20:30.123".length

const parse = Option.liftThrowable(DateTime.makeUnsafe)

/** The instant, to the millisecond; finer digits are cut off. */
export const timestamp: Field<DateTime.Utc> = (wire) => {
  if (!Predicate.isString(wire)) return unreadable
  if (documented.test(wire)) {
    const millis = Date.parse(`${wire.slice(0, milliseconds)}Z`)
    return Number.isNaN(millis) ? unreadable : DateTime.makeUnsafe(millis)
  }
  if (!dated.test(wire)) return unreadable
  const instant = parse(zoned.test(wire) ? wire : `${wire}Z`)
  return Option.isSome(instant) ? DateTime.toUtc(instant.value) : unreadable
}
