/**
 * Reads the fields of one wire record and keeps account of what it could not read, so that nothing the service sent is
 * lost: what is unknown or unreadable ends up in `extra` under its wire name.
 */
import { type Field, unreadable } from "./fields/Field.ts"

/** Why a record as a whole cannot be used: a field without which it has no identity is missing or unreadable. */
export class RecordFault {
  /** Where, relative to the record, such as `id`; empty for the record itself. */
  readonly path: string
  readonly expected: string
  readonly got: unknown
  constructor(path: string, expected: string, got: unknown) {
    this.path = path
    this.expected = expected
    this.got = got
  }
}

/** Reads a record, or says why it cannot. A plain union, because lists are read record by record, and often. */
export type ReadRecord<A> = (wire: unknown) => A | RecordFault

/** Keeps a raw field. Defines rather than assigns: `__proto__` is a field name like any other. */
const keep = (extra: Record<string, unknown>, name: string, value: unknown) => {
  Object.defineProperty(extra, name, { value, enumerable: true, configurable: true, writable: true })
}

/** What `field` makes of one wire field; `fallback` when it is absent, null or unreadable. */
export const read = <A, B>(
  record: Record<string, unknown>,
  name: string,
  field: Field<A>,
  fallback: B,
  extra: Record<string, unknown>
): A | B => {
  const wire = record[name]
  if (wire === undefined || wire === null) return fallback
  const value = field(wire)
  if (value !== unreadable) return value
  keep(extra, name, wire)
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
