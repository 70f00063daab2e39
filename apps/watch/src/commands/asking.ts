/**
 * How commands about a store get answers: over HTTP from the daemon that uses the store, otherwise from the store itself. Both give the
 * same answers, except about facts that only a running process knows.
 */
import { Effect, Redacted, Schema } from "effect"
import { restingDaemon } from "../daemon/restingDaemon.ts"
import { type Answers, Refused } from "../http/Daemon.ts"
import { NotAnswered, remoteDaemon } from "../http/remoteDaemon.ts"
import { CommandFailed, fromStoreFailed } from "../process/CommandFailed.ts"
import { type StoreOptions, type StoreSettings, storeSettings } from "../settings/storeSettings.ts"
import { Store } from "../store/Store.ts"
import { SharedStore } from "../store/peers.ts"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { postgresLayer } from "../store/postgres.ts"
import { fromSqlError, StoreFailed } from "../store/StoreFailed.ts"
import { isLocked, lastOwner } from "../store/StoreLock.ts"

/** A running daemon, as commands show it. */
export const Running = Schema.Struct({
  /** Null if several processes use the store. */
  pid: Schema.NullOr(Schema.Number),
  /** The address; null if the daemon cannot be reached over HTTP. */
  http: Schema.NullOr(Schema.String),
  /** Names of the processes that use the store, if it is in PostgreSQL. */
  processes: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Running = typeof Running.Type

type Asked<E, R> = Effect.Effect<void, E | CommandFailed | StoreFailed | Refused, R>

/** `isAnswered`: true if a running daemon answers, false if only its store does. */
type Command<E, R> = (daemon: Answers, running: Running | null, isAnswered: boolean) => Asked<E, R>

const exits = { unknown: "notFound", gone: "notFound", invalid: "usage", busy: "unavailable" } as const

const fromRefused = ({ kind, message }: Refused): CommandFailed => new CommandFailed({ exit: exits[kind], message })

const fromNotAnswered = ({ hint, isDenied, message }: NotAnswered): CommandFailed =>
  new CommandFailed({ exit: isDenied ? "denied" : "unavailable", message, hint })

/** Turns defects back into failures: reading an answer raises a failure of the store or the daemon as a defect. */
const fromDefect = (defect: unknown): Effect.Effect<never, CommandFailed> => {
  if (defect instanceof StoreFailed) return Effect.fail(fromStoreFailed(defect))
  if (defect instanceof NotAnswered) return Effect.fail(fromNotAnswered(defect))
  return Effect.die(defect)
}

/** The daemon that uses the store, if one is running. */
const findRunning = Effect.fnUntraced(function* ({
  store
}: StoreSettings): Effect.fn.Return<Running | null, StoreFailed> {
  if (isServer(store)) {
    const heard = Effect.flatMap(SharedStore, ({ processes }) => Effect.mapError(processes, fromSqlError))
    const alive = yield* Effect.provide(heard, postgresLayer(store))
    return alive.length === 0 ? null : { pid: null, http: null, processes: alive }
  }
  const path = Redacted.value(store)
  return (yield* isLocked(path)) ? yield* Effect.provide(lastOwner, Store.layerReader(path)) : null
})

const isServer = (store: Redacted.Redacted): boolean => isPostgres(Redacted.value(store))

/** Runs `command` with the daemon that uses the store. If no daemon is running, or it does not answer, runs `otherwise`. */
export const asking = <R, R2, E = never>(
  options: StoreOptions,
  command: Command<E, R>,
  otherwise: (settings: StoreSettings, running: Running | null) => Asked<E, R2>
) =>
  Effect.gen(function* () {
    const settings = yield* storeSettings(options)
    const running = yield* findRunning(settings)
    const daemon = running === null || running.http === null ? null : yield* remoteDaemon(running.http, settings.token)
    yield* daemon === null ? otherwise(settings, running) : command(daemon, running, true)
  }).pipe(
    Effect.scoped,
    Effect.catchDefect(fromDefect),
    Effect.mapError((error) => {
      if (error instanceof StoreFailed) return fromStoreFailed(error)
      if (error instanceof Refused) return fromRefused(error)
      return error as Exclude<E, StoreFailed | Refused> | CommandFailed
    })
  )

const withStore =
  (open: typeof Store.layerReader) =>
  <R, E = never>(options: StoreOptions, command: Command<E, R>) =>
    asking(options, command, ({ sinks, store }, running) =>
      Effect.flatMap(restingDaemon(sinks, running !== null), (daemon) => command(daemon, running, false)).pipe(
        Effect.provide(isServer(store) ? Store.layerServerReader(store) : open(Redacted.value(store)))
      )
    )

/** Runs commands that read. If the daemon has no HTTP interface, or hangs, they read the store themselves. */
export const reading = withStore(Store.layerReader)

/**
 * Runs commands that change something. They never write to a file that a daemon is using. In a store in PostgreSQL they
 * write themselves, and the processes that use the store notice the change.
 */
export const changing = withStore(Store.layerFile)
