/**
 * Reads a disk size: `"100 GB"`, `"1 TB"`, or a number of gigabytes on the wire; GB in the domain (A8). Disks use powers of ten.
 */
import { Predicate } from "effect"
import { cached, type Field, numeric, unreadable } from "./Field.ts"

const gbPerUnit: Record<string, number> = { MB: 0.001, GB: 1, GIB: 1.073741824, TB: 1000, TIB: 1099.511627776 }
const shape = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i

/** Rejects sizes that exceed the safe integers. */
const bounded = (gigabytes: number) => (gigabytes <= Number.MAX_SAFE_INTEGER ? gigabytes : unreadable)

/** Disk in GB. A bare number is gigabytes. */
export const diskGb: Field<number> = cached((wire) => {
  const match = Predicate.isString(wire) ? shape.exec(wire) : null
  if (match === null) {
    const gigabytes = numeric(wire)
    return gigabytes === unreadable || gigabytes < 0 ? unreadable : bounded(gigabytes)
  }
  const unit = gbPerUnit[match[2]!.toUpperCase()]
  return unit === undefined ? unreadable : bounded(Number(match[1]) * unit)
})
