/**
 * Reads memory: `"16.00 GB"`, `"2048 MB"`, or a number of megabytes on the wire; MiB in the domain (A8). The service's GB and MB of memory
 * are powers of two.
 */
import { Predicate } from "effect"
import { cached, type Field, numeric, unreadable } from "./Field.ts"

const mibPerUnit: Record<string, number> = { MB: 1, MIB: 1, GB: 1024, GIB: 1024, TB: 1_048_576, TIB: 1_048_576 }
const shape = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i

/** Rounds to whole mebibytes; rejects sizes that exceed the safe integers. */
const whole = (mebibytes: number) => {
  const size = Math.round(mebibytes)
  return Number.isSafeInteger(size) && size >= 0 ? size : unreadable
}

/** Memory in MiB, rounded to a whole number. A bare number is megabytes. */
export const memoryMib: Field<number> = cached((wire) => {
  const match = Predicate.isString(wire) ? shape.exec(wire) : null
  if (match === null) {
    const megabytes = numeric(wire)
    return megabytes === unreadable || megabytes < 0 ? unreadable : whole(megabytes)
  }
  const unit = mibPerUnit[match[2]!.toUpperCase()]
  return unit === undefined ? unreadable : whole(Number(match[1]) * unit)
})

/** Memory in image records: a string of GB with two decimals and no unit (interface.md §2.6). */
export const memoryMibFromGb: Field<number> = (wire) => {
  const gigabytes = numeric(wire)
  return gigabytes === unreadable || gigabytes < 0 ? memoryMib(wire) : whole(gigabytes * 1024)
}
