/**
 * Flags that take a whole number.
 */
import { Option } from "effect"
import { Flag } from "effect/cli"

const wholeNumberFlag = (name: string, minimum: number, maximum: number): Flag.Flag<number> =>
  Flag.String(name).pipe(
    Flag.withMetavar("N"),
    Flag.filterMap(
      (text) => {
        const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
        return number >= minimum && number <= maximum ? Option.some(number) : Option.none()
      },
      () => `a whole number from ${minimum}${maximum === Number.MAX_SAFE_INTEGER ? "" : ` to ${maximum}`}`
    )
  )

/** A number of things, from 1 to `maximum`. */
export const countFlag = (name: string, maximum = Number.MAX_SAFE_INTEGER): Flag.Flag<number> =>
  wholeNumberFlag(name, 1, maximum)

/** A number the service has given to something; some of them may be 0. */
export const idFlag = (name: string): Flag.Flag<number> =>
  wholeNumberFlag(name, 0, Number.MAX_SAFE_INTEGER).pipe(Flag.withMetavar("ID"))
