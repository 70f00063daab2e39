/** Durations and instants as text, for flags, control requests and faults. */
import { DateTime, Duration, Option, Schema } from "effect"
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { textField } from "./textField.ts"

/** Maximum duration: ten years. */
export const maxDurationMillis = 10 * 365 * 86_400_000

/** Parses `10s`, `1h30m`, `250ms`, `1d`, or an Effect duration such as `10 seconds`, into whole milliseconds up to 10 years. */
export const readDurationMillis = (text: string): Option.Option<number> =>
  parseDurationMillis(text).pipe(
    Option.orElse(() => Option.map(Duration.fromInput(text as Duration.Input), Duration.toMillis)),
    Option.filter((millis) => Number.isInteger(millis) && millis >= 0 && millis <= maxDurationMillis)
  )

/** A duration in any form that Effect accepts, so that a test may write `"10 seconds"` or `Duration.seconds(10)`. */
const DurationInput = Schema.declare((value): value is Duration.Input =>
  Option.isSome(Duration.fromInput(value as Duration.Input))
)

/** A duration from zero to ten years, in whole milliseconds: `10 seconds`, or `10s` as in flags. */
export const DurationText = textField<Duration.Input>(
  DurationInput,
  "a duration such as 10s or 10 seconds, up to 10 years",
  (given) => Option.map(readDurationMillis(given), Duration.millis),
  (duration) => `${Duration.toMillis(duration)} millis`
)

const isoInstant = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?Z$/

/** Parses an instant in ISO 8601 and UTC, such as `2026-01-01T00:00:10Z`, into milliseconds since the epoch. */
export const readInstantMillis = (text: string): Option.Option<number> =>
  isoInstant.test(text)
    ? DateTime.make(text).pipe(
        // Refuse days that do not exist: `Date` turns 30 February into 2 March.
        Option.filter((instant) => DateTime.formatIso(instant).startsWith(text.slice(0, 16))),
        Option.map(DateTime.toEpochMillis)
      )
    : Option.none()

/**
 * The first year in which a world may begin. If a world began earlier, clients would read its `ratelimit-reset` as seconds
 * from now (assumption A22 in docs/interface/assumptions.md).
 */
const firstYear = 2002
const lastYear = 2999

/** Whether a world may begin at this instant. */
export const isStart = (millis: number): boolean =>
  millis >= Date.UTC(firstYear, 0) && millis < Date.UTC(lastYear + 1, 0)

/** An instant in any form that Effect accepts, so that a test may write `"2026-01-01T00:00:00Z"` or a `DateTime`. */
const InstantInput = Schema.declare((value): value is DateTime.DateTime.Input =>
  Option.isSome(DateTime.make(value as DateTime.DateTime.Input))
)

/** An instant of a world. */
export const InstantText = textField<DateTime.DateTime.Input>(
  InstantInput,
  `an instant from ${firstYear} to ${lastYear} such as 2026-01-01T00:00:00Z`,
  (text) => readInstantMillis(text).pipe(Option.filter(isStart), Option.map(DateTime.makeUnsafe)),
  (instant) => DateTime.formatIso(DateTime.makeUnsafe(instant))
)
