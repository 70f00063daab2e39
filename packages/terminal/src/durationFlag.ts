/**
 * Flags that take a span of time.
 */
import { Duration, Option } from "effect"
import { Flag } from "effect/cli"
import { durationText, parseDurationMillis } from "./duration.ts"

/** The shortest and the longest span that a flag takes. */
export interface DurationBounds {
  /** Default 1. */
  readonly minMillis?: number
  /** Default: none. */
  readonly maxMillis?: number
}

/** A flag that takes a span of time. */
export const durationFlag = (
  name: string,
  { maxMillis = Number.POSITIVE_INFINITY, minMillis = 1 }: DurationBounds = {}
): Flag.Flag<Duration.Duration> => {
  const bounds = Number.isFinite(maxMillis) ? ` from ${durationText(minMillis)} to ${durationText(maxMillis)}` : ""
  return Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.filterMap(
      (text) =>
        parseDurationMillis(text).pipe(
          Option.filter((millis) => millis >= minMillis && millis <= maxMillis),
          Option.map(Duration.millis)
        ),
      () => `expected a duration${bounds}, such as 90s, 5m or 1h30m`
    )
  )
}
