/**
 * Flags that take a whole number.
 */
import { Option } from "effect"
import { Flag } from "effect/cli"

/** A flag that takes a whole number from `min` to `max`. */
export const wholeNumberFlag = (name: string, min: number, max = Number.MAX_SAFE_INTEGER): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(
      (text) => {
        const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
        return number >= min && number <= max ? Option.some(number) : Option.none()
      },
      () => `expected a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`
    )
  )
