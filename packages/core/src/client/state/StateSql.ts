/**
 * The database in which several machines share state: its statements, the lease of this process, locks, and accounts.
 * All times are the database's, so the clocks of the machines do not matter.
 *
 * A process has one lease, which it renews while it runs. A lock is a row with its owner and a fence, a number that is
 * used only once. Another process may take over a lock whose owner no longer has a lease. Each write is one statement
 * that also checks the fence in the lock's row and locks that row while it writes. So a suspended process writes
 * nothing once another has taken over its lock, however late its statement arrives, and any write may be repeated after
 * a connection was cut.
 */
import { Deferred, Effect, Predicate, Random, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { parseJson } from "../../api/parseJson.ts"
import { isRunning, self, type Self } from "../creation/KeyLock.ts"
import { sleepInBackground } from "../time/Background.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import { StateFailed } from "./RecordStore.ts"
import { tablesIn } from "./StateTables.ts"

/** Maximum time for a statement, with its repetitions. */
const maxAnswerMillis = 10_000

/** A statement that failed because of a lost connection is repeated for at most this long. */
const maxRepeatMillis = 3000

/** The pause before a statement is repeated or a lock is tried again. */
const pauseMillis = 200

/** A process that has not renewed its lease for this long counts as ended. */
const defaultLeaseMillis = 30_000

/** Options of a state in a database. All may be left out. */
export interface StateSqlOptions {
  /** The schema of the tables. Default: `berth`. */
  readonly schema?: string | undefined
  /** The database's name in messages, which must not contain a password. Default: `the database`. */
  readonly name?: string | undefined
  /** How long a process that ended without notice keeps its locks, in milliseconds. Default: 30 000. */
  readonly leaseMillis?: number | undefined
}

/** Identifies an account. */
export interface StateAccount {
  /** Names the account: a hash. */
  readonly id: string
  /** The hash of the API key if the account has a name. Rows under the key belong to the account. */
  readonly key: string | undefined
  /** Identifies service, project and location without the key. Records about nodes are kept under it. */
  readonly nodes: string
}

/** A lock that this process holds: the fields of its row. */
export interface HeldLock {
  readonly root: string
  readonly name: string
  readonly owner: string
  readonly fence: number
}

/** The result of a write that names a lock and an account. */
interface Guarded {
  /** Whether the account still has this id; otherwise it was merged into another. */
  readonly here: number
  /** Whether the lock is still held. */
  readonly held: number
}

/** What is missing or forbidden, by the database's error code. */
const remedies: Readonly<Record<string, readonly [detail: string, hint: string]>> = {
  "42P01": ["its berth tables are missing", "Run: berth state migrate"],
  "42703": ["its berth tables are of another version", "Run: berth state migrate"],
  "3F000": ["its berth schema is missing", "Run: berth state migrate"],
  "42501": [
    "the role may not use its tables",
    "Run this as a role that may create tables, and give the rights that it prints to this role: berth state migrate"
  ]
}

const unreachableHint =
  "Nothing was sent. Check the address and the network, and run it again; reads work without the database."

/** Turns a failure of the database into a failure of the state. */
export const failedIn =
  (name: string) =>
  ({ message, reason }: Pick<SqlError, "message" | "reason">): StateFailed => {
    const { cause } = reason
    const code = Predicate.isObject(cause) && Predicate.isString(cause["code"]) ? cause["code"] : ""
    const said = (cause instanceof Error && cause.message) || message
    const [detail, hint] = remedies[code] ?? [said.replace(/\.$/, ""), unreachableHint]
    return new StateFailed({ detail: `${name}: ${detail}`, code: null, path: name, hint, isLockLost: false })
  }

const lostHint = "Run it again: it continues where the other process stops."

/** Works with the rows of one account. */
export interface AccountRows {
  /** The id under which the rows of the account are kept. */
  readonly root: Effect.Effect<string, StateFailed>
  /**
   * Runs a write that is composed of these parts of a statement. The parts must select from `ok`, a table that has a row only if the
   * account still has this id and the lock is held. Fails if the lock was lost.
   */
  readonly write: (lock: HeldLock | undefined, parts: (root: string) => Fragment) => Effect.Effect<void, StateFailed>
  /** Fails if the lock is no longer held; otherwise renews the lease. */
  readonly confirm: (lock: HeldLock) => Effect.Effect<void, StateFailed>
  /** Runs `use` while no other process holds the lock. */
  readonly withLock: (
    name: string
  ) => <A, E, R>(use: (lock: HeldLock) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | StateFailed, R>
}

/** The database, as one client uses it. */
export interface StateDatabase {
  readonly sql: SqlClient.SqlClient
  readonly name: string
  readonly schema: string
  /** The id of this process. */
  readonly process: string
  readonly tables: ReturnType<typeof tablesIn>
  /** The present time on the database's clock in milliseconds, as a part of a statement. */
  readonly now: Fragment
  /** The id of the present transaction, in the form of `xmin`. */
  readonly tx: Fragment
  /** Runs a statement that may be repeated, within bounds. */
  readonly run: <A>(statement: Effect.Effect<A, SqlError>) => Effect.Effect<A, StateFailed>
  /** Ensures that this process has a lease. */
  readonly leased: Effect.Effect<void, StateFailed>
  /**
   * Registers an effect that writes rows again. It runs if the database was restored from an older backup and no longer
   * knows this process.
   */
  readonly onForgotten: (again: Effect.Effect<void, StateFailed>) => void
  readonly accountOf: (account: StateAccount) => AccountRows
}

/** Opens the state in a database. No statement runs before the first use. The lease ends with the scope. */
export const open = Effect.fnUntraced(function* ({
  leaseMillis = defaultLeaseMillis,
  name = "the database",
  schema = "berth"
}: StateSqlOptions = {}): Effect.fn.Return<StateDatabase, never, SqlClient.SqlClient | Scope.Scope> {
  const sql = yield* SqlClient.SqlClient
  const tables = tablesIn(sql, schema)
  const { accounts, intents, locks, processes, records, strangers } = tables
  const me = `${globalThis.process?.pid ?? 0}-${(yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)}`
  const now = sql.literal("extract(epoch FROM clock_timestamp())::double precision * 1000")
  const tx = sql.literal("(pg_current_xact_id()::text::numeric % 4294967296)::text")
  const failed = failedIn(name)
  const lost = (what: string) =>
    new StateFailed({
      detail: `${name}: another process took over the lock of ${what} while this one stood still`,
      code: null,
      path: name,
      hint: lostHint,
      isLockLost: true
    })

  /** Bounds the wait for an answer, even if the caller cannot be interrupted. */
  const bounded = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, StateFailed> =>
    Effect.suspend(() => {
      const answer = Deferred.makeUnsafe<A, StateFailed>()
      const silent = new StateFailed({
        detail: `${name}: no answer within ${maxAnswerMillis / 1000} s`,
        code: null,
        path: name,
        hint: unreachableHint,
        isLockLost: false
      })
      return Effect.gen(function* () {
        const asking = yield* Effect.mapError(statement, failed).pipe(
          Deferred.into(answer),
          Effect.interruptible,
          Effect.withTracerEnabled(false),
          Effect.forkDetach({ startImmediately: true })
        )
        const bound = yield* sleepInBackground(maxAnswerMillis).pipe(
          Effect.andThen(Deferred.fail(answer, silent)),
          Effect.interruptible,
          Effect.forkDetach
        )
        return yield* Effect.ensuring(
          Deferred.await(answer),
          Effect.sync(() => [asking, bound].forEach((fiber) => fiber.interruptUnsafe()))
        )
      })
    })

  /** Whether a statement was repeated in vain. Until one succeeds, all others are tried once, so that a call fails soon. */
  let isAway = false
  const run = <A>(statement: Effect.Effect<A, SqlError>): Effect.Effect<A, StateFailed> =>
    bounded(
      Effect.gen(function* () {
        const since = yield* monotonicMillis
        while (true) {
          const result = yield* Effect.result(statement)
          if (result._tag === "Success") {
            isAway = false
            return result.success
          }
          const { reason } = result.failure
          if (!reason.isRetryable) return yield* result.failure
          if (isAway || (yield* monotonicMillis) - since > maxRepeatMillis) {
            isAway = true
            return yield* result.failure
          }
          yield* Effect.sleep(pauseMillis)
        }
      })
    )

  const selfText = JSON.stringify(yield* self)
  const forgotten: Array<Effect.Effect<void, StateFailed>> = []
  let isLeased = false

  const lease = sql`INSERT INTO ${processes} (id, self, lease_until) VALUES (${me}, ${selfText}, ${now} + ${leaseMillis})
    ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until`
  const renew = Effect.gen(function* () {
    const renewed = yield* run(
      sql`UPDATE ${processes} SET lease_until = ${now} + ${leaseMillis} WHERE id = ${me} RETURNING 1`
    )
    if (renewed.length > 0) return
    yield* run(lease)
    yield* Effect.forEach(forgotten, (again) => Effect.ignore(again))
  })
  const leased = Effect.gen(function* () {
    if (isLeased) return
    yield* run(lease)
    isLeased = true
    // The rows of processes that ended a day ago are useless.
    yield* Effect.forkDetach(
      Effect.ignore(run(sql`DELETE FROM ${processes} WHERE lease_until < ${now} - 86400000::double precision`))
    )
  })
  yield* Effect.forkScoped(
    Effect.forever(
      Effect.andThen(
        sleepInBackground(leaseMillis / 4),
        Effect.suspend(() => (isLeased ? Effect.ignore(renew) : Effect.void))
      )
    )
  )
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => (isLeased ? Effect.ignore(run(sql`DELETE FROM ${processes} WHERE id = ${me}`)) : Effect.void))
  )

  /** Whether a process has ended, if it is on this machine. Only the lease shows this for a process on another machine. */
  const hasEnded = (text: string) => Effect.map(isRunning(parseJson(text) as Self), (running) => running === false)

  /** Moves the rows of the key to the account. Both account rows are locked, so no write is under way in either. */
  const join = (from: string, into: string) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const both = yield* sql<{ readonly id: string; readonly root: string }>`SELECT id, root FROM ${accounts}
          WHERE id = ${from} OR id = ${into} ORDER BY id FOR UPDATE`
        if (both.length !== 2 || both.some(({ id, root }) => id !== root)) return
        yield* sql`UPDATE ${accounts} SET root = ${into}, tx = ${tx} WHERE root = ${from}`
        yield* sql`UPDATE ${accounts} AS a SET newest = greatest(a.newest, b.newest), seen = greatest(a.seen, b.seen),
          restored_at = greatest(a.restored_at, b.restored_at), tx = ${tx}
          FROM ${accounts} AS b WHERE a.id = ${into} AND b.id = ${from}`
        yield* sql`DELETE FROM ${locks} WHERE account = ${from}`
        // If both have an intent for a key, the account's intent stays. The other intent gets a new key, because its
        // node needs an owner.
        yield* sql`UPDATE ${intents} AS i SET account = ${into}, key = CASE WHEN EXISTS
          (SELECT 1 FROM ${intents} AS o WHERE o.account = ${into} AND o.key = i.key)
          THEN '_' || i.key || '.' || ${from}::text ELSE i.key END WHERE account = ${from}`
        yield* sql`INSERT INTO ${strangers} (account, node, name, spelling)
          SELECT ${into}::text, node, name, spelling FROM ${strangers} WHERE account = ${from} ON CONFLICT DO NOTHING`
        yield* sql`DELETE FROM ${strangers} WHERE account = ${from}`
        yield* sql`INSERT INTO ${records} (account, kind, key, value)
          SELECT ${into}::text, kind, key, value FROM ${records} WHERE account = ${from} ON CONFLICT DO NOTHING`
        yield* sql`DELETE FROM ${records} WHERE account = ${from}`
      })
    )

  const accountOf = ({ id, key }: StateAccount): AccountRows => {
    let known: string | undefined
    const rowOf = (each: string) =>
      run(
        Effect.gen(function* () {
          yield* sql`INSERT INTO ${accounts} (id, root, newest, seen, tx) VALUES (${each}, ${each}, 0, 0, ${tx})
            ON CONFLICT (id) DO NOTHING`
          // If the transactions differ, the row was restored from a backup, so later writes are missing.
          yield* sql`UPDATE ${accounts} SET restored_at = ${now}, tx = ${tx} WHERE id = ${each} AND tx <> xmin::text`
          const [row] = yield* sql<{ readonly root: string }>`SELECT root FROM ${accounts} WHERE id = ${each}`
          return row!.root
        })
      )
    const settle = Effect.gen(function* () {
      const root = yield* rowOf(id)
      const ofKey = key === undefined ? root : yield* rowOf(key)
      if (ofKey === root) return root
      yield* run(join(ofKey, root))
      return yield* rowOf(id)
    })
    const root = Effect.suspend(() =>
      known === undefined ? Effect.tap(settle, (found) => Effect.sync(() => (known = found))) : Effect.succeed(known)
    )

    const heldPart = (lock: HeldLock | undefined) =>
      lock === undefined
        ? sql`SELECT 1`
        : sql`SELECT 1 FROM ${locks} WHERE account = ${lock.root} AND name = ${lock.name} AND owner = ${lock.owner}
            AND fence = ${lock.fence}::double precision FOR SHARE`

    const write: AccountRows["write"] = (lock, parts) =>
      Effect.gen(function* () {
        while (true) {
          const found = yield* root
          const [{ held, here }] = (yield* run(sql<Guarded>`WITH
            here AS (SELECT 1 FROM ${accounts} WHERE id = ${found} AND root = ${found} FOR KEY SHARE),
            held AS (${heldPart(lock)}),
            ok AS (SELECT 1 AS is_ok FROM here, held),
            ${parts(found)}
            SELECT (SELECT count(*) FROM here)::int AS here, (SELECT count(*) FROM held)::int AS held`)) as [Guarded]
          if (held === 0) return yield* lost(lock!.name)
          if (here > 0) return
          known = undefined
        }
      })

    const take = (root: string, lockName: string, ended: string) =>
      run(sql<{ readonly fence: number }>`INSERT INTO ${locks} AS held (account, name, owner, fence)
        SELECT ${root}::text, ${lockName}::text, ${me}::text, nextval(${sql.literal(`'${schema}.state_fence'`)})::double precision
        FROM ${accounts} WHERE id = ${root} AND root = ${root}
        ON CONFLICT (account, name) DO UPDATE SET owner = excluded.owner, fence = excluded.fence
        WHERE held.owner = ${me} OR held.owner = ${ended}
          OR NOT EXISTS (SELECT 1 FROM ${processes} p WHERE p.id = held.owner AND p.lease_until > ${now})
        RETURNING fence`)
    const ownerOf = (root: string, lockName: string) =>
      run(sql<{ readonly owner: string; readonly self: string }>`SELECT held.owner, p.self FROM ${locks} held
        JOIN ${processes} p ON p.id = held.owner WHERE held.account = ${root} AND held.name = ${lockName}`)

    const acquire = (lockName: string) =>
      Effect.gen(function* (): Effect.fn.Return<HeldLock, StateFailed> {
        yield* leased
        let ended = ""
        while (true) {
          const found = yield* root
          const [taken] = yield* take(found, lockName, ended)
          if (taken !== undefined) return { root: found, name: lockName, owner: me, fence: taken.fence }
          const [held] = yield* ownerOf(found, lockName)
          if (held === undefined) {
            // The lock was just released, or the account was merged into another.
            known = undefined
            continue
          }
          // The owner was on this machine and has ended, so do not wait for its lease.
          if (held.owner !== ended && (yield* hasEnded(held.self))) {
            ended = held.owner
            continue
          }
          yield* Effect.interruptible(Effect.sleep(pauseMillis))
        }
      })

    const confirm = (lock: HeldLock) =>
      write(
        lock,
        () =>
          sql`w AS (UPDATE ${processes} SET lease_until = ${now} + ${leaseMillis} WHERE id = ${me} AND EXISTS (SELECT 1 FROM ok))`
      )

    const release = ({ fence, name, owner, root }: HeldLock) =>
      Effect.ignore(
        run(sql`DELETE FROM ${locks} WHERE account = ${root} AND name = ${name} AND owner = ${owner}
          AND fence = ${fence}::double precision`)
      )

    return {
      root,
      write,
      confirm,
      withLock: (lockName) => (use) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(acquire(lockName), (lock) => Effect.ensuring(restore(use(lock)), release(lock)))
        )
    }
  }
  return {
    sql,
    name,
    schema,
    process: me,
    tables,
    now,
    tx,
    run,
    leased,
    onForgotten: (again) => void forgotten.push(again),
    accountOf
  }
})
