/**
 * Makes the instants in replies. It is fast, because a list has one per node.
 */
import { DateTime } from "effect"

/** The common prototype of `DateTime.Utc` values: tag, equality, printing. */
const prototype: object = Object.getPrototypeOf(DateTime.fromDateUnsafe(new Date(0)))

/**
 * Does the same as `DateTime.makeUnsafe`, with one difference. Effect defines a non-enumerable property for the date's
 * parts on each value, which takes as long as reading the rest of a node. Here the first `toPartsUtc` adds an
 * enumerable property instead. Two equal values may therefore differ in a comparison key by key, but not with `Equal`
 * (decision 0002).
 */
export const instant = (epochMilliseconds: number): DateTime.Utc => {
  const self = Object.create(prototype)
  self.epochMilliseconds = epochMilliseconds
  return self
}
