/** Splits many rows into several statements. */

import { Effect } from "effect"

/** Rows per INSERT: their values stay below SQLite's 32 766 and PostgreSQL's 65 535 parameters. */
const maxRowsAtOnce = 1000

/** The rows in groups that fit into one statement, made lazily. */
export function* groupsOf<A>(rows: Iterable<A>): Generator<readonly [A, ...Array<A>]> {
  let group: Array<A> = []
  for (const row of rows) {
    group.push(row)
    if (group.length < maxRowsAtOnce) continue
    yield group as [A, ...Array<A>]
    group = []
  }
  if (group.length > 0) yield group as [A, ...Array<A>]
}

/** Runs a statement for each group. */
export const forGroups = <A, E>(
  rows: Iterable<A>,
  statement: (group: readonly [A, ...Array<A>]) => Effect.Effect<unknown, E>
): Effect.Effect<void, E> => Effect.forEach(groupsOf(rows), statement, { discard: true })

/** All groups at once. */
export const inGroups = <A>(rows: ReadonlyArray<A>): ReadonlyArray<readonly [A, ...Array<A>]> =>
  Array.from(groupsOf(rows))
