/**
 * The table of accounts that people add and remove while daemons run. `config/TableAccount.ts` interprets the credentials and
 * options.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Peers } from "./peers.ts"

/**
 * `paused`: the owner of the account still delivers events, but sends no requests to the service. `removed`: like `paused`, and
 * the account is hidden.
 */
export type TableAccountState = "active" | "paused" | "removed"

/** A person's settings for an account. */
export interface TableAccount {
  readonly name: string
  readonly baseUrl: string
  /** How a process finds the credentials, as JSON. Never the credentials in plain text. */
  readonly credentials: string
  /** The options of the account, as JSON. */
  readonly options: string
}

export interface TableAccountRow extends TableAccount {
  readonly state: TableAccountState
  /** The number of its last change; each change of the table gets the next one. */
  readonly revision: number
}

/** Maximum number of accounts in the table. A config may have as many. */
export const maxTableAccounts = 10_000

export const makeWatchedAccounts = (sql: SqlClient.SqlClient, { announce }: Peers) => {
  /**
   * The revision for a change; called in the transaction of the change. Changes are made one after the other, so a process that has seen
   * a change has seen all earlier ones.
   */
  const nextRevision = Effect.gen(function* () {
    yield* sql.onDialectOrElse({
      pg: () => sql`LOCK TABLE watched_account IN SHARE ROW EXCLUSIVE MODE`,
      // SQLite runs transactions one after the other.
      orElse: () => Effect.void
    })
    yield* announce
    const [last] = yield* sql<{ revision: number | null }>`SELECT max(revision) AS revision FROM watched_account`
    return (last?.revision ?? 0) + 1
  })

  /**
   * The accounts that changed after a revision, including removed ones, in the order of their last changes. If the table does
   * not know that revision, returns all accounts: a standby without the last changes may have taken over, or somebody has
   * restored a backup.
   */
  const watchedAccounts = (after: number) =>
    sql<TableAccountRow>`SELECT name, base_url AS "baseUrl", credentials, options, state, revision FROM watched_account
      WHERE revision > (SELECT CASE WHEN max(revision) < ${after} THEN 0 ELSE ${after} END FROM watched_account)
      ORDER BY revision`

  /**
   * Adds an account. If requested, it replaces an account of that name; a paused account then stays paused. Returns null if the
   * name exists, or if the table is full.
   */
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

  /** Sets the state of an account; returns whether the account exists. A removed account keeps no credentials. */
  const setWatchedState = Effect.fn("Store.setWatchedState")(function* (name: string, state: TableAccountState) {
    const credentials = state === "removed" ? sql`, credentials = '{}'` : sql``
    const changed =
      yield* sql`UPDATE watched_account SET state = ${state}, revision = ${yield* nextRevision}${credentials}
      WHERE name = ${name} AND state <> 'removed' RETURNING name`
    return changed.length > 0
  }, sql.withTransaction)

  /**
   * Replaces the credentials of the given accounts in one transaction, except accounts that were changed in between. Returns
   * how many were replaced.
   */
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

  /** The accounts and sinks that the given processes have registered from their configs. */
  const partsOf = Effect.fn("Store.partsOf")(function* (processes: ReadonlyArray<string>) {
    const members = yield* sql<{ process: string; parts: string }>`SELECT process, parts FROM member`
    const present = members.filter(({ process }) => processes.includes(process))
    return new Set(present.flatMap(({ parts }) => JSON.parse(parts) as ReadonlyArray<string>))
  })

  return { partsOf, watchedAccounts, addWatchedAccount, setWatchedState, resealWatched }
}
