/**
 * Flags that take a whole number.
 */
import { Option } from "effect"
import { Flag } from "effect/cli"

/** A flag that takes a whole number from `min` to `max`, by default any. */
export const wholeNumberFlag = (
  name: string,
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER
): Flag.Flag<number> => {
  const from = min === Number.MIN_SAFE_INTEGER ? "" : ` from ${min}`
  const to = max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`
  return Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(
      (text) => {
        const number = /^(?:\d+|-[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN
        return number >= min && number <= max ? Option.some(number) : Option.none()
      },
      () => `expected a whole number${from}${to}`
    )
  )
}
