/**
 * Reads the fields of one wire record and keeps account of what it could not read, so that nothing the service sent is
 * lost: what is unknown or unreadable ends up in `extra` under its wire name.
 */
import { type Field, unreadable } from "./fields/Field.ts"

/** Why a record as a whole cannot be used: a field without which it has no identity is missing or unreadable. */
export interface RecordFault {
  /** Where, relative to the record, such as `id`. */
  readonly path: string
  readonly expected: string
  readonly got: unknown
}

/** Keeps a raw field. Defines rather than assigns: `__proto__` is a field name like any other. */
const keep = (extra: Record<string, unknown>, name: string, value: unknown) => {
  Object.defineProperty(extra, name, { value, enumerable: true, configurable: true, writable: true })
}

/** The first of some wire names that a record has, with what `field` makes of it; `fallback` when it has none. */
export const read = <A, B>(
  record: Record<string, unknown>,
  names: ReadonlyArray<string>,
  field: Field<A>,
  fallback: B,
  extra: Record<string, unknown>
): A | B => {
  for (const name of names) {
    const wire = record[name]
    if (wire === undefined || wire === null) continue
    const value = field(wire)
    if (value !== unreadable) return value
    keep(extra, name, wire)
  }
  return fallback
}

/** Puts every field that is not `known` into `extra`. */
export const keepUnknown = (
  record: Record<string, unknown>,
  known: ReadonlySet<string>,
  extra: Record<string, unknown>
) => {
  for (const name in record) if (!known.has(name)) keep(extra, name, record[name])
}
