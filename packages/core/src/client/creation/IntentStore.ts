/**
 * Where the intents of creates are kept. In memory they end with the client; in a folder a later process finds them and
 * finishes the question. The folder belongs to one account.
 */
import { Clock, Context, Data, Effect, Layer, Option, Predicate, Semaphore } from "effect"
import { bootClock, type Stamp, stampNow } from "../files/Boot.ts"
import { type FileFault, makeOwnFolder, readText, removeFile, replaceFile, withFiles } from "../files/StateFiles.ts"
import { type Checks, type Intent, intentChecks, intentVersion, meets, ended, mayBeAnswered } from "./Intent.ts"
import { type KeyLock, withKeyLock } from "./KeyLock.ts"
import { isRunning, type Owner, self } from "./LockOwner.ts"

/** An intent cannot be read or written. */
export class IntentStoreFailed extends Data.TaggedError("IntentStoreFailed")<{
  /** Why, such as what the file system said. */
  readonly detail: string
}> {
  override get message() {
    return `The intents of creates cannot be kept: ${this.detail}`
  }
}

/** A key that is held by one create. */
export interface HeldKey {
  /** Fails where this create does not hold the key any more. */
  readonly confirm: Effect.Effect<void, IntentStoreFailed>
}

export interface IntentStore {
  /** This instant, on the clocks that everybody who reads an intent here may know. */
  readonly now: Effect.Effect<Stamp>
  /** Every intent there is; of one whose process has ended the fate is known. */
  readonly all: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
  readonly find: (key: string) => Effect.Effect<Option.Option<Intent>, IntentStoreFailed>
  /** Returns once the intent is safe: a crash afterwards does not lose it. */
  readonly save: (intent: Intent) => Effect.Effect<void, IntentStoreFailed>
  readonly remove: (key: string) => Effect.Effect<void, IntentStoreFailed>
  /**
   * Runs `use` while no other does under the same key with this store, in this process or another; waits for its turn. A
   * process that ended holds up no other.
   */
  readonly holding: (
    key: string
  ) => <A, E, R>(use: (held: HeldKey) => Effect.Effect<A, E, R>) => Effect.Effect<A, E | IntentStoreFailed, R>
  /**
   * Takes out the intents without a caller's key whose process ended after it had sent the create, before it knew what came
   * of it: no caller asks for them again.
   */
  readonly takeAbandoned: Effect.Effect<ReadonlyArray<Intent>, IntentStoreFailed>
}

/** Begins the keys that are drawn for creates without one; no caller's key begins so. */
export const drawnKeyPrefix = "_"

/** A turn for each key within this process. */
const makeTurns = () => {
  const turns = new Map<string, { readonly turn: Semaphore.Semaphore; users: number }>()
  return (key: string) =>
    <A, E, R>(use: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.suspend(() => {
        const held = turns.get(key) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
        turns.set(key, held)
        held.users++
        const leave = Effect.sync(() => --held.users === 0 && turns.delete(key))
        return Effect.ensuring(held.turn.withPermit(use), leave)
      })
}

/** Intents in memory: for one client, for they say nothing of the account. */
export const makeMemory = (): IntentStore => {
  const intents = new Map<string, Intent>()
  const turnOf = makeTurns()
  return {
    now: stampNow("memory"),
    all: Effect.sync(() => Array.from(intents.values())),
    find: (key) => Effect.sync(() => Option.fromUndefinedOr(intents.get(key))),
    save: (intent) => Effect.sync(() => void intents.set(intent.key, intent)),
    remove: (key) => Effect.sync(() => void intents.delete(key)),
    holding: (key) => (use) => turnOf(key)(use({ confirm: Effect.void })),
    takeAbandoned: Effect.succeed([])
  }
}

/** The store of the client's intents. Where no layer gives one, a create cannot have a key. */
export const IntentStore = Context.Reference<IntentStore | undefined>("@berth/core/client/creation/IntentStore", {
  defaultValue: () => undefined
})

/** What a file holds: an intent, and the process that is at it. */
interface Kept extends Intent {
  readonly owner: Omit<Owner, "id">
}

const ownerChecks: Checks<Kept["owner"]> = {
  machine: Predicate.isString,
  namespace: Predicate.isString,
  pid: Number.isSafeInteger,
  startTime: Predicate.isString
}
const keptChecks: Checks<Kept> = { ...intentChecks, owner: (value) => meets(ownerChecks, value) }

/** An intent as the first version wrote it, which had one time for everything. */
const fromUnversioned = (value: Readonly<Record<string, unknown>>) => ({
  ...value,
  version: intentVersion,
  fate: "lost",
  sentAt: {
    wallMillis: value["sentAtMillis"],
    bootMillis: 0,
    bootClock: null,
    serviceMillis: value["serviceTimeMillis"]
  },
  owner: { machine: "", namespace: "", pid: 0, startTime: "" }
})

/** What a file holds: an intent, or why it is none of ours. */
const keptIn = (text: string): Kept | string => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return "is damaged, or not Berth's"
  }
  if (!Predicate.isObject(value)) return "is not Berth's"
  if (typeof value["version"] === "number" && value["version"] > intentVersion) return "is of a later version of Berth"
  const kept = "sentAtMillis" in value && !("version" in value) ? fromUnversioned(value) : value
  return meets(keptChecks, kept) ? kept : "is damaged, or not Berth's"
}

