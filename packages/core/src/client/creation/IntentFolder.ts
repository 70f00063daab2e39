/**
 * Keeps intents in a folder, which belongs to one account: a later process finds them there and finishes the creates. A file per
 * intent, written whole or not at all. Drafts that killed processes left are removed after a day; an intent under a caller's key is
 * kept for good, because a caller who asks again with it wants no second node, however late. Files that are not Berth's, or of
 * a later version, are left alone.
 */
import { Clock, Effect, Layer, Option } from "effect"
import { bootClock, stampNow } from "../files/Boot.ts"
import { type FileFault, makeOwnFolder, readText, removeFile, replaceFile, withFiles } from "../files/StateFiles.ts"
import { type Intent, isSent, mayBeAnswered, unanswered } from "./Intent.ts"
import { type OwnedIntent, parseIntent } from "./IntentFile.ts"
import { drawnKeyPrefix, IntentStore, IntentStoreFailed, makeTurns } from "./IntentStore.ts"
import { withKeyLock } from "./KeyLock.ts"
import { isRunning, self } from "./LockOwner.ts"

/** A write to an open file fails without its name: then the folder is named. */
const failedIn =
  (directory: string) =>
  ({ code, message, path }: FileFault) =>
    new IntentStoreFailed({ detail: message, code: code ?? null, path: path ?? directory })

/** A draft, or an intent without a caller's key, is left over when it is this old: no create takes so long. */
const leftOverMillis = 86_400_000

const suffix = ".json"
const isDrawn = (key: string) => key.startsWith(drawnKeyPrefix)
const isDraft = (name: string) => /\.(json|lock)\.[\w-]+\.new$/.test(name)

/** To a process that has ended no reply comes any more. */
const withFate = (intent: OwnedIntent) =>
  mayBeAnswered(intent)
    ? Effect.map(isRunning(intent.owner), (running): Intent =>
        running === false ? unanswered(intent, "killed") : intent
      )
    : Effect.succeed<Intent>(intent)

const open = (directory: string, levels?: number) => {
  const failed = failedIn(directory)
  const fileOf = (key: string) => `${directory}/${key}${suffix}`
  const turnOf = makeTurns()
  const namesIn = withFiles((fs) => fs.readdir(directory))
  const keys = Effect.map(namesIn, (names) =>
    names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
  )
  const isLeftOver = (name: string, now: number) =>
    withFiles((fs) => fs.lstat(`${directory}/${name}`)).pipe(
      Effect.map(({ mtimeMs }) => now - mtimeMs > leftOverMillis),
      Effect.orElseSucceed(() => false)
    )

  const removeOldDrafts = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    for (const name of (yield* namesIn).filter(isDraft)) {
      if (yield* isLeftOver(name, now)) {
        yield* withFiles((fs) => fs.rm(`${directory}/${name}`, { recursive: true, force: true }))
      }
    }
  }).pipe(Effect.ignore)

  let isReady = false
  /** Makes the folder, the first time that it is needed. */
  const ready = Effect.suspend(() =>
    isReady
      ? Effect.void
      : makeOwnFolder(directory, levels).pipe(
          Effect.andThen(withFiles((fs) => fs.access(directory, fs.constants.W_OK))),
          Effect.andThen(removeOldDrafts),
          Effect.tap(() => Effect.sync(() => (isReady = true)))
        )
  )
  const inFolder = <A, R>(use: Effect.Effect<A, FileFault, R>) => Effect.mapError(Effect.andThen(ready, use), failed)

  /** The intent in a file; undefined where there is no file. Fails where the file is not an intent of Berth. */
  const read = Effect.fnUntraced(function* (key: string): Effect.fn.Return<OwnedIntent | undefined, FileFault> {
    const file = fileOf(key)
    const text = yield* readText(file)
    if (Option.isNone(text)) return undefined
    const intent = parseIntent(text.value)
    if (typeof intent === "string") return yield* Effect.fail({ message: `${file} ${intent}`, path: file })
    // Some file systems take two keys for one.
    if (intent.key !== key)
      return yield* Effect.fail({ message: `${file} is that of the key ${intent.key}`, path: file })
    return intent
  })

  const warned = new Set<string>()
  /** A file that cannot be read is in the way of the callers who use its key, and of no other. */
  const readOrWarn = (key: string) =>
    Effect.catch(read(key), ({ message }) =>
      Effect.suspend(() => {
        if (warned.has(key)) return Effect.undefined
        warned.add(key)
        return Effect.as(Effect.logWarning(`${message}: it is left alone.`), undefined)
      })
    )

  /** Whether the process of an intent without a caller's key has ended, or would have by now. */
  const isAbandoned = ({ key, owner }: OwnedIntent, now: number) =>
    Effect.flatMap(isRunning(owner), (running) =>
      running === undefined ? isLeftOver(`${key}${suffix}`, now) : Effect.succeed(!running)
    )

  const takeAbandoned = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const abandoned: Array<Intent> = []
    for (const key of (yield* keys).filter(isDrawn)) {
      const intent = yield* readOrWarn(key)
      if (intent === undefined || !(yield* isAbandoned(intent, now))) continue
      if (isSent(intent)) abandoned.push(intent)
      yield* removeFile(fileOf(key))
    }
    return abandoned
  })

  const readAll = Effect.gen(function* () {
    const intents: Array<Intent> = []
    for (const key of yield* keys) {
      const intent = yield* readOrWarn(key)
      if (intent !== undefined) intents.push(yield* withFate(intent))
    }
    return intents
  })

  const store: IntentStore = {
    now: Effect.flatMap(bootClock, stampNow),
    all: inFolder(readAll),
    find: (key) =>
      inFolder(
        Effect.flatMap(read(key), (intent) =>
          intent === undefined ? Effect.succeedNone : Effect.asSome(withFate(intent))
        )
      ),
    save: (intent) =>
      inFolder(
        Effect.flatMap(self, ({ machine, namespace, pid, startTime }) => {
          const owned: OwnedIntent = { ...intent, owner: { machine, namespace, pid, startTime } }
          return replaceFile(fileOf(intent.key), JSON.stringify(owned), isSent(intent) && intent.nodeId === null)
        })
      ),
    remove: (key) => inFolder(removeFile(fileOf(key))),
    withKeyLock: (key) => (use) =>
      turnOf(key)(
        Effect.andThen(
          inFolder(Effect.void),
          Effect.flatten(
            withKeyLock(`${directory}/${key}.lock`, ({ confirm }) =>
              // As an exit, so that a failure of `use` is not taken for one of the lock.
              Effect.exit(use({ confirm: Effect.mapError(confirm, failed) }))
            ).pipe(Effect.mapError(failed))
          )
        )
      ),
    takeAbandoned: inFolder(takeAbandoned)
  }
  return { store, ready: inFolder(Effect.void) }
}

/**
 * The store in a folder, which is made for the user alone when it is first used. What cannot be done with the folder fails then.
 * So many `levels` have to be the user's own: the folder, the one above it, and so on. Default: 1.
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
