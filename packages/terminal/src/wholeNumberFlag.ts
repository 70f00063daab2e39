/**
 * Flags that take a whole number.
 */
import { Flag } from "effect/cli"
import { wholeNumberText } from "./wholeNumber.ts"

/** A flag that takes a whole number from `min` to `max`, by default any. */
export const wholeNumberFlag = (name: string, min?: number, max?: number): Flag.Flag<number> => {
  const { expected, parse } = wholeNumberText(min, max)
  return Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(parse, () => expected)
  )
}
