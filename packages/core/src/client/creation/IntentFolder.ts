/**
 * Keeps the intents of one account in a folder, where a later process finds them and finishes the creates. Each intent is a file that is
 * written whole or not at all. It is in `open` until its node is known, and then in `settled` (`SettledIntents.ts`). Drafts of killed
 * processes are removed after a day. Files that are not Berth's, or of a later version, are left alone.
 */
import { Clock, Effect, Fiber, Layer, Option } from "effect"
import { monotonicMillis } from "../time/Monotonic.ts"
import { bootClock } from "../files/Boot.ts"
import { stampNow } from "../files/Stamp.ts"
import {
  type FileFault,
  makeOwnFolder,
  removeDurably,
  removeFile,
  replaceDurably,
  withFiles
} from "../files/StateFiles.ts"
import {
  drawnKeyPrefix,
  endedMillis,
  type Intent,
  IntentStore,
  IntentStoreFailed,
  isSent,
  keptMillis,
  makeTurns,
  mayBeAnswered,
  unanswered
} from "./IntentStore.ts"
import { type OwnedIntent, readIntent } from "./IntentFile.ts"
import { isRunning, self, withKeyLock } from "./KeyLock.ts"
import { type IntentPlace, settleIn } from "./IntentPlace.ts"
import * as SettledIntents from "./SettledIntents.ts"

/** Names the folder in a failure to write an open file. */
const failedIn =
  (directory: string) =>
  ({ code, message, path }: FileFault) =>
    new IntentStoreFailed({ detail: message, code: code ?? null, path: path ?? directory })

/** A draft, or an intent without a caller's key, is a leftover at this age, because no create takes this long. */
const leftOverMillis = 86_400_000

/** Maximum number of ended intents that one create removes. */
const maxPruned = 8

/** Whether the outcome of the create is final. */
const hasEnded = ({ fate, nodeId }: Intent) => nodeId !== null || fate === "reported"

/** Whether two intents of a key belong to one create, or the first was never sent. */
const isOneCreate = (one: Intent, other: Intent): boolean =>
  !isSent(one) || (one.newerThan === other.newerThan && one.spec === other.spec && one.name === other.name)

const suffix = ".json"
const isDrawn = (key: string) => key.startsWith(drawnKeyPrefix)
const isDraft = (name: string) => /\.(json|lock)\.[\w-]+\.new$/.test(name)

/** A process that has ended can no longer receive a reply. */
const withFate = (intent: OwnedIntent) =>
  mayBeAnswered(intent)
    ? Effect.map(isRunning(intent.owner), (running): Intent => (running === false ? unanswered(intent) : intent))
    : Effect.succeed<Intent>(intent)

/** The folders of a store, once they exist. */
interface Folder {
  readonly open: string
  readonly settled: ReturnType<typeof SettledIntents.make>
}

const removeOldDrafts = Effect.fnUntraced(
  function* (folder: string) {
    const now = yield* Clock.currentTimeMillis
    for (const name of (yield* withFiles((fs) => fs.readdir(folder))).filter(isDraft)) {
      if (yield* isLeftOver(`${folder}/${name}`, now)) {
        yield* withFiles((fs) => fs.rm(`${folder}/${name}`, { recursive: true, force: true }))
      }
    }
  },
  (removal) => Effect.ignore(removal)
)

/** Removes intents that nobody asks for: ended ones without a caller's key, and those that were never sent or were rejected. */
const removeEnded = Effect.fnUntraced(
  function* (folder: string) {
    const now = yield* Clock.currentTimeMillis
    for (const name of yield* withFiles((fs) => fs.readdir(folder))) {
      const file = `${folder}/${name}`
      const ageMillis = isDrawn(name) ? endedMillis : keptMillis
      if (!name.endsWith(suffix) || !(yield* isLeftOver(file, now, ageMillis))) continue
      const intent = yield* Effect.orElseSucceed(readIntent(file, name.slice(0, -suffix.length)), () => undefined)
      if (intent === undefined) continue
      if (isDrawn(name) ? hasEnded(intent) : !isSent(intent) || intent.fate === "refused") yield* removeFile(file)
    }
  },
  (removal) => Effect.ignore(removal)
)

