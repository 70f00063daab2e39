/**
 * What commands about a store ask: the daemon that runs on it, over HTTP, or else the store itself. The answers are the same, but
 * for what only a process knows.
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

/** A daemon that runs, as commands show it. */
export const Running = Schema.Struct({
  /** Null where several processes have the store. */
  pid: Schema.NullOr(Schema.Number),
  /** Null where it is not reached over HTTP. */
  http: Schema.NullOr(Schema.String),
  /** The processes that have a store on a server. */
  processes: Schema.optionalKey(Schema.Array(Schema.String))
})
export type Running = typeof Running.Type

type Asked<E, R> = Effect.Effect<void, E | CommandFailed | StoreFailed | Refused, R>

/** `isAnswered`: whether the answers are those of the daemon, and not what its store has. */
type Command<E, R> = (daemon: Answers, running: Running | null, isAnswered: boolean) => Asked<E, R>

const exits = { unknown: "notFound", gone: "notFound", invalid: "usage", busy: "unavailable" } as const

const fromRefused = ({ kind, message }: Refused): CommandFailed => new CommandFailed({ exit: exits[kind], message })

const fromNotAnswered = ({ hint, isDenied, message }: NotAnswered): CommandFailed =>
  new CommandFailed({ exit: isDenied ? "denied" : "unavailable", message, hint })

/** A store or a daemon that fails is a defect where its answers are read. */
const fromDefect = (defect: unknown): Effect.Effect<never, CommandFailed> => {
  if (defect instanceof StoreFailed) return Effect.fail(fromStoreFailed(defect))
  if (defect instanceof NotAnswered) return Effect.fail(fromNotAnswered(defect))
  return Effect.die(defect)
}

/** The daemon that runs on the store, if there is one. */
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

/** Asks the daemon that runs on the store, or else, where none does or it does not answer, does `otherwise`. */
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

/** For a command that reads. A daemon without HTTP, or one that stands still, does not keep it from reading the store. */
export const reading = withStore(Store.layerReader)

/** For a command that changes something: never in a file that a daemon has. On a server the processes notice it. */
export const changing = withStore(Store.layerFile)
