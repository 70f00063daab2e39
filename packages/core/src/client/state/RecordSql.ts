/**
 * The records and locks of an account in a database, for several machines.
 */
import { Effect, Option, Random } from "effect"
import { recordsIn } from "./StateTables.ts"
import { isOfNodes, keyAt, type RecordStore, type StateLock, type StateRecord } from "./RecordStore.ts"
import type { HeldLock, StateAccount, StateDatabase } from "./StateSql.ts"

/** Keeps these locks apart from the locks of creates. */
const lockPrefix = "record/"

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The records of an account. */
export const makeRecords = (database: StateDatabase, account: StateAccount): RecordStore => {
  const { name, now, run, schema, sql, tables } = database
  const { records } = tables
  const own = database.accountOf(account)
  const ofAllKeys = database.accountOf({ ...account, id: account.nodes, key: undefined })
  /** The rows that have the records or the locks of this name. */
  const rowsOf = (name: string) => (isOfNodes(name) ? ofAllKeys : own)
  const held = new WeakMap<StateLock, HeldLock>()
  const rowOf = (lock: StateLock | undefined) => {
    const row = lock && held.get(lock)
    if (lock !== undefined && row === undefined) throw new Error(`${lock.name} is the lock of another store`)
    return row
  }
  const drawn = Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (number) => number.toString(36))
  return {
    placeOf: (kind, key) => Effect.succeed(`the record ${kind}/${key} of ${name}`),
    statementOf: (kind, key) =>
      Effect.map(
        rowsOf(kind).root,
        (root) =>
          `DELETE FROM ${recordsIn(schema)} WHERE account = ${literal(root)} AND kind = ${literal(kind)} AND key = ${literal(key)};`
      ),
    get: (kind, key) =>
      Effect.flatMap(rowsOf(kind).root, (root) =>
        Effect.map(
          run(sql<{ readonly value: string }>`SELECT value FROM ${records}
            WHERE account = ${root} AND kind = ${kind} AND key = ${key}`),
          ([row]) => Option.fromUndefinedOr(row?.value)
        )
      ),
    list: (kind, after = "") =>
      Effect.flatMap(rowsOf(kind).root, (root) =>
        run(sql<StateRecord>`SELECT key, value FROM ${records}
          WHERE account = ${root} AND kind = ${kind} AND key > ${after} ORDER BY key`)
      ),
    elsewhere: (kind) =>
      Effect.flatMap(rowsOf(kind).root, (root) =>
        run(sql<StateRecord>`SELECT key, value FROM ${records} WHERE account <> ${root} AND kind = ${kind}`)
      ),
    put: (kind, key, value, lock) =>
      rowsOf(kind).write(
        rowOf(lock),
        (root) => sql`w AS (INSERT INTO ${records} (account, kind, key, value)
          SELECT ${root}::text, ${kind}::text, ${key}::text, ${value}::text FROM ok
          ON CONFLICT (account, kind, key) DO UPDATE SET value = excluded.value)`
      ),
    remove: (kind, key, lock) =>
      rowsOf(kind).write(
        rowOf(lock),
        (root) => sql`w AS (DELETE FROM ${records} WHERE account = ${root} AND kind = ${kind} AND key = ${key}
          AND EXISTS (SELECT 1 FROM ok))`
      ),
    // The key is drawn before the record is sent, so that a repeated statement adds no second record.
    append: Effect.fnUntraced(function* (kind, value, keep) {
      const [row] = yield* run(sql<{ readonly at: number }>`SELECT ${now} AS at`)
      const key = `${keyAt(row!.at)}-${yield* drawn}`
      yield* rowsOf(kind).write(
        undefined,
        (root) => sql`added AS (INSERT INTO ${records} (account, kind, key, value)
          SELECT ${root}::text, ${kind}::text, ${key}::text, ${value}::text FROM ok ON CONFLICT DO NOTHING),
          old AS (DELETE FROM ${records} WHERE account = ${root} AND kind = ${kind} AND key IN
          (SELECT key FROM ${records} WHERE account = ${root} AND kind = ${kind} ORDER BY key DESC OFFSET ${keep - 1}))`
      )
      return key
    }),
    withLock: (name) => (use) =>
      rowsOf(name).withLock(`${lockPrefix}${name}`)((row) => {
        const lock: StateLock = { name, confirm: rowsOf(name).confirm(row) }
        held.set(lock, row)
        return use(lock)
      })
  }
}
