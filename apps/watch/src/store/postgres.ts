/**
 * A store on a PostgreSQL server. Its tables are in a separate schema, so that the store can share a database. The schema is `berth`,
 * unless the address says `?schema=NAME`. Only this module loads the driver, so that a daemon with a store in a file need not load it.
 */
import { connect as connectSocket, type Socket } from "node:net"
import { hostname } from "node:os"
import { isPostgres, schemaOf, serverOf, shownAddress } from "@berthkit/terminal/postgresAddress"
import type { PgClient } from "@effect/sql-pg/PgClient"
import { Cause, Clock, Context, Effect, Layer, Queue, Redacted, Result } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { SharedStore } from "./peers.ts"
import { fromSqlError, StoreFailed } from "./StoreFailed.ts"

/**
 * Maximum number of connections of a process. `LISTEN` uses one, and so does each transaction that waits for another; a process does
 * little else at the same time.
 */
const maxConnections = 8

/**
 * A process that was silent for this long counts as gone, and other processes take over its work. Statements that take longer
 * are cut off.
 */
export const processExpirySeconds = 6

/** A connection without any traffic for this long is cut. A server that is alive ends every statement before that. */
const maxSilenceMillis = 8000

/**
 * An unused connection is closed after this time. A connection that waits for news sends something this often, because
 * it would be cut otherwise.
 */
const idlePause = "5 seconds"

/** A new process must become visible to the others within this time after it has joined. */
const maxBeginSeconds = 10

/** The oldest PostgreSQL version that works. It is the first that releases the advisory locks of a dead process at once. */
const minVersion = 14

/** A store in a form that may be shown: a path, or an address without user and password. */
export const shownStore = (store: Redacted.Redacted): string =>
  isPostgres(Redacted.value(store)) ? shownAddress(store) : Redacted.value(store)

/**
 * Creates the schema if it is missing. It looks first, because a role without the right to create schemas can still use an
 * existing one.
 */
const makeSchema = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* SqlClient.SqlClient
  const find = sql`SELECT 1 AS found FROM pg_namespace WHERE nspname = ${schema}`
  if ((yield* find).length > 0) return
  yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`.pipe(
    // If another process has created the schema in between, that is not a failure.
    Effect.catch((error) => Effect.flatMap(find, (found) => (found.length > 0 ? Effect.void : Effect.fail(error))))
  )
})

/**
 * Refuses a server that is too old, a database whose encoding cannot hold some characters, and a pooler that may run each transaction
 * in another session.
 */
const checkServer = Effect.fnUntraced(function* (schema: string) {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* sql<{ version: string; path: string; encoding: string }>`SELECT
    current_setting('server_version_num') AS version, current_setting('search_path') AS path,
    current_setting('server_encoding') AS encoding`
  const version = Math.floor(Number(server!.version) / 10_000)
  if (version < minVersion) {
    return yield* new StoreFailed({ fault: "tooOld", detail: `it is PostgreSQL ${version}` })
  }
  // `SQL_ASCII` stores bytes unchanged.
  if (!["UTF8", "SQL_ASCII"].includes(server!.encoding)) {
    return yield* new StoreFailed({ fault: "encoding", detail: `its encoding is ${server!.encoding}` })
  }
  if (server!.path !== quoted(schema)) {
    return yield* new StoreFailed({ fault: "pooler", detail: `its search_path is ${server!.path}` })
  }
})

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`

