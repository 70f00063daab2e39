/**
 * Flags that take a span of time.
 */
import type { Duration } from "effect"
import { Flag } from "effect/cli"
import { type DurationBounds, durationValue } from "./duration.ts"

/** A flag that takes a span of time. */
export const durationFlag = (name: string, bounds?: DurationBounds): Flag.Flag<Duration.Duration> => {
  const { expected, parse } = durationValue(bounds)
  return Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.filterMap(parse, () => expected)
  )
}
