/**
 * Keeps the worlds of a server in a file that only this server uses. It reads the file at the start, and saves after changes and at the
 * end. Each save replaces the whole file, so there is always a readable file, even if the process is killed.
 */
import { closeSync, constants, openSync } from "node:fs"
import { Clock, Data, Duration, Effect, Exit, FileSystem, Option, Path, Result } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { loadSqlite } from "@berthkit/sql-sqlite/loadSqlite"
import type { Catalogue } from "../world/catalogue.ts"
import type { Worlds } from "../world/Worlds.ts"
import { readState, writeState } from "./stateFile.ts"

/**
 * Creates the lock's file so that only its user can read it, and refuses a link. SQLite would create it for everyone, and
 * would follow a link.
 */
const makeFile = (path: string): void => {
  const { O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants
  closeSync(openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600))
}

const lock = (path: string) => {
  makeFile(path)
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // This transaction is the lock, and stays open until the end. Nothing is ever written to the database.
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
  if (errcode !== undefined) return `${path} is not a lock: ${message}`
  if (code === "ELOOP") return `${path} is a link`
  if (code === "ENOENT") return "the directory does not exist"
  return code === "EACCES" || code === "EPERM" || code === "EROFS" ? "access was denied" : (code ?? message)
}

/**
 * Locks a state file until the scope closes; fails with the reason if another server holds the lock. The lock is a lock of the operating
 * system on an empty file next to the state file; SQLite holds it, because SQLite is built into Node. The system releases the lock
 * whenever the process ends, even by a crash, so nobody has to detect or remove a stale lock. The lock's file stays.
 */
const holdStateLock = (file: string) => {
  const path = `${file}.lock`
  return Effect.acquireRelease(
    Effect.try({ try: () => lock(path), catch: (error) => whyNotLocked(path, error) }),
    (database) => Effect.sync(() => database.close())
  )
}

/** Pause between two checks for changes. */
const noticeEveryMillis = 50

/** A change has to be in the file within this time: a second, minus the delay of timers on a busy machine. */
const savedWithinMillis = 850

/**
 * The pause after a save that took `tookMillis`. In the worst case, a change comes just after a save has begun. Then it
 * waits for that save, for this pause, for the next check, and for the next save, which takes as long. If saves take
 * longer than 400 ms, they follow each other without a pause.
 */
export const pauseAfterSaveMillis = (tookMillis: number): number =>
  Math.max(0, savedWithinMillis - noticeEveryMillis - 2 * tookMillis)

/** The text of all worlds is longer than a string can be. */
class TooMuchState extends Data.TaggedError("TooMuchState") {}

/** Why a state file cannot be used, in one line. */
class StateFailure extends Data.TaggedError("StateFailure")<{ readonly message: string }> {}

/**
 * Locks the file until the scope closes, and returns its real path. With the path of a link, a save would replace the link,
 * and two servers would not notice that they share a file.
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
  // Accept only a regular file: reading a device may never end, and reading a pipe waits for a writer.
  if (Option.exists(yield* Effect.option(fs.stat(own)), ({ type }) => type !== "File")) {
    return yield* new StateFailure({ message: `cannot read the state file ${file}: it is not a file` })
  }
  yield* Effect.mapError(
    holdStateLock(own),
    (reason) => new StateFailure({ message: `cannot use the state file ${file}: ${reason}` })
  )
  return own
})

/** The worlds in the file; none if the file is missing or empty. If the file is not usable, this fails and leaves the file unchanged. */
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
 * Saves pending changes when the scope closes. The returned effect saves at once and fails if that is not possible; from
 * then on, it saves after every change.
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
      // Only log this, because the next round tries again: a full disk may have room later.
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
 * Writes a temporary file, flushes it to the disk, and then renames it, so `file` never holds half a state. If there is
 * already something at the path of the temporary file, it is removed first, because it may be a link or readable for other
 * users. It cannot belong to another server, because this server holds the lock.
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
      // Flush the directory as well, because it holds the new name.
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
