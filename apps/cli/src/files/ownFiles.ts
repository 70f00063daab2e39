/**
 * Files that berth keeps for its user: written whole, in folders of the user alone, and changed by one process at a time; and whether one could
 * be written at all.
 */
import { dirname } from "node:path"
import { type KeyLock, withKeyLock } from "@berthkit/core/client/creation/KeyLock"
import {
  type FileFault,
  makeOwnFolder,
  readText,
  removeDurably,
  replaceDurably,
  replaceFile,
  withFiles
} from "@berthkit/core/client/files/StateFiles"
import { Effect, type Option } from "effect"

/** Of the path `accounts/HASH` all is made by Berth, for the user alone. */
const accountLevels = 2

export const makeAccountFolder = (folder: string): Effect.Effect<void, FileFault> =>
  makeOwnFolder(folder, accountLevels)

/** Writes a file in the folder of an account that is safe to lose. */
export const writeAccountFile = (path: string, text: string): Effect.Effect<void, FileFault> =>
  Effect.andThen(makeAccountFolder(dirname(path)), replaceFile(path, text))

/** Runs `use` while no other process has the lock of this path. Its failures are its own; `faultOf` makes that of the lock. */
export const underLock = <A, E, R, F>(
  path: string,
  faultOf: (fault: FileFault) => F,
  use: (lock: KeyLock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | F, R> =>
  withKeyLock(path, (lock) => Effect.result(use(lock))).pipe(
    Effect.mapError(faultOf),
    Effect.flatMap(Effect.fromResult)
  )

/** The files of a folder in that of an account, by their names. `faultOf` makes their failures. */
export const filesIn = <F>(folder: Effect.Effect<string, FileFault>, faultOf: (fault: FileFault) => F) => {
  const inFolder = <A>(use: (folder: string) => Effect.Effect<A, FileFault>): Effect.Effect<A, F> =>
    Effect.mapError(Effect.flatMap(folder, use), faultOf)
  const makeFolder = inFolder((path) => makeOwnFolder(path, accountLevels + 1))
  return {
    /** Makes the folder, which a write does by itself and a lock does not. */
    makeFolder,
    /** None where there is no such folder. */
    names: inFolder((path) =>
      Effect.catchIf(
        withFiles((fs) => fs.readdir(path)),
        ({ code }) => code === "ENOENT",
        () => Effect.succeed<Array<string>>([])
      )
    ),
    read: (name: string): Effect.Effect<Option.Option<string>, F> => inFolder((path) => readText(`${path}/${name}`)),
    /** It is on the disk when this ends. */
    write: (name: string, text: string): Effect.Effect<void, F> =>
      Effect.andThen(
        makeFolder,
        inFolder((path) => replaceDurably(`${path}/${name}`, text))
      ),
    /** Removes a file durably: a power failure does not bring it back. */
    remove: (name: string): Effect.Effect<void, F> => inFolder((path) => removeDurably(`${path}/${name}`)),
    /** Runs `use` while no other process has this lock. */
    locked: <A, E, R>(name: string, use: Effect.Effect<A, E, R>): Effect.Effect<A, E | F, R> =>
      Effect.flatMap(inFolder(Effect.succeed), (path) => underLock(`${path}/${name}.lock`, faultOf, () => use))
  }
}

/** Whether a file could be written: its folder, or the nearest one above it that exists, takes new files. Writes nothing. */
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
