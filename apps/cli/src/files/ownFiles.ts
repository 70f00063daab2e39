/**
 * Berth's own files: written atomically, in folders that only the user can access, and changed by one process at a time. Also checks
 * whether a file could be written.
 */
import { dirname } from "node:path"
import { type KeyLock, withKeyLock } from "@berthkit/core/client/creation/KeyLock"
import { type FileFault, makeOwnFolder, replaceFile, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect } from "effect"

/** Berth creates both levels of the folder `accounts/HASH` itself, so that only the user has access to them. */
const accountLevels = 2

const makeAccountFolder = (folder: string): Effect.Effect<void, FileFault> => makeOwnFolder(folder, accountLevels)

/** Writes a file in an account's folder that is safe to lose. */
export const writeAccountFile = (path: string, text: string): Effect.Effect<void, FileFault> =>
  Effect.andThen(makeAccountFolder(dirname(path)), replaceFile(path, text))

/** Runs `use` while no other process holds the lock of this path. Failures of `use` are passed on; `faultOf` converts those of the lock. */
export const underFileLock = <A, E, R, F>(
  path: string,
  faultOf: (fault: FileFault) => F,
  use: (lock: KeyLock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | F, R> =>
  withKeyLock(path, (lock) => Effect.result(use(lock))).pipe(
    Effect.mapError(faultOf),
    Effect.flatMap(Effect.fromResult)
  )

/** Checks whether a file could be written: its folder, or the nearest existing parent, must accept new files. Writes nothing. */
export const ensureWritable = (path: string): Effect.Effect<void, FileFault> =>
  withFiles(async (fs) => {
    for (let folder = path; ;) {
      folder = folder.slice(0, folder.lastIndexOf("/")) || "/"
      const about = await fs.stat(folder).catch(() => undefined)
      if (about?.isDirectory() === false) throw Object.assign(new Error(), { code: "ENOTDIR" })
      if (about !== undefined) return fs.access(folder, fs.constants.W_OK)
      if (folder === "/") return
    }
  })
