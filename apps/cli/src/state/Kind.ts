/**
 * The records of one kind that berth keeps of an account: what was asked for, and what became of it. A kind is a schema; where and how its
 * records are kept is the store's affair, and so is the lock under which one process at a time changes a record.
 */
import { RecordStore, StateFailed, type StateLock } from "@berthkit/core/client/state/RecordStore"
import { Context, Effect, Option, Schema } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"

/** What a kind of records is. */
interface Description<A> {
  /** Its name in the store. */
  readonly kind: string
  /** Of a value as JSON, with its `version`. */
  readonly schema: Schema.Codec<A, unknown>
  readonly keyOf: (value: A) => string
  /** What is said before the reason where it cannot be kept, such as `Leases cannot be kept`. */
  readonly cannot: string
}

/** The lock that is held while a record is changed: each write takes it, so that nothing is written after it was lost. */
const HeldLock = Context.Reference<StateLock | undefined>("@berthkit/cli/state/Kind/HeldLock", {
  defaultValue: () => undefined
})

export const noStore = new StateFailed({
  code: null,
  detail: "there is no home folder",
  path: null,
  hint: "Set HOME or XDG_STATE_HOME to a folder that can be written; see: berth doctor",
  isLockLost: false
})

const none = Effect.fail(noStore)

/** What stands in for a store where there is none: nothing is in it, and nothing can be kept. */
const emptyStore: RecordStore = {
  placeOf: () => none,
  get: () => Effect.succeedNone,
  list: () => Effect.succeed([]),
  elsewhere: () => Effect.succeed([]),
  put: () => none,
  remove: () => Effect.void,
  append: () => none,
  withLock: () => () => none
}

/** Why a command cannot keep something. */
export const faultOf =
  (cannot: string) =>
  ({ code, detail, hint, path }: Pick<StateFailed, "code" | "detail" | "hint" | "path">) =>
    new LocalFileFault({
      path: path ?? "",
      message: `${cannot}: ${fileReason({ code: code ?? undefined, message: detail })}.`,
      hint
    })

/** Runs `use` with the store and the lock that is held. */
const inStore = <A>(
  cannot: string,
  use: (store: RecordStore, lock: StateLock | undefined) => Effect.Effect<A, StateFailed>
): Effect.Effect<A, LocalFileFault> =>
  Effect.flatMap(Effect.all([RecordStore, HeldLock]), ([store = emptyStore, lock]) =>
    Effect.mapError(use(store, lock), faultOf(cannot))
  )

/** Runs `use` while no other process has the lock of this name. */
export const underLock = <A, E, R>(cannot: string, name: string, use: Effect.Effect<A, E, R>) =>
  Effect.flatMap(RecordStore, (store = emptyStore) =>
    store
      .withLock(name)((lock) => Effect.result(Effect.provideService(use, HeldLock, lock)))
      .pipe(Effect.mapError(faultOf(cannot)), Effect.flatMap(Effect.fromResult))
  )

/** The records of a kind. */
export const recordsOf = <A>({ cannot, keyOf, kind, schema }: Description<A>) => {
  const json = Schema.fromJsonString(schema)
  const [decode, encode] = [Schema.decodeUnknownOption(json), Schema.encodeSync(json)]
  const read = (key: string, text: string) => Option.filter(decode(text), (value) => keyOf(value) === key)
  const placeOf = (key: string) => inStore(cannot, (store) => store.placeOf(kind, key))

  const get = Effect.fnUntraced(function* (key: string) {
    const text = yield* inStore(cannot, (store) => store.get(kind, key))
    if (Option.isNone(text)) return undefined
    const value = read(key, text.value)
    if (Option.isSome(value)) return value.value
    const path = yield* placeOf(key)
    const hint = "Restore it, or remove it once you know what it was about."
    return yield* faultOf(cannot)({ code: null, detail: `${path} is damaged, or of a later version`, path, hint })
  })
  const all = Effect.gen(function* () {
    const values: Array<A> = []
    const unreadable: Array<string> = []
    for (const { key, value: text } of yield* inStore(cannot, (store) => store.list(kind))) {
      const value = read(key, text)
      if (Option.isSome(value)) values.push(value.value)
      else unreadable.push(yield* placeOf(key))
    }
    return { values, unreadable }
  })
  const remove = (key: string) => inStore(cannot, (store, lock) => store.remove(kind, key, lock))
  return {
    /** The record of a key; undefined where there is none. Fails where it cannot be read. */
    get,
    /** Those that can be read, in order of their keys, and where those are that cannot. */
    all,
    /** Those of other accounts in the same store. */
    elsewhere: Effect.map(
      inStore(cannot, (store) => store.elsewhere(kind)),
      (found) => found.flatMap(({ key, value }) => Option.toArray(read(key, value)))
    ),
    /** It is safe when this ends. Takes the lock of the change that it is in. */
    put: (value: A) => inStore(cannot, (store, lock) => store.put(kind, keyOf(value), encode(value), lock)),
    /** Likewise. */
    remove,
    /** Removes those with the lowest instants where there are more than `most`. */
    trim: (most: number, instantOf: (value: A) => number) =>
      Effect.flatMap(all, ({ values }) =>
        Effect.forEach(
          values.toSorted((a, b) => instantOf(b) - instantOf(a)).slice(most),
          (value) => remove(keyOf(value)),
          { discard: true }
        )
      ),
    /** Where a record is, for people. */
    placeOf,
    /** Runs `use` with the record as it is now, while no other process does. */
    change: <B, E, R>(key: string, use: (value: A | undefined) => Effect.Effect<B, E, R>) =>
      underLock(cannot, `${kind}.${key}`, Effect.flatMap(get(key), use))
  }
}
