/**
 * A flag that takes a whole number from 1.
 */
import { Flag } from "effect/cli"

/** The flag; `maximum` is the largest number it takes. */
export const countFlag = (name: string, maximum = Number.MAX_SAFE_INTEGER): Flag.Flag<number> =>
  Flag.Int(name).pipe(
    Flag.withMetavar("N"),
    Flag.filter(
      (value) => value >= 1 && value <= maximum,
      () => (maximum === Number.MAX_SAFE_INTEGER ? "a whole number from 1" : `a whole number from 1 to ${maximum}`)
    )
  )
