/** Flags for durations and whole numbers, for programs whose command line `effect/cli` parses. */
import type { Duration } from "effect"
import { Flag } from "effect/cli"
import { type DurationBounds, durationValue } from "./duration.ts"
import { wholeNumberText } from "./wholeNumber.ts"

/** A flag for a duration. */
export const durationFlag = (name: string, bounds?: DurationBounds): Flag.Flag<Duration.Duration> => {
  const { expected, parse } = durationValue(bounds)
  return Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.filterMap(parse, () => expected)
  )
}

/** A flag for a whole number from `min` to `max`. Default: no bounds. */
export const wholeNumberFlag = (name: string, min?: number, max?: number): Flag.Flag<number> => {
  const { expected, parse } = wholeNumberText(min, max)
  return Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(parse, () => expected)
  )
}
