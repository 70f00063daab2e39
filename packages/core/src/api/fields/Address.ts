/**
 * Reads an address: a string, an empty value in several spellings, or an object that is documented only as "object" (interface.md §2.4,
 * A8).
 */
import { Predicate } from "effect"
import { keepUnknown } from "./RecordReader.ts"
import { type Field, unreadable } from "./Field.ts"

const keys = ["ip_address", "address", "ip"] as const

/**
 * Strings that mean that there is no address: blanks, words such as `null`, and an address that never leads to the node, in any spelling.
 * A program that connects to `0.0.0.0/8`, `127.0.0.0/8`, `::` or `::1` reaches its own machine. `169.254.0.0/16` and `fe80::/10` are its
 * local link.
 */
const none =
  /^\s*(?:[-\u2013\u2014]*|\[\s*\]|\{\s*\}|n\/?a|none|null|nil|undefined|\[?(?:(?:::ffff:)?(?:[0:.]+|(?:0|127|169\.254)\.[\d.]+)|[0:]+:0*1|::ffff:7f..:.+|fe[89ab][\da-f]:.*?)\]?(?:\/\d+)?)\s*$/i

/** The address; null if there is none (`null`, `[]`, `{}`, or such a string). */
export const address: Field<string | null> = (wire) => {
  if (wire === null) return null
  if (Predicate.isString(wire)) return none.test(wire) ? null : wire
  if (Array.isArray(wire)) return wire.length === 0 ? null : Array.isArray(wire[0]) ? unreadable : address(wire[0])
  if (!Predicate.isObject(wire)) return unreadable
  for (const key of keys) {
    const value = wire[key]
    if (value !== undefined) return Predicate.isString(value) || value === null ? address(value) : unreadable
  }
  return Object.keys(wire).length === 0 ? null : unreadable
}

/** The fields of an address object apart from the address (netmask, gateway, …); undefined if there are none. */
export const furtherNetwork = (wire: unknown): Record<string, unknown> | undefined => {
  if (!Predicate.isObject(wire)) return undefined
  const taken = keys.find((key) => wire[key] !== undefined)
  const rest: Record<string, unknown> = {}
  keepUnknown(wire, taken === undefined ? [] : [taken], rest)
  return Object.keys(rest).length === 0 ? undefined : rest
}
