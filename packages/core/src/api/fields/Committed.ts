/**
 * Reads whether a node is committed. The shape of `committed_info` is not documented, and services write "none" in several ways.
 */
import { Predicate } from "effect"
import { type Field, flag, unreadable } from "./Field.ts"

const isBlank = (wire: unknown): boolean =>
  wire === null || (Predicate.isString(wire) && /^\s*(?:none|null)?\s*$/i.test(wire))

/** If the object has its own flag `is_committed`, the flag counts. Otherwise an object with any value is a commitment. */
const ofOne: Field<boolean> = (wire) => {
  if (isBlank(wire)) return false
  if (!Predicate.isObject(wire)) return flag(wire)
  const own = flag(wire["is_committed"])
  return own === unreadable ? !Object.values(wire).every(isBlank) : own
}

const committedInfo: Field<boolean> = (wire) => {
  if (!Array.isArray(wire)) return ofOne(wire)
  const each = wire.map(ofOne)
  if (each.includes(true)) return true
  return each.includes(unreadable) ? unreadable : false
}

/**
 * Whether the node is committed, according to both fields of a record; null if neither is readable or they contradict
 * each other.
 */
export const committedOf = ({
  committed_info: info,
  is_committed: own
}: Readonly<Record<string, unknown>>): boolean | null => {
  const stated = info === undefined ? unreadable : committedInfo(info)
  const flagged = flag(own)
  if (stated === unreadable) return flagged === unreadable ? null : flagged
  return flagged === unreadable || flagged === stated ? stated : null
}
