/**
 * Where the intents of creates are kept. In memory they end with the process; in a folder a later process finds them and
 * finishes the question. The folder belongs to one account.
 */
import { Clock, Context, Data, Effect, FileSystem, Layer, Option, Path, Schema, Semaphore } from "effect"
import { makeFolders } from "../makeFolders.ts"
import { Intent } from "./Intent.ts"
import { hold, isHeld } from "./KeyHold.ts"

/** The folder of intents cannot be read or written. */
export class IntentStoreFailed extends Schema.TaggedError<IntentStoreFailed>()("IntentStoreFailed", {
  detail: Schema.String
}) {
  override get message() {
    return `The intents of creates cannot be kept: ${this.detail}`
  }
}

export interface IntentStore {
  /** Every intent there is. */
  readonly all: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
  readonly find: (key: string) => Effect.Effect<Option.Option<Intent>, IntentStoreFailed>
  /** Returns once the intent is safe: a crash afterwards does not lose it. */
  readonly save: (intent: Intent) => Effect.Effect<void, IntentStoreFailed>
  readonly remove: (key: string) => Effect.Effect<void, IntentStoreFailed>
  /**
   * Runs a create while no other one of the same key is under way with this store, in this process or another; waits for its
   * turn. It is over by `untilMillis` at the latest. A process that ended holds up nobody.
   */
  readonly holding: (
    key: string,
    untilMillis: number
  ) => <A, E, R>(create: Effect.Effect<A, E, R>) => Effect.Effect<A, E | IntentStoreFailed, R>
  /** Takes out the intents without a caller's key whose process ended before it knew what came of them: nobody asks for them again. */
  readonly takeAbandoned: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
}

/** Begins the keys that are drawn for creates without one; no caller's key begins so. */
export const drawnKeyPrefix = "_"

/** Intents in memory: for one client, for they say nothing of the account. */
export const makeMemory = (): IntentStore => {
  const intents = new Map<string, Intent>()
  const holds = new Map<string, { readonly turn: Semaphore.Semaphore; users: number }>()
  return {
    all: Effect.sync(() => Array.from(intents.values())),
    find: (key) => Effect.sync(() => Option.fromUndefinedOr(intents.get(key))),
    save: (intent) => Effect.sync(() => void intents.set(intent.key, intent)),
    remove: (key) => Effect.sync(() => void intents.delete(key)),
    holding: (key) => (create) =>
      Effect.suspend(() => {
        const hold = holds.get(key) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
        holds.set(key, hold)
        hold.users++
        const leave = Effect.sync(() => --hold.users === 0 && holds.delete(key))
        return Effect.ensuring(hold.turn.withPermit(create), leave)
      }),
    takeAbandoned: Effect.succeed([])
  }
}

/** A file that holds no intent. */
class Damaged extends Data.TaggedError("Damaged")<{ readonly file: string }> {
  override get message() {
    return `${this.file} is damaged`
  }
}

const IntentJson = Schema.fromJsonString(Intent)
const decode = Schema.decodeUnknownEffect(IntentJson)
const encode = Schema.encodeEffect(IntentJson)

/** The store of the client's intents. Where no layer gives one, every client has its own in memory. */
export const IntentStore = Context.Reference<IntentStore | undefined>("@berth/core/client/creation/IntentStore", {
  defaultValue: () => undefined
})

/** Whatever is no intent under a caller's key is left over when it is this old: no create takes so long. */
const leftOverMillis = 86_400_000

/**
 * A file per intent in `directory`, which is made for the user alone if it is not there; written whole or not at all.
 * Fails where it cannot be written. What killed processes left in it is removed after a day, except for intents under a
 * caller's key, which are kept: whoever asks again with one wants no second node, however late.
 */
