/**
 * How the values of columns are read: PostgreSQL gives a 64-bit integer as a bigint, SQLite as a number.
 */

/** As it comes out of either database. */
export type StoredInteger = number | bigint

export const toNumber = (value: StoredInteger): number => Number(value)

export const toNumberOrNull = (value: StoredInteger | null): number | null => (value === null ? null : Number(value))

/** Rows in one INSERT: their values stay below SQLite's 32 766 and PostgreSQL's 65 535 parameters. */
const maxRowsAtOnce = 1000

/** The rows in groups that one statement takes. */
export const inGroups = <A>(rows: ReadonlyArray<A>): ReadonlyArray<readonly [A, ...Array<A>]> =>
  Array.from({ length: Math.ceil(rows.length / maxRowsAtOnce) }, (_, index) =>
    rows.slice(index * maxRowsAtOnce, (index + 1) * maxRowsAtOnce)
  ).filter((group): group is [A, ...Array<A>] => group.length > 0)
