/**
 * Whole numbers on a command line.
 */
import { Option } from "effect"

/** How to parse a whole number from `min` to `max`, by default any; and the expectation as the end of a sentence. */
export const wholeNumberText = (min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER) => {
  const from = min === Number.MIN_SAFE_INTEGER ? "" : ` from ${min}`
  const to = max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`
  return {
    parse: (text: string): Option.Option<number> => {
      const number = /^(?:\d+|-[1-9]\d*)$/.test(text) ? Number(text) : Number.NaN
      return number >= min && number <= max ? Option.some(number) : Option.none()
    },
    expected: `expected a whole number${from}${to}`
  }
}