const isLeftOver = (file: string, now: number, millis = leftOverMillis) =>
  withFiles((fs) => fs.lstat(file)).pipe(
    Effect.map(({ mtimeMs }) => now - mtimeMs > millis),
    Effect.orElseSucceed(() => false)
  )

/** Makes the folder, and processes the imports that a join of two accounts left in it. */
const prepare = Effect.fnUntraced(function* (directory: string, levels: number): Effect.fn.Return<Folder, FileFault> {
  const open = `${directory}/open`
  yield* makeOwnFolder(directory, levels)
  yield* makeOwnFolder(open)
  yield* withFiles((fs) => fs.access(open, fs.constants.W_OK))
  const settled = SettledIntents.make(directory, open)
  // With very many intents this may take longer than the call allows; it then continues in the background.
  yield* Fiber.join(yield* Effect.forkDetach(settled.sortOut))
  yield* removeOldDrafts(open)
  yield* removeEnded(open)
  return { open, settled }
})

/**
 * `find` returns the folder. It runs again after each preparation, because another process may have joined the folder with the folder of
 * another account.
 */
const make = (named: string, find: Effect.Effect<string, FileFault>, levels: number) => {
  const failed = failedIn(named)
  const turnOf = makeTurns()

  const prepareFound: Effect.Effect<Folder, FileFault> = Effect.gen(function* () {
    const directory = yield* find
    const folder = yield* prepare(directory, levels)
    return (yield* find) === directory ? folder : yield* prepareFound
  })
  let prepared: Folder | undefined
  /** Creates the folder at first use. */
  const ready = Effect.suspend(() =>
    prepared === undefined
      ? Effect.tap(prepareFound, (folder) => Effect.sync(() => (prepared = folder)))
      : Effect.succeed(prepared)
  )
  const once = <A, R>(use: (folder: Folder) => Effect.Effect<A, FileFault, R>) => Effect.flatMap(ready, use)
  /** Looks for the folder again if it is gone: it was removed, or the account was joined with another. */
  const again = <A, R>(use: (folder: Folder) => Effect.Effect<A, FileFault, R>) =>
    Effect.catchIf(
      once(use),
      ({ code }) => code === "ENOENT",
      () =>
        Effect.suspend(() => {
          prepared = undefined
          return once(use)
        })
    )
  const inFolder = <A, R>(use: (folder: Folder) => Effect.Effect<A, FileFault, R>) =>
    Effect.mapError(again(use), failed)

  const fileOf = ({ open }: Folder, key: string) => `${open}/${key}${suffix}`
  const keysIn = ({ open }: Folder) =>
    Effect.map(
      withFiles((fs) => fs.readdir(open)),
      (names) => names.filter((name) => name.endsWith(suffix)).map((name) => name.slice(0, -suffix.length))
    )

  const warned = new Set<string>()
  /** An unreadable file blocks only the callers of its key. */
  const readOrWarn = (folder: Folder, key: string) =>
    Effect.catch(readIntent(fileOf(folder, key), key), ({ message }) =>
      Effect.suspend(() => {
        if (warned.has(key)) return Effect.undefined
        warned.add(key)
        return Effect.as(Effect.logWarning(`${message}: it is left alone.`), undefined)
      })
    )

  /** Whether the process of an intent without a caller's key has ended, or must have by now. */
  const isAbandoned = (file: string, { owner }: OwnedIntent, now: number) =>
    Effect.flatMap(isRunning(owner), (running) =>
      running === undefined ? isLeftOver(file, now) : Effect.succeed(!running)
    )

  const takeAbandoned = Effect.fnUntraced(function* (folder: Folder) {
    const now = yield* Clock.currentTimeMillis
    const abandoned: Array<Intent> = []
    for (const key of (yield* keysIn(folder)).filter(isDrawn)) {
      const intent = yield* readOrWarn(folder, key)
      const file = fileOf(folder, key)
      if (intent === undefined || hasEnded(intent) || !(yield* isAbandoned(file, intent, now))) continue
      if (!isSent(intent)) {
        yield* removeFile(file)
        continue
      }
      abandoned.push(intent)
      // The create's node may still appear, and no concurrent create may claim that node. If this write fails, the intent is reported
      // again.
      yield* Effect.ignore(replaceDurably(file, JSON.stringify({ ...intent, fate: "reported" })))
    }
    return abandoned
  })

  /** Durable even if the create is not sent, because a half-written file would block its key. */
  const writeOpen = (folder: Folder, intent: Intent) =>
    Effect.flatMap(self, (owner) =>
      replaceDurably(fileOf(folder, intent.key), JSON.stringify({ ...intent, owner } satisfies OwnedIntent))
    )

  /** The intents under a caller's key that this process has sent and not settled. */
  const underWay = new Map<string, Intent>()

  const readUnsettled = Effect.fnUntraced(function* (folder: Folder) {
    const intents: Array<Intent> = []
    const found = yield* keysIn(folder)
    const missing = Array.from(underWay.keys()).filter((key) => !found.includes(key))
    for (const key of missing) yield* Effect.ignore(findIntent(folder, key))
    for (const key of [...found, ...missing]) {
      const intent = yield* readOrWarn(folder, key)
      if (intent !== undefined) intents.push(yield* withFate(intent))
    }
    return intents
  })

  const readNewest = Effect.fnUntraced(function* (folder: Folder) {
    const made = (yield* readUnsettled(folder)).map(({ nodeId }) => nodeId ?? 0)
    return Math.max(yield* folder.settled.newestNode, ...made)
  })

  /** Reads the open folder last, because an intent may move there from an imported folder in the meantime. */
  const findIntent = Effect.fnUntraced(function* (folder: Folder, key: string) {
    const found = yield* folder.settled.find(key)
    if (found !== undefined && found.intent.nodeId !== null) {
      // A process that was killed while settling the intent left it here, too. An intent of another create under the
      // key stays, because it comes from an account that was joined with this one and may have made a node.
      const open = yield* Effect.orElseSucceed(readIntent(fileOf(folder, key), key), () => undefined)
      if (open !== undefined && isOneCreate(open, found.intent)) yield* Effect.ignore(removeFile(fileOf(folder, key)))
      yield* Effect.ignore(folder.settled.renew({ ...found.intent, nodeId: found.intent.nodeId }, found.period))
      return Option.some<Intent>(found.intent)
    }
    const intent = (yield* readIntent(fileOf(folder, key), key)) ?? found?.intent
    if (intent !== undefined) return Option.some(yield* withFate(intent))
    const own = underWay.get(key)
    // The folder was removed in the meantime. Write the intent again, or the next process would think that the create was never sent.
    if (own !== undefined) yield* writeOpen(folder, own)
    return Option.fromUndefinedOr(own)
  })

  /** The end times of creates without a caller's key in this process, oldest first. */
  const endedAt = new Map<string, number>()
  /** A process may run for months, so it removes its own intents, a few at each create. */
  const pruneEnded = Effect.fnUntraced(
    function* (folder: Folder, ended: string) {
      const now = yield* monotonicMillis
      endedAt.delete(ended)
      endedAt.set(ended, now)
      let left = maxPruned
      for (const [key, at] of endedAt) {
        if (now - at <= endedMillis || left-- === 0) return
        endedAt.delete(key)
        yield* removeFile(fileOf(folder, key))
      }
    },
    (removal) => Effect.ignore(removal)
  )

  const save = Effect.fnUntraced(function* (folder: Folder, intent: Intent) {
    const { key, nodeId } = intent
    // Once an intent was written as sent, its request may have been sent, even if later writes fail.
    if (underWay.has(key)) underWay.set(key, intent)
    if (nodeId !== null && !isDrawn(key)) {
      // Settling an intent would make the account's folder again, so fail first if that folder is gone.
      yield* withFiles((fs) => fs.access(folder.open))
      yield* folder.settled.settle({ ...intent, owner: yield* self, nodeId })
      underWay.delete(key)
      return yield* removeFile(fileOf(folder, key))
    }
    yield* writeOpen(folder, intent)
    if (isSent(intent) && !isDrawn(key)) underWay.set(key, intent)
    else underWay.delete(key)
    if (isDrawn(key) && hasEnded(intent)) yield* pruneEnded(folder, key)
  })

  const store: IntentStore = {
    now: Effect.flatMap(bootClock, stampNow),
    unsettled: inFolder(readUnsettled),
    find: (key) => inFolder((folder) => findIntent(folder, key)),
    // The create is sent once this write succeeds, and relies on the lock. If the folder is gone, the lock is gone too, so the write must
    // fail.
    save: (intent) =>
      Effect.mapError(
        (isDrawn(intent.key) || intent.nodeId !== null ? again : once)((folder) => save(folder, intent)),
        failed
      ),
    remove: (key) =>
      Effect.andThen(
        Effect.sync(() => underWay.delete(key)),
        inFolder((folder) =>
          isDrawn(key)
            ? removeFile(fileOf(folder, key))
            : Effect.andThen(removeDurably(fileOf(folder, key)), folder.settled.remove(key))
        )
      ),
    newestNode: inFolder(readNewest),
    ownersOf: (ids) => inFolder(({ settled }) => settled.ownersOf(ids)),
    withKeyLock: (key) => (use) =>
      turnOf(key)(
        Effect.flatten(
          inFolder(({ open }) =>
            withKeyLock(`${open}/${key}.lock`, ({ confirm }) =>
              // Returns an exit, so that a failure of `use` is not mistaken for a failure of the lock.
              Effect.exit(use({ confirm: Effect.mapError(confirm, failed) }))
            )
          )
        )
      ),
    takeAbandoned: inFolder(takeAbandoned)
  }
  return { store, ready: Effect.asVoid(inFolder(Effect.succeed)) }
}

