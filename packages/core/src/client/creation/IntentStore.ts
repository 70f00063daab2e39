/**
 * Where the intents of creates are kept. In memory they end with the process; in a folder a later process finds them and
 * finishes the question. The folder belongs to one account.
 */
import { Context, Effect, FileSystem, Layer, Option, Path, Schema } from "effect"
import { Intent } from "./Intent.ts"

/** The folder of intents cannot be read or written. */
export class IntentStoreFailed extends Schema.TaggedError<IntentStoreFailed>()("IntentStoreFailed", {
  detail: Schema.String
}) {}

export interface IntentStore {
  /** Every intent there is. */
  readonly all: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
  readonly find: (key: string) => Effect.Effect<Option.Option<Intent>, IntentStoreFailed>
  /** Returns once the intent is safe: a crash afterwards does not lose it. */
  readonly save: (intent: Intent) => Effect.Effect<void, IntentStoreFailed>
  readonly remove: (key: string) => Effect.Effect<void, IntentStoreFailed>
}

/** Intents in memory: for one client, for they say nothing of the account. */
export const makeMemory = (): IntentStore => {
  const intents = new Map<string, Intent>()
  return {
    all: Effect.sync(() => Array.from(intents.values())),
    find: (key) => Effect.sync(() => Option.fromUndefinedOr(intents.get(key))),
    save: (intent) => Effect.sync(() => void intents.set(intent.key, intent)),
    remove: (key) => Effect.sync(() => void intents.delete(key))
  }
}

const IntentJson = Schema.fromJsonString(Intent)
const decode = Schema.decodeUnknownEffect(IntentJson)
const encode = Schema.encodeEffect(IntentJson)

/** The store of the client's intents. Where no layer gives one, every client has its own in memory. */
export const IntentStore = Context.Reference<IntentStore | undefined>("@berth/core/client/creation/IntentStore", {
  defaultValue: () => undefined
})

/** A file per intent in `directory`, which is made if it is not there; written whole or not at all. */
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
      yield* Effect.catch(fs.makeDirectory(directory, { recursive: true, mode: 0o700 }), failed)
      const fileOf = (key: string) => path.join(directory, `${key}.json`)

      const find = Effect.fn("IntentStore.find")(function* (key: string) {
        const file = fileOf(key)
        if (!(yield* fs.exists(file))) return Option.none<Intent>()
        return Option.some(yield* decode(yield* fs.readFileString(file)))
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
        const names = yield* fs.readDirectory(directory)
        return yield* Effect.forEach(
          names.filter((name) => name.endsWith(".json")),
          (name) => Effect.flatMap(fs.readFileString(path.join(directory, name)), decode)
        )
      }).pipe(Effect.catch(failed))

      return { all, find, save, remove }
    })
  )
