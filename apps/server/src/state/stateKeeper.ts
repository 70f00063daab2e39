/**
 * Keeps the worlds of a server in a file that only this server uses: reads it at the start, and saves after changes and at the
 * end. Each save replaces the whole file, so a readable file exists whatever happens to the process.
 */
import { closeSync, constants, openSync } from "node:fs"
import { Clock, Data, Duration, Effect, Exit, FileSystem, Option, Path, Result } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { loadSqlite } from "@berthkit/sql-sqlite/loadSqlite"
import type { Catalogue } from "../world/catalogue.ts"
import type { Worlds } from "../world/Worlds.ts"
import { readState, writeState } from "./stateFile.ts"

/** Creates the lock's file for its user only. SQLite would create it for everyone, and would follow a link. */
const makeFile = (path: string): void => {
  const { O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants
  closeSync(openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600))
}

const lock = (path: string) => {
  makeFile(path)
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Held until the end; nothing is ever written to the database.
    database.exec("BEGIN IMMEDIATE")
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

const busy = 5

const whyNotLocked = (path: string, error: unknown): string => {
  const { code, errcode, message } = error as NodeJS.ErrnoException & { readonly errcode?: number }
  if (errcode === busy) return "another server uses it"
  if (errcode !== undefined) return `${path} is not a lock:  ${message}`
  if (code === "ELOOP") return `${path} is a link`
  if (code === "ENOENT") return "the directory does not exist"
  return code === "EACCES" || code === "EPERM" || code === "EROFS" ? "access was denied" : (code ?? message)
}

/**
 * Locks a state file until the scope closes; fails with the reason if another server holds the lock. The lock is a system lock
 * on an empty file next to the state file, held by SQLite, which is built into Node. The system releases it however the process
 * ends, so no stale lock needs to be detected or removed. The lock's file stays.
 */
const holdStateLock = (file: string) => {
  const path = `${file}.lock`
  return Effect.acquireRelease(
    Effect.try({ try: () => lock(path), catch: (error) => whyNotLocked(path, error) }),
    (database) => Effect.sync(() => database.close())
  )
}

/** How often changes are looked for. */
const noticeEveryMillis = 50

/** A change reaches the file within this time: a second, minus the delay of timers on a busy machine. */
const savedWithinMillis = 850

/**
 * The pause after a save that took this long. In the worst case a change just misses a save: it waits for the rest of that
 * save, for this pause, until it is noticed, and for the next save of the same length. Saves longer than 400 ms follow each
 * other without a pause.
 */
export const pauseAfterSaveMillis = (tookMillis: number): number =>
  Math.max(0, savedWithinMillis - noticeEveryMillis - 2 * tookMillis)

/** The worlds need more text than a string can hold. */
class TooMuchState extends Data.TaggedError("TooMuchState") {}

/** Why a state file cannot be used, in one line. */
class StateFailure extends Data.TaggedError("StateFailure")<{ readonly message: string }> {}

/**
 * Locks the file until the scope closes, and returns its real path: a save through a link would replace the link, and two
 * servers would not notice that they share a file.
 */
export const claimState = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const real = yield* Effect.option(fs.realPath(file))
  if (Option.isNone(real) && Option.isSome(yield* Effect.option(fs.readLink(file)))) {
    return yield* new StateFailure({
      message: `cannot use the state file ${file}: it is a link to a file that does not exist`
    })
  }
  const own = Option.getOrElse(real, () => file)
  // Reading a device may never end, and a pipe waits for a writer.
  if (Option.exists(yield* Effect.option(fs.stat(own)), ({ type }) => type !== "File")) {
    return yield* new StateFailure({ message: `cannot read the state file ${file}: it is not a file` })
  }
  yield* Effect.mapError(
    holdStateLock(own),
    (reason) => new StateFailure({ message: `cannot use the state file ${file}: ${reason}` })
  )
  return own
})

