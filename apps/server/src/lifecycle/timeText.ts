/**
 * Durations as text, in flags, in requests of the control plane and in faults alike.
 */
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { Duration, Option, Schema } from "effect"
import { textField } from "./textField.ts"

/** Ten years. */
export const maxDurationMillis = 10 * 365 * 86_400_000

/** `10s`, `1h30m`, `250ms`, `1d`, or an Effect duration such as `10 seconds`; in whole milliseconds, up to 10 years. */
export const readDurationMillis = (text: string): Option.Option<number> =>
  parseDurationMillis(text).pipe(
    Option.orElse(() => Option.map(Duration.fromInput(text as Duration.Input), Duration.toMillis)),
    Option.filter((millis) => Number.isInteger(millis) && millis >= 0 && millis <= maxDurationMillis)
  )

/** A duration as Effect takes it, so that a test may write `"10 seconds"` or `Duration.seconds(10)`. */
const Input = Schema.declare((value): value is Duration.Input =>
  Option.isSome(Duration.fromInput(value as Duration.Input))
)

/** A duration from nothing to ten years, in whole milliseconds: `10 seconds`, or as flags have it, `10s`. */
export const DurationText = textField<Duration.Input>(
  Input,
  "a duration such as 10s or 10 seconds, up to 10 years",
  (given) => Option.map(readDurationMillis(given), Duration.millis),
  (duration) => `${Duration.toMillis(duration)} millis`
)