export const layerDirectory = (
  directory: string
): Layer.Layer<never, IntentStoreFailed, FileSystem.FileSystem | Path.Path> =>
  Layer.effect(
    IntentStore,
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const failed = (cause: { readonly message: string }) =>
        Effect.fail(new IntentStoreFailed({ detail: cause.message }))
      const fileOf = (key: string) => path.join(directory, `${key}.json`)
      const holdOf = (key: string) => path.join(directory, `${key}.hold`)
      const keysIn = (names: ReadonlyArray<string>) =>
        names.filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length))
      const isDrawn = (key: string) => key.startsWith(drawnKeyPrefix)
      const keys = Effect.map(fs.readDirectory(directory), keysIn)

      const sweepUp = Effect.gen(function* () {
        const now = yield* Clock.currentTimeMillis
        for (const name of yield* fs.readDirectory(directory)) {
          const [key] = keysIn([name])
          if (key !== undefined && !isDrawn(key)) continue
          const file = path.join(directory, name)
          const changed = Option.map((yield* fs.stat(file)).mtime, (date) => now - date.getTime())
          if (Option.exists(changed, (age) => age > leftOverMillis)) yield* fs.remove(file, { force: true })
        }
      }).pipe(Effect.ignore)

      yield* makeFolders(
        directory,
        (folder) => fs.makeDirectory(folder, { mode: 0o700 }),
        ({ reason }) => (reason._tag === "AlreadyExists" ? "EEXIST" : reason._tag === "NotFound" ? "ENOENT" : undefined)
      ).pipe(Effect.andThen(fs.access(directory, { writable: true })), Effect.catch(failed))
      yield* sweepUp

      const read = Effect.fnUntraced(function* (key: string) {
        const text = yield* fs.readFileString(fileOf(key))
        return yield* Effect.mapError(decode(text), () => new Damaged({ file: fileOf(key) }))
      })

      const find = Effect.fn("IntentStore.find")(function* (key: string) {
        return (yield* fs.exists(fileOf(key))) ? Option.some(yield* read(key)) : Option.none<Intent>()
      }, Effect.catch(failed))

      const save = Effect.fn("IntentStore.save")(function* (intent: Intent) {
        const file = fileOf(intent.key)
        const draft = `${file}.new`
        yield* Effect.scoped(
          Effect.gen(function* () {
            const handle = yield* fs.open(draft, { flag: "w", mode: 0o600 })
            yield* handle.writeAll(new TextEncoder().encode(yield* encode(intent)))
            yield* handle.sync
          })
        )
        yield* fs.rename(draft, file)
      }, Effect.catch(failed))

      const remove = Effect.fn("IntentStore.remove")(
        (key: string) => fs.remove(fileOf(key), { force: true }),
        Effect.catch(failed)
      )

      const all = Effect.gen(function* () {
        const intents = yield* Effect.forEach(yield* keys, (key) =>
          Effect.asSome(read(key)).pipe(
            // One that ends meanwhile is none any more.
            Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
            // A damaged one is in the way of whoever asks for its key, and of nobody else.
            Effect.catchTag("Damaged", ({ message }) =>
              Effect.as(Effect.logWarning(`${message}.`), Option.none<Intent>())
            )
          )
        )
        return intents.flatMap(Option.toArray)
      }).pipe(Effect.catch(failed))

      const takeAbandoned = Effect.gen(function* () {
        const abandoned: Array<Intent> = []
        for (const key of (yield* keys).filter(isDrawn)) {
          if (yield* isHeld(holdOf(key))) continue
          abandoned.push(...Option.toArray(yield* Effect.option(read(key))))
          yield* fs.remove(fileOf(key), { force: true })
          yield* fs.remove(holdOf(key), { force: true })
        }
        return abandoned
      }).pipe(Effect.provideService(FileSystem.FileSystem, fs), Effect.catch(failed))

      return {
        all,
        find,
        save,
        remove,
        holding: (key, untilMillis) => (create) =>
          Effect.acquireUseRelease(
            hold(holdOf(key), untilMillis).pipe(Effect.provideService(FileSystem.FileSystem, fs), Effect.catch(failed)),
            () => create,
            ({ release }) => release
          ),
        takeAbandoned
      }
    })
  )
