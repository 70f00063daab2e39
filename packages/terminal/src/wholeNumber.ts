/**
 * Whole numbers on a command line.
 */
import { Option } from "effect"

/**
 * A parser of whole numbers from `min` to `max` (default: no bounds), and the words that end its error message:
 * "expected a whole number …".
 */
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
