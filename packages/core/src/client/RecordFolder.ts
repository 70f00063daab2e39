/**
 * Keeps the records of an account in its folder, for the processes of one user on one machine. Each record is a file, which is written
 * atomically and durably. The locks are in the same folder.
 *
 * ```
 * accounts/ID/records/lease/run-1.json     a record: its kind is the folder, its key the name, its value the text
 * accounts/ID/records/_locks/lease.run-1.lock
 * accounts/HASH/records/fleet/…            records about nodes, which all API keys of the service and place share
 * ```
 */
import { Clock, Effect, Option, Random } from "effect"
import { fileRemedyOf } from "../domain/fileReason.ts"
import { folderOf, type IntentPlace } from "./creation/IntentPlace.ts"
import { lost, withKeyLock } from "./creation/KeyLock.ts"
import {
  FileFault,
  makeOwnFolder,
  readText,
  removeDurably,
  removeFile,
  replaceDurably,
  unlessMissing,
  withFiles
} from "./files/StateFiles.ts"
import { builtin } from "./options/builtin.ts"
import {
  isOfNodes,
  keyAt,
  millisOfKey,
  type RecordStore,
  StateFailed,
  type StateLock,
  type StateRecord
} from "./state/RecordStore.ts"

const suffix = ".json"

/** Berth makes all four levels of `accounts/ID/records/KIND`, readable by the user alone. */
const ownLevels = 4

/** How many files are read at once. */
const concurrency = 8

/** Names in the account's folder that an earlier version of Berth wrote and this version does not read. */
const earlier = ["leases", "proposals", "commitments.json", "fleets.json"]

/** The names in a folder; none if the folder does not exist. */
const namesIn = (folder: string) =>
  Effect.map(unlessMissing(withFiles((fs) => fs.readdir(folder))), (names = []) => names)

/**
 * Fails if a folder of the account has files of an earlier version. This version would ignore them, and their nodes may go on being billed.
 */
const ensureNoneEarlier = Effect.fnUntraced(function* (folders: ReadonlySet<string>) {
  for (const folder of folders) {
    const found = (yield* namesIn(folder)).find((name) => earlier.includes(name))
    if (found === undefined) continue
    const path = `${folder}/${found}`
    return yield* new FileFault({
      message: `${path} was written by an earlier version of berth; finish with that version what the file is about, then remove the file`,
      path
    })
  }
})

/** The keys of the records in a folder, sorted. */
const keysIn = (folder: string) =>
  Effect.map(namesIn(folder), (names) =>
    names
      .filter((name) => name.endsWith(suffix))
      .map((name) => name.slice(0, -suffix.length))
      .toSorted()
  )

const readAll = Effect.fnUntraced(function* (folder: string, after = "") {
  const found = yield* Effect.forEach(
    (yield* keysIn(folder)).filter((key) => key > after),
    (key) =>
      Effect.orElseSucceed(readText(`${folder}/${key}${suffix}`), () => Option.some("")).pipe(
        Effect.map((text) => Option.toArray(Option.map(text, (value): StateRecord => ({ key, value }))))
      ),
    { concurrency }
  )
  return found.flat()
})

/**
 * The hint never suggests another folder, because that folder would not have the account's open purchases, leases and
 * creates.
 */
const failed = (fault: FileFault) => {
  const remedy = fileRemedyOf(fault.code)
  return new StateFailed({
    detail: fault.message,
    code: fault.code ?? null,
    path: fault.path ?? null,
    hint:
      fault.code === undefined
        ? "See: berth doctor"
        : remedy === undefined
          ? "Make that folder readable and writable for you alone; see: berth doctor"
          : `${remedy}, and run the same command again.`,
    isLockLost: fault === lost
  })
}

/** The store of an account. Each use looks up the folder again, because another process may join the account with another account. */
export const recordsOf = (place: IntentPlace): RecordStore => {
  const { accounts, id, key, origin } = place
  let isChecked = false
  const own = Effect.gen(function* () {
    const folder = yield* folderOf(place)
    if (!isChecked) yield* ensureNoneEarlier(new Set([folder, `${accounts}/${id}`, `${accounts}/${key ?? id}`]))
    isChecked = true
    return folder
  })
  /** The folder that all API keys of the service and place share. */
  const ofAllKeys = () => {
    const hash = builtin("node:crypto")!.createHash("sha256").update(`nodes ${origin}`).digest("hex")
    return `${accounts}/${hash.slice(0, 32)}`
  }
  /** Runs `use` with the folder for records of this kind, or for the lock of this name. */
  const inFolder = <A>(name: string, use: (folder: string) => Effect.Effect<A, FileFault>) =>
    Effect.mapError(
      Effect.flatMap(own, (folder) => use(`${isOfNodes(name) ? ofAllKeys() : folder}/records`)),
      failed
    )
  const fileOf = (records: string, kind: string, key: string) => `${records}/${kind}/${key}${suffix}`
  const put = (kind: string, key: string, value: string, lock?: StateLock) =>
    Effect.andThen(
      lock?.confirm ?? Effect.void,
      inFolder(kind, (records) =>
        Effect.andThen(
          makeOwnFolder(`${records}/${kind}`, ownLevels),
          replaceDurably(fileOf(records, kind, key), value)
        )
      )
    )
  return {
    placeOf: (kind, key) => inFolder(kind, (records) => Effect.succeed(fileOf(records, kind, key))),
    statementOf: () => Effect.undefined,
    get: (kind, key) => inFolder(kind, (records) => readText(fileOf(records, kind, key))),
    list: (kind, after) => inFolder(kind, (records) => readAll(`${records}/${kind}`, after)),
    elsewhere: (kind) =>
      Effect.gen(function* () {
        const folder = yield* own
        const others = (yield* namesIn(accounts)).map((name) => `${accounts}/${name}`).filter((each) => each !== folder)
        const found = yield* Effect.forEach(others, (each) =>
          Effect.orElseSucceed(readAll(`${each}/records/${kind}`), (): ReadonlyArray<StateRecord> => [])
        )
        return found.flat().filter(({ value }) => value !== "")
      }).pipe(Effect.mapError(failed)),
    put,
    remove: (kind, key, lock) =>
      Effect.andThen(
        lock?.confirm ?? Effect.void,
        inFolder(kind, (records) => removeDurably(fileOf(records, kind, key)))
      ),
    append: Effect.fnUntraced(function* (kind, value, keep) {
      const keys = yield* inFolder(kind, (records) => keysIn(`${records}/${kind}`))
      // The new key sorts after the last one, even if the clock was set back.
      const millis = Math.max(yield* Clock.currentTimeMillis, millisOfKey(keys.at(-1) ?? "0") + 1)
      const drawn = yield* Random.nextIntBetween(36 ** 5, 36 ** 6)
      const key = `${keyAt(millis)}-${drawn.toString(36)}`
      yield* put(kind, key, value)
      for (const old of keys.slice(0, Math.max(0, keys.length + 1 - keep))) {
        yield* inFolder(kind, (records) => removeFile(fileOf(records, kind, old)))
      }
      return key
    }),
    withLock: (name) => (use) =>
      Effect.flatMap(
        inFolder(name, (records) => Effect.as(makeOwnFolder(`${records}/_locks`, ownLevels), `${records}/_locks`)),
        (locks) =>
          withKeyLock(`${locks}/${name}.lock`, ({ confirm }) =>
            // Returns an exit, so that a failure of `use` is not mistaken for a failure of the lock.
            Effect.exit(use({ name, confirm: Effect.mapError(confirm, failed) }))
          ).pipe(Effect.mapError(failed), Effect.flatten)
      )
  }
}