/** The worlds in the file; none if the file is missing or empty. A file that cannot be used stays unchanged. */
export const loadState = Effect.fnUntraced(function* (file: string, catalogue?: Catalogue) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* fs.readFileString(file).pipe(
    Effect.asSome,
    Effect.catchIf(
      ({ reason }) => reason._tag === "NotFound",
      () => Effect.succeedNone
    ),
    Effect.mapError((error) => new StateFailure({ message: `cannot read the state file ${file}: ${reasonOf(error)}` }))
  )
  if (Option.isNone(text) || text.value === "") return Option.none<Worlds>()
  const read = readState(text.value, yield* Clock.currentTimeMillis, catalogue)
  if (Result.isFailure(read)) {
    return yield* new StateFailure({ message: `the state file ${file} is damaged: ${read.failure}` })
  }
  return Option.some(read.success)
})

/**
 * Saves pending changes when the scope closes. The returned effect saves now, fails if that fails, and then saves after every
 * change.
 */
export const stateKeeper = Effect.fnUntraced(function* (worlds: Worlds, file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const save = Effect.provideService(
    Effect.provideService(saveState(worlds, file), FileSystem.FileSystem, fs),
    Path.Path,
    path
  )
  let saved = worlds.changes
  const saveChanges = Effect.suspend(() => {
    const { changes } = worlds
    return Effect.matchEffect(save, {
      // The next round tries again: a full disk may have room later.
      onFailure: (error) => Effect.logError(`The state file ${file} cannot be written: ${reasonOf(error)}`),
      onSuccess: () => Effect.sync(() => void (saved = changes))
    })
  })
  yield* Effect.addFinalizer(() => Effect.suspend(() => (worlds.changes === saved ? Effect.void : saveChanges)))
  const keep = Effect.gen(function* () {
    for (;;) {
      yield* Effect.sleep(noticeEveryMillis)
      if (worlds.changes === saved) continue
      const [took] = yield* Effect.timed(Effect.uninterruptible(saveChanges))
      yield* Effect.sleep(pauseAfterSaveMillis(Duration.toMillis(took)))
    }
  })
  return save.pipe(
    Effect.mapError(
      (error) => new StateFailure({ message: `cannot write the state file ${file}: ${reasonOf(error)}` })
    ),
    Effect.andThen(Effect.forkScoped(keep))
  )
})

/**
 * Writes a temporary file, flushes it to the disk, then renames it: `file` never holds half a state. Whatever is in the
 * temporary file's place is removed first, because it may be a link, or open to other users. No other server writes it, because
 * this one holds the lock.
 */
const saveState = (worlds: Worlds, file: string) =>
  Effect.scoped(
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const temporary = `${file}.tmp`
      const text = yield* Effect.try({ try: () => writeState(worlds), catch: () => new TooMuchState() })
      yield* fs.remove(temporary, { force: true })
      yield* Effect.addFinalizer((exit) =>
        Exit.isSuccess(exit) ? Effect.void : Effect.ignore(fs.remove(temporary, { force: true }))
      )
      const handle = yield* fs.open(temporary, { flag: "wx", mode: 0o600 })
      yield* handle.writeAll(Buffer.from(text))
      yield* handle.sync
      yield* fs.rename(temporary, file)
      // The new name is in the directory, so flush that as well.
      yield* Effect.flatMap(fs.open(path.dirname(path.resolve(file)), { flag: "r" }), ({ sync }) => sync)
    })
  )

const reasonOf = (error: PlatformError | TooMuchState): string => {
  if (error._tag === "TooMuchState") return "its worlds take more than 512 MB"
  const { reason } = error
  switch (reason._tag) {
    case "NotFound":
      return "the directory does not exist"
    case "PermissionDenied":
      return "access was denied"
    case "Busy":
      return "it is mounted by itself and cannot be replaced; mount its directory instead"
    case "BadArgument":
      return reason.message
    default:
      return reason._tag === "BadResource" ? "it is not a file" : (reason.description ?? reason._tag)
  }
}
