/**
 * Instants as people and programs write them: ISO 8601 with an offset, `2026-03-01T10:20:30Z` or `2026-03-01 10:20+05:30`.
 * An instant without an offset is refused, because it could mean UTC or the writer's local time. Days and hours that do not
 * exist are refused as well: JavaScript alone would read 30 February as 2 March, and 01/12/2026 as a day in January.
 */
import { DateTime, Option, Schema, SchemaGetter } from "effect"

const iso =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(Z|[+-](?:0\d|1[0-4]):?[0-5]\d)?)?$/i

/** The minutes that an offset such as `+05:30` is ahead of UTC. */
const aheadMinutes = (offset: string): number => {
  if (/^z$/i.test(offset)) return 0
  const digits = offset.replace(":", "")
  const minutes = Number(digits.slice(1, 3)) * 60 + Number(digits.slice(3))
  return digits.startsWith("-") ? -minutes : minutes
}

/**
 * Milliseconds since the epoch; none if the text is not an instant. A bare date is accepted only if `dayOffset` is given; it
 * means midnight at that offset from UTC.
 */
export const parseInstantMillis = (text: string, dayOffset?: string): Option.Option<number> => {
  const found = iso.exec(text)
  if (found === null) return Option.none()
  const [, year, month, day, hour, minute = "0", second = "0", decimals = "", given] = found
  const offset = hour === undefined ? dayOffset : given
  if (offset === undefined) return Option.none()
  const millis = Number(decimals.slice(0, 3).padEnd(3, "0"))
  const midnight = new Date(0)
  midnight.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  if (midnight.getUTCMonth() !== Number(month) - 1 || midnight.getUTCDate() !== Number(day)) return Option.none()
  const ahead = aheadMinutes(offset)
  const minutes = Number(hour ?? "0") * 60 + Number(minute) - ahead
  return Option.some(midnight.getTime() + minutes * 60_000 + Number(second) * 1000 + millis)
}

/** The end of an error's sentence that says what was expected. */
export const instantExpected =
  "an instant that exists, with its offset, such as 2026-03-01T10:20:30Z or 2026-03-01T10:20+05:30"

const isInstant = (text: string): boolean => Option.isSome(parseInstantMillis(text))

/** An instant in a request, as text. */
export const InstantText = Schema.String.check(Schema.makeFilter(isInstant, { expected: instantExpected })).pipe(
  Schema.decodeTo(Schema.DateTimeUtc, {
    decode: SchemaGetter.transform((text: string) => DateTime.makeUnsafe(Option.getOrThrow(parseInstantMillis(text)))),
    encode: SchemaGetter.transform(DateTime.formatIso)
  })
)
