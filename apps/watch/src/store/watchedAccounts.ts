/**
 * The table of accounts that come and go while daemons run. What credentials and options mean is not known here: see `config/TableAccount.ts`.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Peers } from "./peers.ts"
import { fromSqlError } from "./StoreFailed.ts"

/** `paused`: its owner delivers what there is, and asks the service nothing. `removed`: the same, and nobody is shown it. */
export type TableAccountState = "active" | "paused" | "removed"

/** What a person states of an account. */
export interface TableAccount {
  readonly name: string
  readonly baseUrl: string
  /** How each process finds them, as JSON: never the credentials themselves. */
  readonly credentials: string
  /** As JSON. */
  readonly options: string
}

export interface TableAccountRow extends TableAccount {
  readonly state: TableAccountState
  /** Of its last change; each change of the table has the next number. */
  readonly revision: number
}

/** As many as a config may have: a cursor names them all. */
export const maxTableAccounts = 2000

export const makeWatchedAccounts = (sql: SqlClient.SqlClient, { announce }: Peers) => {
  /** Changes are made one after the other, so that whoever has seen one has seen all before it. */
  const changing = <A>(statements: (revision: number) => Effect.Effect<A, SqlError>) =>
    Effect.gen(function* () {
      yield* sql.onDialectOrElse({
        pg: () => sql`LOCK TABLE watched_account IN SHARE ROW EXCLUSIVE MODE`,
        // Its transactions are made one after the other.
        orElse: () => Effect.void
      })
      const [last] = yield* sql<{ revision: number | null }>`SELECT max(revision) AS revision FROM watched_account`
      const changed = yield* statements((last?.revision ?? 0) + 1)
      yield* announce
      return changed
    }).pipe(sql.withTransaction, Effect.mapError(fromSqlError))

  /**
   * The accounts that changed after a revision, in the order of their last changes; those that were removed among them. All of them where the
   * table does not know that revision: a standby took over without the last changes, or a backup.
   */
  const watchedAccounts = (after: number) =>
    sql<TableAccountRow>`SELECT name, base_url AS "baseUrl", credentials, options, state, revision FROM watched_account
      WHERE revision > (SELECT CASE WHEN max(revision) < ${after} THEN 0 ELSE ${after} END FROM watched_account)
      ORDER BY revision`.pipe(Effect.mapError(fromSqlError))

  /** Adds an account. One of that name is replaced where that is meant, and stays paused if it is; `null`: it is there, or the table is full. */
  const addWatchedAccount = Effect.fn("Store.addWatchedAccount")((account: TableAccount, isReplacing: boolean) =>
    changing((revision) =>
      Effect.gen(function* () {
        const [known] = yield* sql<{ state: string }>`SELECT state FROM watched_account
          WHERE name = ${account.name} AND state <> 'removed'`
        if (known !== undefined && !isReplacing) return "known" as const
        const [all] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM watched_account
          WHERE state <> 'removed'`
        if (known === undefined && all!.count >= maxTableAccounts) return "full" as const
        const { baseUrl, ...rest } = account
        const row = { ...rest, base_url: baseUrl, state: known?.state ?? "active", revision }
        yield* sql`INSERT INTO watched_account ${sql.insert(row)} ON CONFLICT (name) DO UPDATE SET
          base_url = excluded.base_url, credentials = excluded.credentials, options = excluded.options,
          state = excluded.state, revision = excluded.revision`
        return known === undefined ? ("added" as const) : ("replaced" as const)
      })
    )
  )

  /** Gives whether there is such an account. One that is removed leaves no credentials. */
  const setWatchedState = Effect.fn("Store.setWatchedState")((name: string, state: TableAccountState) =>
    changing((revision) => {
      const credentials = state === "removed" ? sql`, credentials = '{}'` : sql``
      return Effect.map(
        sql`UPDATE watched_account SET state = ${state}, revision = ${revision}${credentials}
          WHERE name = ${name} AND state <> 'removed' RETURNING name`,
        (changed) => changed.length > 0
      )
    })
  )

  /** Puts other credentials in place, unless an account was changed meanwhile; all of them at once. Gives how many were. */
  const resealWatched = Effect.fn("Store.resealWatched")(
    (accounts: ReadonlyArray<Pick<TableAccountRow, "name" | "revision" | "credentials">>) =>
      changing((first) =>
        Effect.map(
          Effect.forEach(
            accounts,
            ({ credentials, name, revision }, index) =>
              sql`UPDATE watched_account SET credentials = ${credentials}, revision = ${first + index}
                WHERE name = ${name} AND revision = ${revision} RETURNING name`
          ),
          (changed) => changed.flat().length
        )
      )
  )

  /** What these processes have in their config, as they joined the others with it. */
  const partsOf = Effect.fn("Store.partsOf")(function* (processes: ReadonlyArray<string>) {
    const members = yield* sql<{ process: string; parts: string }>`SELECT process, parts FROM member`
    const present = members.filter(({ process }) => processes.includes(process))
    return new Set(present.flatMap(({ parts }) => JSON.parse(parts) as ReadonlyArray<string>))
  }, Effect.mapError(fromSqlError))

  return { partsOf, watchedAccounts, addWatchedAccount, setWatchedState, resealWatched }
}
