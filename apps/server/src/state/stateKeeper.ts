/**
 * Keeps the worlds of a server in a file, and the file to one server: read at the start, saved after changes and at the end. A save
 * replaces the file as a whole, so whatever happens to the process, there is always one that can be read.
 */
import { closeSync, constants, openSync } from "node:fs"
import { Clock, Data, Duration, Effect, Exit, FileSystem, Option, Path, Result } from "effect"
import type { PlatformError } from "effect/PlatformError"
import { loadSqlite } from "@berthkit/sql-sqlite/loadSqlite"
import type { Catalogue } from "../world/catalogue.ts"
import type { Worlds } from "../world/Worlds.ts"
import { readState, writeState } from "./stateFile.ts"

/** Makes the lock's file for its user alone. SQLite would make it for all, and through a link. */
const makeFile = (path: string): void => {
  const { O_CREAT, O_NOFOLLOW = 0, O_RDWR } = constants
  closeSync(openSync(path, O_CREAT | O_NOFOLLOW | O_RDWR, 0o600))
}

const lock = (path: string) => {
  makeFile(path)
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 0 })
  try {
    // Held until the end, and nothing is ever written in it.
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
  if (errcode === busy) return "another server keeps its worlds in it"
  if (errcode !== undefined) return `${path} is no lock: ${message}`
  if (code === "ELOOP") return `${path} is a link`
  if (code === "ENOENT") return "there is no such directory"
  return code === "EACCES" || code === "EPERM" || code === "EROFS" ? "it may not be accessed" : (code ?? message)
}

/**
 * Holds the lock of a state file for as long as the scope lasts; fails with the reason where another server does. The lock is that of the
 * system on an empty file beside it, held by SQLite, which Node has built in: it ends with its process, however that ends, so that nothing
 * has to be judged or cleared away. The file stays.
 */
const holdStateLock = (file: string) => {
  const path = `${file}.lock`
  return Effect.acquireRelease(
    Effect.try({ try: () => lock(path), catch: (error) => whyNotLocked(path, error) }),
    (database) => Effect.sync(() => database.close())
  )
}

/** How soon a change is noticed. */
const noticeEveryMillis = 50

/** A change is in the file after so long at most: a second, less what timers are late on a busy machine. */
const savedWithinMillis = 850

/**
 * How long to wait after a save that took so long. A change that just missed it waits for the rest of it, for this, to be noticed,
 * and for the next save, which will take as long. Saves of more than 400 ms follow one another, and the change waits for two of them.
 */
export const pauseAfterSaveMillis = (tookMillis: number): number =>
  Math.max(0, savedWithinMillis - noticeEveryMillis - 2 * tookMillis)

/** The worlds are more text than a string can be. */
class TooMuchState extends Data.TaggedError("TooMuchState") {}

/** Why a state file cannot be used, in one line. */
class StateFailure extends Data.TaggedError("StateFailure")<{ readonly message: string }> {}

/**
 * Keeps the file to this server for as long as the scope lasts, and gives its own path: through a link a save would replace the link, and two
 * servers would not see that they share a file.
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
  // A device is read without an end, and a pipe waits for a writer.
  if (Option.exists(yield* Effect.option(fs.stat(own)), ({ type }) => type !== "File")) {
    return yield* new StateFailure({ message: `cannot read the state file ${file}: it is no file` })
  }
  yield* Effect.mapError(
    holdStateLock(own),
    (reason) => new StateFailure({ message: `cannot use the state file ${file}: ${reason}` })
  )
  return own
})

/** The worlds in the file; none when there is no file yet, or an empty one. A file that cannot be used is left as it is. */
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
 * Saves what has changed when the scope closes. What it gives saves now, failing when that does, and then after every
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
 * A temporary file, its bytes on the disk, then its name: there is no instant at which `file` is half a state. What stands where the
 * temporary file is to be goes first: it may be a link, or open to others. No other server writes it: this one has the lock.
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
      // The new name is in the directory, which has to reach the disk as well.
      yield* Effect.flatMap(fs.open(path.dirname(path.resolve(file)), { flag: "r" }), ({ sync }) => sync)
    })
  )

const reasonOf = (error: PlatformError | TooMuchState): string => {
  if (error._tag === "TooMuchState") return "its worlds take more than 512 MB"
  const { reason } = error
  switch (reason._tag) {
    case "NotFound":
      return "there is no such directory"
    case "PermissionDenied":
      return "it may not be accessed"
    case "Busy":
      return "it is mounted by itself and cannot be replaced; mount its directory instead"
    case "BadArgument":
      return reason.message
    default:
      return reason._tag === "BadResource" ? "it is no file" : (reason.description ?? reason._tag)
  }
}
