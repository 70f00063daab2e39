/**
 * Makes the instants of replies, of which a list has one a node.
 */
import { DateTime } from "effect"

/** What every `DateTime.Utc` inherits: its tag, its equality, how it is printed. */
const prototype: object = Object.getPrototypeOf(DateTime.makeUnsafe(0))

/**
 * The `DateTime.Utc` that `DateTime.makeUnsafe` makes, but for one thing: Effect gives each of its own a hidden place for
 * the parts of its date, and that alone takes as long as reading the rest of a node. Here the place comes with the first
 * `toPartsUtc`, and is then not hidden: a comparison that goes by keys instead of asking `Equal` sees it
 * (docs/decisions/0002-fields-are-read-one-by-one.md).
 */
export const instant = (epochMilliseconds: number): DateTime.Utc => {
  const self = Object.create(prototype)
  self.epochMilliseconds = epochMilliseconds
  return self
}
