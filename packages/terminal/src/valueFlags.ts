/**
 * Flags with a value, for programs whose command line is read by `effect/cli`: spans of time and whole numbers.
 */
import type { Duration } from "effect"
import { Flag } from "effect/cli"
import { type DurationBounds, durationValue } from "./duration.ts"
import { wholeNumberText } from "./wholeNumber.ts"

/** A flag that takes a span of time. */
export const durationFlag = (name: string, bounds?: DurationBounds): Flag.Flag<Duration.Duration> => {
  const { expected, parse } = durationValue(bounds)
  return Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.filterMap(parse, () => expected)
  )
}

/** A flag that takes a whole number from `min` to `max`, by default any. */
export const wholeNumberFlag = (name: string, min?: number, max?: number): Flag.Flag<number> => {
  const { expected, parse } = wholeNumberText(min, max)
  return Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(parse, () => expected)
  )
}
