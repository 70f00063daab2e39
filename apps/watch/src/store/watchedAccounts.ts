/**
 * The table of accounts that come and go while daemons run. What credentials and options mean is not known here: see `config/TableAccount.ts`.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Peers } from "./peers.ts"

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
  /**
   * The revision of a change, in the transaction that makes it: changes are made one after the other, so that whoever has seen one has
   * seen all before it.
   */
  const nextRevision = Effect.gen(function* () {
    yield* sql.onDialectOrElse({
      pg: () => sql`LOCK TABLE watched_account IN SHARE ROW EXCLUSIVE MODE`,
      // Its transactions are made one after the other.
      orElse: () => Effect.void
    })
    yield* announce
    const [last] = yield* sql<{ revision: number | null }>`SELECT max(revision) AS revision FROM watched_account`
    return (last?.revision ?? 0) + 1
  })

  /**
   * The accounts that changed after a revision, in the order of their last changes; those that were removed among them. All of them where the
   * table does not know that revision: a standby took over without the last changes, or a backup.
   */
  const watchedAccounts = (after: number) =>
    sql<TableAccountRow>`SELECT name, base_url AS "baseUrl", credentials, options, state, revision FROM watched_account
      WHERE revision > (SELECT CASE WHEN max(revision) < ${after} THEN 0 ELSE ${after} END FROM watched_account)
      ORDER BY revision`

  /** Adds an account. One of that name is replaced where that is meant, and stays paused if it is; `null`: it is there, or the table is full. */
  const addWatchedAccount = Effect.fn("Store.addWatchedAccount")(function* (
    account: TableAccount,
    isReplacing: boolean
  ) {
    const revision = yield* nextRevision
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
  }, sql.withTransaction)

  /** Gives whether there is such an account. One that is removed leaves no credentials. */
  const setWatchedState = Effect.fn("Store.setWatchedState")(function* (name: string, state: TableAccountState) {
    const credentials = state === "removed" ? sql`, credentials = '{}'` : sql``
    const changed =
      yield* sql`UPDATE watched_account SET state = ${state}, revision = ${yield* nextRevision}${credentials}
      WHERE name = ${name} AND state <> 'removed' RETURNING name`
    return changed.length > 0
  }, sql.withTransaction)

  /** Puts other credentials in place, unless an account was changed meanwhile; all of them at once. Gives how many were. */
  const resealWatched = Effect.fn("Store.resealWatched")(function* (
    accounts: ReadonlyArray<Pick<TableAccountRow, "name" | "revision" | "credentials">>
  ) {
    const first = yield* nextRevision
    const changed = yield* Effect.forEach(
      accounts,
      ({ credentials, name, revision }, index) =>
        sql`UPDATE watched_account SET credentials = ${credentials}, revision = ${first + index}
          WHERE name = ${name} AND revision = ${revision} RETURNING name`
    )
    return changed.flat().length
  }, sql.withTransaction)

  /** What these processes have in their config, as they joined the others with it. */
  const partsOf = Effect.fn("Store.partsOf")(function* (processes: ReadonlyArray<string>) {
    const members = yield* sql<{ process: string; parts: string }>`SELECT process, parts FROM member`
    const present = members.filter(({ process }) => processes.includes(process))
    return new Set(present.flatMap(({ parts }) => JSON.parse(parts) as ReadonlyArray<string>))
  })

  return { partsOf, watchedAccounts, addWatchedAccount, setWatchedState, resealWatched }
}