/** The statements that give a role the rights to run the daemon, but not to create tables. */
export const rightsIn = (schema: string): ReadonlyArray<string> => [
  `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ROLE;`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ROLE;`,
  `GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${quoted(schema)} TO ROLE;`
]

/** Identifies the process, even if a process on another machine has the same process id. */
const processName = Effect.map(Clock.currentTimeMillis, (now) => `${hostname()}:${process.pid}:${now.toString(36)}`)

/** The content of a notification that reports no news. */
const isAlive = "alive"

/** Pause before listening to the server again. */
const listenPause = "1 second"

/** The first account or sink that only one of two processes has; null if both have the same. */
const differenceOf = (own: ReadonlyArray<string>, theirs: ReadonlyArray<string>, process: string): string | null => {
  const only = own.find((part) => !theirs.includes(part))
  if (only !== undefined) return `this one has the ${only}, and ${process} does not`
  const lacking = theirs.find((part) => !own.includes(part))
  return lacking === undefined ? null : `${process} has the ${lacking}, and this one does not`
}

const makeShared = (
  client: PgClient,
  schema: string,
  self: string,
  sockets: ReadonlySet<Socket>
): SharedStore["Service"] => {
  const channel = `berth/${schema}`
  /** Sends something on the connection, so that it is not cut. Receivers ignore it. */
  const alive = Effect.andThen(client`SELECT pg_notify(${channel}, ${isAlive})`, Effect.sleep(idlePause))
  const heard = (onNews: () => void) =>
    Effect.gen(function* () {
      const notifications = yield* client.listen(channel)
      // There may have been changes before this process listened.
      onNews()
      for (;;) {
        const taken = yield* Queue.takeAll(notifications)
        if (taken.some(({ payload }) => payload !== isAlive)) onNews()
      }
    }).pipe(Effect.scoped, Effect.ignore)
  const processes = Effect.gen(function* () {
    const table = `${schema}_runners`
    const [found] = yield* client<{ found: string | null }>`SELECT to_regclass(${quoted(table)})::text AS found`
    if (found?.found == null) return []
    const rows = yield* client<{ address: string }>`SELECT address FROM ${client(table)}
      WHERE last_heartbeat > now() - make_interval(secs => ${processExpirySeconds}) ORDER BY address`
    // The cluster engine appends a port, but the processes have none.
    return rows.map(({ address }) => address.replace(/:0$/, ""))
  })

  /** Detects missing rights at the start. Otherwise no process could own an account, and no `/readyz` would show that. */
  const checkRights = Effect.gen(function* () {
    const [lacking] = yield* client<{ name: string }>`SELECT relname AS name FROM pg_class
      WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ${schema}) AND relkind = 'r'
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
          AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      ORDER BY relname LIMIT 1`
    if (lacking === undefined) return
    return yield* new StoreFailed({ fault: "denied", detail: `permission denied for table ${lacking.name}` })
  })

  const join = Effect.fn("Store.join")(
    (parts: ReadonlyArray<string>) =>
      Effect.gen(function* () {
        yield* checkRights
        // Let processes join one after the other. If two start at once, the second one finds the first.
        yield* client`LOCK TABLE member`
        const [clock] = yield* client<{ now: number }>`SELECT (extract(epoch FROM now()) * 1000)::BIGINT AS now`
        const { now } = clock!
        const alive = yield* processes
        const members = yield* client<{ process: string; parts: string; joined_at: number }>`SELECT * FROM member`
        for (const { joined_at, parts: theirs, process } of members) {
          if (!alive.includes(process) && now - joined_at > 1000 * maxBeginSeconds) {
            yield* client`DELETE FROM member WHERE process = ${process}`
            continue
          }
          const detail = differenceOf(parts, JSON.parse(theirs), process)
          if (detail !== null) return yield* new StoreFailed({ fault: "differs", detail })
        }
        const own = { process: self, parts: JSON.stringify(parts), joined_at: now }
        yield* client`INSERT INTO member ${client.insert(own)}
          ON CONFLICT (process) DO UPDATE SET parts = excluded.parts, joined_at = excluded.joined_at`
      }).pipe(client.withTransaction),
    Effect.mapError(fromSqlError)
  )

  return {
    self,
    join,
    processes,
    announce: client`SELECT pg_notify(${channel}, '')`,
    renew: Effect.sync(() => {
      for (const socket of sockets) socket.destroy(new Error("the connection is being renewed"))
    }),
    listen: (onNews) =>
      Effect.raceFirst(
        Effect.forever(Effect.andThen(heard(onNews), Effect.sleep(listenPause))),
        Effect.forever(Effect.catch(alive, () => Effect.sleep(listenPause)))
      )
  }
}

/** The address of the server, as the driver reads it. */
const placeOf = (address: Redacted.Redacted) => {
  const { host, port } = serverOf(address)
  return host.startsWith("/") ? { path: `${host}/.s.PGSQL.${port}` } : { host, port, noDelay: true }
}

/**
 * Opens a socket that closes itself if it has no traffic. Node restarts its timeout whenever something is read or written, also
 * if TLS runs over it.
 */
const openSocket = (address: Redacted.Redacted, open: Set<Socket>) => (): Socket => {
  const socket = connectSocket(placeOf(address))
  open.add(socket)
  socket.once("close", () => open.delete(socket))
  return socket.setTimeout(maxSilenceMillis, () => socket.destroy(new Error("the server does not answer")))
}

/**
 * Makes the driver return 64-bit integers and their sums as numbers, as SQLite does. All integers in the store are small enough
 * to be exact.
 */
const numbers = Effect.promise(async () => {
  const { OID, decode, encode, makeRegistry } = await import("@effect/sql-pg/PgTypes")
  const types = makeRegistry()
  for (const oid of [OID.int8, OID.numeric]) {
    types.register<unknown>(oid, {
      encode: (value) => encode(value, oid),
      decode: (bytes) => Result.map(decode(bytes, oid, 1), Number)
    })
  }
  return types
})

const failureOf = (cause: Cause.Cause<unknown>): SqlError | undefined => {
  for (const reason of cause.reasons) {
    if (reason._tag === "Die" && isSqlError(reason.defect)) return reason.defect
  }
  return undefined
}

const recovered = <A, E, R>(transaction: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError, R> =>
  Effect.catchCause(transaction, (cause) => {
    const failure = failureOf(cause)
    if (failure === undefined) return Effect.failCause(cause)
    return Cause.hasInterrupts(cause) ? Effect.interrupt : Effect.fail(failure)
  })

/**
 * Makes transactions fail in the ordinary way if their connection breaks. The client cannot roll back then and reports
 * a bug, although the server rolls back by itself.
 */
export const withBreakingTransactions = <Client extends SqlClient.SqlClient>(client: Client): Client => {
  const { withTransaction } = client
  return Object.assign(client, {
    withTransaction: <R, E, A>(effect: Effect.Effect<A, E, R>) => recovered(withTransaction(effect))
  })
}

/** Connects to the server, and creates its schema if it is missing. */
const connect = Effect.fnUntraced(
  function* (address: Redacted.Redacted) {
    const { make } = yield* Effect.promise(() => import("@effect/sql-pg/PgClient"))
    const schema = schemaOf(address)
    const sockets = new Set<Socket>()
    const connected = yield* make({
      url: address,
      applicationName: "berth-watch",
      startupParameters: {
        search_path: quoted(schema),
        // Shorter than the statement timeout, so that the error says that a lock is the reason.
        lock_timeout: `${processExpirySeconds - 1}s`,
        statement_timeout: `${processExpirySeconds}s`,
        // The locks of a process that vanished are released at the same time as its accounts.
        idle_in_transaction_session_timeout: `${processExpirySeconds}s`
      },
      stream: openSocket(address, sockets),
      types: yield* numbers,
      idleTimeout: idlePause,
      maxConnections
    })
    const client = withBreakingTransactions(connected)
    yield* Effect.provideService(Effect.andThen(checkServer(schema), makeSchema(schema)), SqlClient.SqlClient, client)
    return Context.make(SqlClient.SqlClient, client as SqlClient.SqlClient).pipe(
      Context.add(SharedStore, makeShared(client, schema, yield* processName, sockets))
    )
  },
  (connected, address) =>
    Effect.mapError(connected, (error: SqlError | StoreFailed) => {
      const { detail, fault } = fromSqlError(error)
      // PgBouncer rejects `search_path` unless it is configured to ignore it.
      const isPooler = detail.includes("unsupported startup parameter")
      return new StoreFailed({ fault: isPooler ? "pooler" : fault, detail: `${shownStore(address)}, ${detail}` })
    })
)

export const postgresLayer = (
  address: Redacted.Redacted
): Layer.Layer<SqlClient.SqlClient | SharedStore, StoreFailed> =>
  Layer.effectContext(connect(address)).pipe(Layer.provide(Reactivity.layer))