/** A folder that the program names must exist or be creatable. */
const inDirectory = (directory: string, levels = 1) => make(directory, Effect.succeed(directory), levels)

/** Berth creates all levels of `accounts/ID/creates`, with access for the user only. */
const ownLevels = 3

const inPlace = (place: IntentPlace) => make(`${place.accounts}/${place.id}`, settleIn(place), ownLevels)

const asLayer = ({ ready, store }: ReturnType<typeof make>): Layer.Layer<never, IntentStoreFailed> =>
  Layer.effect(IntentStore, Effect.as(ready, store))

/**
 * The store in a folder. The first use makes the folder, readable by the user alone, and fails if the folder cannot be used. `levels` says
 * how many folders must belong to the user: the folder, its parent, and so on. Default: 1.
 */
export const makeDirectory = (directory: string, levels?: number): IntentStore => inDirectory(directory, levels).store

/** The same as a layer, which fails if the folder cannot be used. */
export const layerDirectory = (directory: string, levels?: number): Layer.Layer<never, IntentStoreFailed> =>
  Layer.unwrap(Effect.sync(() => asLayer(inDirectory(directory, levels))))

/** The store of an account. Like `makeDirectory`, it makes its folder at the first use. */
export const makeAccount = (place: IntentPlace): IntentStore => inPlace(place).store

/** The same as a layer, which fails if the account's folder cannot be used. */
export const layerAccount = (place: IntentPlace): Layer.Layer<never, IntentStoreFailed> =>
  Layer.unwrap(Effect.sync(() => asLayer(inPlace(place))))
