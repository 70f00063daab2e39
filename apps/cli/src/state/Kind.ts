/**
 * Records of one kind in the account's state store. A kind is a schema; the store decides where records are kept and provides the lock
 * under which one process at a time changes a record.
 */
import { RecordStore, StateFailed, type StateLock } from "@berthkit/core/client/state/RecordStore"
import { Context, Effect, Option, Schema } from "effect"
import { LocalFileFault } from "../failure/CliFailure.ts"
import { fileReason } from "../failure/fileReason.ts"

/** The description of a kind. */
interface Description<A> {
  /** Its name in the store. */
  readonly kind: string
  /** The schema of a value as JSON, with its `version`. */
  readonly schema: Schema.Codec<A, unknown>
  readonly keyOf: (value: A) => string
  /** The beginning of the message if records cannot be kept, such as `Leases cannot be kept`. */
  readonly cannot: string
  /** The hint for a record that is damaged or of a later version. */
  readonly restore?: string
}

/**
 * The lock that this process holds while it changes a record. Each write passes the lock to the store, which refuses
 * the write if the lock was lost.
 */
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

/** Stands in for a missing store: reads find nothing, and writes fail. */
const emptyStore: RecordStore = {
  placeOf: () => none,
  statementOf: () => none,
  get: () => Effect.succeedNone,
  list: () => Effect.succeed([]),
  elsewhere: () => Effect.succeed([]),
  put: () => none,
  remove: () => Effect.void,
  append: () => none,
  withLock: () => () => none
}

/** Where a record is, for messages. */
export interface Place {
  /** Its file, or the record and the address of the database. */
  readonly path: string
  /** The SQL statement that removes it from the database; undefined if it is a file. */
  readonly statement: string | undefined
}

/** How a person removes a record, as the end of a sentence. */
export const removalText = ({ path, statement }: Place): string =>
  statement === undefined ? `remove ${path}` : `remove ${path}, in SQL: ${statement.replace(/;$/, "")}`

/** The failure of a command if a record cannot be kept. */
export const faultOf =
  (cannot: string) =>
  ({ code, detail, hint, path }: Pick<StateFailed, "code" | "detail" | "hint" | "path">) =>
    new LocalFileFault({
      path: path ?? "",
      message: `${cannot}: ${fileReason({ code: code ?? undefined, message: detail })}.`,
      hint
    })

/** The failure for a damaged record. */
export const damagedAt = (cannot: string, { path, statement }: Place, restore: string) =>
  faultOf(cannot)({
    code: null,
    detail: `${path} is damaged, or of a later version`,
    path,
    hint: statement === undefined ? restore : `${restore} It is removed by: ${statement}`
  })

/** The place of a record in a store. */
export const placeIn = (store: RecordStore, kind: string, key: string): Effect.Effect<Place, StateFailed> =>
  Effect.all({ path: store.placeOf(kind, key), statement: store.statementOf(kind, key) })

/** Runs `use` with the store and the held lock. */
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
export const recordsOf = <A>({
  cannot,
  keyOf,
  kind,
  restore = "Restore it. Remove it only if the account portal shows no node or purchase that it may be about: nothing else knows of it.",
  schema
}: Description<A>) => {
  const json = Schema.fromJsonString(schema)
  const [decode, encode] = [Schema.decodeUnknownOption(json), Schema.encodeSync(json)]
  const read = (key: string, text: string) => Option.filter(decode(text), (value) => keyOf(value) === key)
  const placeOf = (key: string) => inStore(cannot, (store) => placeIn(store, kind, key))

  const damaged = (place: Place) => damagedAt(cannot, place, restore)

  const get = Effect.fnUntraced(function* (key: string) {
    const text = yield* inStore(cannot, (store) => store.get(kind, key))
    if (Option.isNone(text)) return undefined
    const value = read(key, text.value)
    if (Option.isSome(value)) return value.value
    return yield* damaged(yield* placeOf(key))
  })
  const all = Effect.gen(function* () {
    const values: Array<A> = []
    const unreadable: Array<Place> = []
    for (const { key, value: text } of yield* inStore(cannot, (store) => store.list(kind))) {
      const value = read(key, text)
      if (Option.isSome(value)) values.push(value.value)
      else unreadable.push(yield* placeOf(key))
    }
    return { values, unreadable }
  })
  const remove = (key: string) => inStore(cannot, (store, lock) => store.remove(kind, key, lock))
  return {
    /** The record of a key; undefined if there is none. Fails if it cannot be read. */
    get,
    /** The readable records in order of their keys, and the places of unreadable ones. */
    all,
    /** The fault of a record at this place that cannot be read. */
    damaged,
    /** The records of other accounts in the same store. */
    elsewhere: Effect.map(
      inStore(cannot, (store) => store.elsewhere(kind)),
      (found) => found.flatMap(({ key, value }) => Option.toArray(read(key, value)))
    ),
    /** Writes a record, which is on disk or in the database when this returns. Uses the lock of the surrounding change. */
    put: (value: A) => inStore(cannot, (store, lock) => store.put(kind, keyOf(value), encode(value), lock)),
    /** Removes a record. Uses the lock of the surrounding change as well. */
    remove,
    /** If there are more than `most` records, removes those with the earliest instants. */
    trim: (most: number, instantOf: (value: A) => number) =>
      Effect.flatMap(all, ({ values }) =>
        Effect.forEach(
          values.toSorted((a, b) => instantOf(b) - instantOf(a)).slice(most),
          (value) => remove(keyOf(value)),
          { discard: true }
        )
      ),
    /** The place of a record, for messages. */
    placeOf,
    /** Runs `use` with the current record while no other process can change it. */
    change: <B, E, R>(key: string, use: (value: A | undefined) => Effect.Effect<B, E, R>) =>
      underLock(cannot, `${kind}.${key}`, Effect.flatMap(get(key), use))
  }
}
