/**
 * Reads the fields of one wire record. Unknown and unreadable fields go into `extra` under their wire names, so that nothing from the
 * service is lost.
 */
import { type Field, unreadable } from "./Field.ts"

/** Why a whole record cannot be used: a field that identifies it is missing or unreadable. */
export class RecordFault {
  /** The path within the record, such as `id`; empty for the record itself. */
  readonly path: string
  readonly expected: string
  readonly got: unknown
  constructor(path: string, expected: string, got: unknown) {
    this.path = path
    this.expected = expected
    this.got = got
  }
}

/** Reads a record, or returns what is wrong with it. The result is a plain union for speed, because lists contain many records. */
export type ReadRecord<A> = (wire: unknown) => A | RecordFault

/** Stores a raw field. Uses a definition, so that names such as `__proto__` become ordinary fields. */
const keep = (extra: Record<string, unknown>, name: string, value: unknown) => {
  if (name in extra) {
    Object.defineProperty(extra, name, { value, enumerable: true, configurable: true, writable: true })
  } else {
    extra[name] = value
  }
}

/**
 * Reads `wire`, the record's value under `name`, with `field`. Returns `fallback` if the value is absent, null or
 * unreadable. The caller looks the value up, because JavaScript engines cannot optimize one property access that serves
 * all names.
 */
export const read = <A, B>(
  wire: unknown,
  name: string,
  field: Field<A>,
  fallback: B,
  extra: Record<string, unknown>
): A | B => {
  if (wire === undefined || wire === null) return fallback
  const value = field(wire)
  if (value !== unreadable) return value
  keep(extra, name, wire)
  return fallback
}

/**
 * Puts every field that is not `known` into `extra`. Fastest when the record has its fields in the order of `known`, with or
 * without gaps.
 */
export const keepUnknown = (
  record: Record<string, unknown>,
  known: ReadonlyArray<string>,
  extra: Record<string, unknown>
) => {
  let next = 0
  for (const name in record) {
    const at = name === known[next] ? next : known.indexOf(name)
    if (at === -1) keep(extra, name, record[name])
    else next = at + 1
  }
}
