/**
 * An address: a string, nothing in several spellings, or an object that is documented only as "object" (interface.md §2.4,
 * A8).
 */
import { Predicate } from "effect"
import { keepUnknown } from "./RecordReader.ts"
import { type Field, unreadable } from "./Field.ts"

const keys = ["ip_address", "address", "ip"] as const

/** The address; null when there is none (`null`, `""`, `"[]"`, `[]`, `{}`). */
export const address: Field<string | null> = (wire) => {
  if (wire === null || wire === "" || wire === "[]") return null
  if (Predicate.isString(wire)) return wire
  if (Array.isArray(wire)) return wire.length === 0 ? null : Array.isArray(wire[0]) ? unreadable : address(wire[0])
  if (!Predicate.isObject(wire)) return unreadable
  for (const key of keys) {
    const value = wire[key]
    if (value !== undefined) return Predicate.isString(value) || value === null ? address(value) : unreadable
  }
  return Object.keys(wire).length === 0 ? null : unreadable
}

/** What an address object has besides the address (netmask, gateway, …); undefined when nothing. */
export const furtherNetwork = (wire: unknown): Record<string, unknown> | undefined => {
  if (!Predicate.isObject(wire)) return undefined
  const taken = keys.find((key) => wire[key] !== undefined)
  const rest: Record<string, unknown> = {}
  keepUnknown(wire, taken === undefined ? [] : [taken], rest)
  return Object.keys(rest).length === 0 ? undefined : rest
}
