/**
 * Makes the instants of replies. A list has one per node.
 */
import { DateTime } from "effect"

/** What every `DateTime.Utc` inherits: its tag, its equality, how it is printed. */
const prototype: object = Object.getPrototypeOf(DateTime.fromDateUnsafe(new Date(0)))

/**
 * The `DateTime.Utc` that `DateTime.makeUnsafe` makes, with one difference: Effect gives each of its own a non-enumerable
 * property for the parts of its date, which takes as long as reading the rest of a node. Here the first `toPartsUtc` adds the
 * property, and it is enumerable: a comparison by keys instead of by `Equal` sees it
 * (decision 0002).
 */
export const instant = (epochMilliseconds: number): DateTime.Utc => {
  const self = Object.create(prototype)
  self.epochMilliseconds = epochMilliseconds
  return self
}