const failed = ({ message }: Pick<FileFault, "message">) => Effect.fail(new IntentStoreFailed({ detail: message }))

/** A draft, or an intent without a caller's key, is left over when it is this old: no create takes so long. */
const leftOverMillis = 86_400_000

const suffix = ".json"
const isDrawn = (key: string) => key.startsWith(drawnKeyPrefix)
const isDraft = (name: string) => /\.(json|lock)\.[\w-]+\.new$/.test(name)

/*
 * A file per intent in `directory`, which is made for the user alone when it is first used; written whole or not at all. What
 * killed processes left in it is removed after a day, except for intents under a caller's key, which are kept: a caller who
 * asks again with one wants no second node, however late. Whatever is not Berth's, or of a later version, is left alone.
 */
const open = (directory: string, levels?: number) => {
  const fileOf = (key: string) => `${directory}/${key}${suffix}`
  const turnOf = makeTurns()
  const namesIn = withFiles((fs) => fs.readdir(directory))
  const keys = Effect.map(namesIn, (names) =>
    names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
  )
  const isLeftOver = (name: string, now: number) =>
    Effect.map(
      withFiles((fs) => fs.lstat(`${directory}/${name}`)),
      ({ mtimeMs }) => now - mtimeMs > leftOverMillis
    )

  const sweepUp = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const name of (yield* namesIn).filter(isDraft)) {
      const old = yield* Effect.orElseSucceed(isLeftOver(name, now), () => false)
      if (old) yield* withFiles((fs) => fs.rm(`${directory}/${name}`, { recursive: true, force: true }))
    }
  }).pipe(Effect.ignore)

  let made = false
  /** The folder, made and swept by whatever is first. */
  const ready = Effect.suspend(() =>
    made
      ? Effect.void
      : makeOwnFolder(directory, levels).pipe(
          Effect.andThen(withFiles((fs) => fs.access(directory, fs.constants.W_OK))),
          Effect.andThen(sweepUp),
          Effect.tap(() => Effect.sync(() => (made = true)))
        )
  )
  const inFolder = <A, R>(use: Effect.Effect<A, FileFault, R>) => Effect.catch(Effect.andThen(ready, use), failed)

  /** The intent in a file; none where it is not there. Fails where the file is none of ours. */
  const read = Effect.fnUntraced(function* (key: string): Effect.fn.Return<Option.Option<Kept>, FileFault> {
    const file = fileOf(key)
    const text = yield* readText(file)
    if (Option.isNone(text)) return Option.none()
    const kept = keptIn(text.value)
    if (typeof kept === "string") return yield* Effect.fail({ message: `${file} ${kept}` })
    // Some file systems take two keys for one.
    if (kept.key !== key) return yield* Effect.fail({ message: `${file} is that of the key ${kept.key}` })
    return Option.some(kept)
  })

  const warned = new Set<string>()
  /** One that cannot be read is in the way of the callers who use its key, and of no other. */
  const readOrWarn = (key: string) =>
    Effect.catch(read(key), ({ message }) =>
      Effect.suspend(() => {
        if (warned.has(key)) return Effect.succeedNone
        warned.add(key)
        return Effect.as(Effect.logWarning(`${message}: it is left alone.`), Option.none<Kept>())
      })
    )

  /** Whether the process of an intent without a caller's key has ended, or would have by now. */
  const isAbandoned = ({ key, owner }: Kept, now: number) =>
    Effect.flatMap(isRunning(owner), (running) =>
      running === undefined
        ? Effect.orElseSucceed(isLeftOver(`${key}${suffix}`, now), () => false)
        : Effect.succeed(!running)
    )

  const takeAbandoned = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const abandoned: Array<Intent> = []
    for (const key of (yield* keys).filter(isDrawn)) {
      const kept = yield* readOrWarn(key)
      if (Option.isNone(kept) || !(yield* isAbandoned(kept.value, now))) continue
      if (kept.value.sentAt !== null) abandoned.push(kept.value)
      yield* removeFile(fileOf(key))
    }
    return abandoned
  })

  /** To a process that has ended no reply comes any more. */
  const withFate = (kept: Kept) =>
    mayBeAnswered(kept)
      ? Effect.map(isRunning(kept.owner), (running): Intent => (running === false ? ended(kept, "killed") : kept))
      : Effect.succeed<Intent>(kept)

  const readAll = Effect.gen(function* () {
    const intents: Array<Intent> = []
    for (const key of yield* keys) {
      const kept = yield* readOrWarn(key)
      if (Option.isSome(kept)) intents.push(yield* withFate(kept.value))
    }
    return intents
  })

  const held = ({ confirm }: KeyLock): HeldKey => ({ confirm: Effect.catch(confirm, failed) })

  const store: IntentStore = {
    now: Effect.flatMap(bootClock, stampNow),
    all: inFolder(readAll),
    find: (key) =>
      inFolder(
        Effect.flatMap(
          read(key),
          Option.match({
            onNone: () => Effect.succeedNone,
            onSome: (kept) => Effect.asSome(withFate(kept))
          })
        )
      ),
    save: (intent) =>
      inFolder(
        Effect.flatMap(self, ({ machine, namespace, pid, startTime }) => {
          const kept: Kept = { ...intent, owner: { machine, namespace, pid, startTime } }
          return replaceFile(fileOf(intent.key), JSON.stringify(kept), intent.sentAt !== null && intent.nodeId === null)
        })
      ),
    remove: (key) => inFolder(removeFile(fileOf(key))),
    holding: (key) => (use) =>
      turnOf(key)(
        Effect.andThen(
          inFolder(Effect.void),
          Effect.flatten(
            Effect.catch(
              // What `use` fails with is its own affair.
              withKeyLock(`${directory}/${key}.lock`, (lock) => Effect.exit(use(held(lock)))),
              failed
            )
          )
        )
      ),
    takeAbandoned: inFolder(takeAbandoned)
  }
  return { store, ready: inFolder(Effect.void) }
}

/**
 * The store in a folder. What cannot be done with the folder fails when it is used. So many `levels` have to be the user's own:
 * the folder, the one above it, and so on. Default: 1.
 */
export const makeDirectory = (directory: string, levels?: number): IntentStore => open(directory, levels).store

/** The same as a layer, which fails where the folder cannot be used. */
export const layerDirectory = (directory: string, levels?: number): Layer.Layer<never, IntentStoreFailed> =>
  Layer.effect(
    IntentStore,
    Effect.suspend(() => {
      const { ready, store } = open(directory, levels)
      return Effect.as(ready, store)
    })
  )
