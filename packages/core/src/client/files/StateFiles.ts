/**
 * The files that processes share: written whole or not at all, for their user alone, never through a link, and read only if
 * they are plain files of a plausible size. Files that money depends on are written durably: once the write has ended, they survive a power
 * failure. Needs `node:fs`, which is loaded on first use.
 */
import { Effect, Option, Random } from "effect"
import { builtin } from "../options/builtin.ts"

/** A failure of the file system, with its code where it has one, such as `ENOSPC`. */
export interface FileFault {
  readonly code?: string | undefined
  readonly message: string
  /** The file or folder, where the system names it. */
  readonly path?: string | undefined
}

/** The files of Berth are far smaller. */
const maxFileBytes = 1024 * 1024

const tryFile = <A>(run: () => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.tryPromise({ try: run, catch: (error) => error as FileFault })

type NodeFiles = typeof import("node:fs/promises")

/** `node:fs`; fails in a runtime without it. */
const loaded = Effect.suspend((): Effect.Effect<NodeFiles, FileFault> => {
  const fs = builtin("node:fs/promises")
  return fs === undefined ? Effect.fail({ message: "there is no node:fs here" }) : Effect.succeed(fs)
})

/**
 * Uses `node:fs`.
 *
 * @internal Published declarations leave it out: not every program that imports them has the types of Node.
 */
export const withFiles = <A>(use: (fs: NodeFiles) => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.flatMap(loaded, (fs) => tryFile(() => use(fs)))

const refuse = (path: string, why: string): never => {
  throw { message: `${path} ${why}`, path } satisfies FileFault
}

/**
 * The text of a file; none when it does not exist. Does not wait for a pipe, and refuses a file of more than `maxBytes`. Follows a link only
 * where the user names the file.
 */
export const readText = (
  path: string,
  maxBytes = maxFileBytes,
  followsLinks = false
): Effect.Effect<Option.Option<string>, FileFault> =>
  withFiles(async (fs) => {
    const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants
    const file = await fs.open(path, O_RDONLY | (followsLinks ? 0 : O_NOFOLLOW) | O_NONBLOCK)
    try {
      const about = await file.stat()
      if (!about.isFile()) refuse(path, "is not a file")
      if (about.size > maxBytes) refuse(path, "is too large")
      return Option.some(await file.readFile("utf8"))
    } finally {
      await file.close()
    }
  }).pipe(
    Effect.catch((fault) => {
      if (fault.code === "ENOENT") return Effect.succeedNone
      const isLink = fault.code === "ELOOP" && !followsLinks
      return Effect.fail<FileFault>(isLink ? { message: `${path} is a link`, path } : fault)
    })
  )

/** Writes a new file; `EEXIST` when it exists. With `sync` it is on the disk when this ends. */
const createFile = (path: string, text: string, sync = false): Effect.Effect<void, FileFault> =>
  withFiles(async (fs) => {
    const file = await fs.open(path, "wx", 0o600)
    try {
      await file.writeFile(text)
      if (sync) await file.sync()
    } catch (error) {
      // Half a file is worse than none.
      await fs.rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  })

/** The name of a draft of a file, different in every process. */
export const draftOf = (path: string): Effect.Effect<string> =>
  Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (drawn) => `${path}.${drawn.toString(36)}.new`)

/** Codes that mean that a folder cannot be synced: on Windows, on some network and FUSE file systems, or because it cannot be read. */
const cannotSync = new Set(["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EPERM"])

/** The folder that a path is in. */
const folderOf = (path: string): string => builtin("node:path")!.dirname(path)

/** Syncs the names in a folder. Without this a power failure can undo the rename of a file that was synced. */
const syncFolder = async (fs: NodeFiles, folder: string): Promise<void> => {
  try {
    const handle = await fs.open(folder)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (!cannotSync.has((error as FileFault).code ?? "")) throw error
  }
}

const replace = (path: string, text: string, isDurable: boolean): Effect.Effect<void, FileFault> =>
  Effect.flatMap(draftOf(path), (draft) =>
    Effect.andThen(
      createFile(draft, text, isDurable),
      withFiles(async (fs) => {
        try {
          const there = await fs.lstat(path).catch((error: FileFault) => {
            if (error.code !== "ENOENT") throw error
          })
          if (there?.isFile() === false) refuse(path, "is not a file")
          await fs.rename(draft, path)
        } catch (error) {
          await fs.rm(draft, { force: true })
          throw error
        }
        if (isDurable) await syncFolder(fs, folderOf(path))
      })
    )
  )

/**
 * Replaces or makes a file that is safe to lose: readers see the old text or the new one, but a power failure may leave neither. Only a
 * plain file is replaced.
 */
export const replaceFile = (path: string, text: string): Effect.Effect<void, FileFault> => replace(path, text, false)

/** Like `replaceFile`, but when it ends the new text is on the disk under its name. */
export const replaceDurably = (path: string, text: string): Effect.Effect<void, FileFault> => replace(path, text, true)

/** Undefined where the file or folder is not there, or not any more: another process was faster. */
export const unlessMissing = <A>(use: Effect.Effect<A, FileFault>): Effect.Effect<A | undefined, FileFault> =>
  Effect.catchIf(
    use,
    ({ code }) => code === "ENOENT",
    () => Effect.undefined
  )

/** Removes a file, if it exists. Not by `rm`, which asks twice what it is. */
export const removeFile = (path: string): Effect.Effect<void, FileFault> =>
  unlessMissing(withFiles((fs) => fs.unlink(path)))

/** Like `removeFile`, but once it has ended the file stays removed after a power failure. */
export const removeDurably = (path: string): Effect.Effect<void, FileFault> =>
  unlessMissing(
    withFiles(async (fs) => {
      await fs.unlink(path)
      await syncFolder(fs, folderOf(path))
    })
  )

/** The folder above; the folder itself when it has none. */
const above = (folder: string): string => folder.replace(/[\\/]+[^\\/]*[\\/]*$/, "") || folder

/**
 * Makes a folder, and missing ones above it. Not by the recursion of `node:fs`, which never ends where a folder cannot be made
 * although the one above it exists, as where homes are mounted on demand. `mkdir` makes one folder; `codeOf` returns the POSIX code of its
 * failures.
 */
export const makeFolders = <E, R>(
  folder: string,
  mkdir: (folder: string) => Effect.Effect<void, E, R>,
  codeOf: (error: E) => string | undefined
): Effect.Effect<void, E, R> => {
  const makeOne = (folder: string) =>
    Effect.catch(mkdir(folder), (error) => (codeOf(error) === "EEXIST" ? Effect.void : Effect.fail(error)))
  const make = (folder: string): Effect.Effect<void, E, R> =>
    Effect.catch(makeOne(folder), (error) =>
      codeOf(error) === "ENOENT" && above(folder) !== folder
        ? Effect.andThen(make(above(folder)), makeOne(folder))
        : Effect.fail(error)
    )
  return make(folder)
}

/**
 * Makes a folder that only the user may use, and missing folders above it. An existing folder is left as it is. Always durable: a file
 * that must not be lost may go into any of them, and each is made only once.
 */
export const makePrivateFolder = (folder: string): Effect.Effect<void, FileFault> =>
  makeFolders(
    folder,
    (one) =>
      withFiles(async (fs) => {
        await fs.mkdir(one, { mode: 0o700 })
        await syncFolder(fs, folderOf(one))
      }),
    ({ code }) => code
  )

/** With these bits other users may write to a folder; where it is sticky, only to their own files. */
const writableByOthers = 0o022
const sticky = 0o1000

/** Why a folder is not the user's alone; undefined when it is. */
const foreign = async (fs: NodeFiles, folder: string): Promise<string | undefined> => {
  const about = await fs.lstat(folder)
  if (about.isSymbolicLink()) return "is a link"
  if (!about.isDirectory()) return "is not a folder"
  const me = globalThis.process?.getuid?.()
  if (me === undefined) return undefined
  if (about.uid !== me) return "belongs to another user"
  if ((about.mode & writableByOthers) === 0 || (about.mode & sticky) !== 0) return undefined
  return "can be written by other users (chmod 700 puts this right)"
}

/**
 * Makes a folder for the user alone, and missing ones above it. Fails for one that is a link or that other users may write to:
 * its files decide whether a node is made. Checks so many `levels`: the folder, the one above it, and so on.
 */
export const makeOwnFolder = (folder: string, levels = 1): Effect.Effect<void, FileFault> =>
  Effect.andThen(
    makePrivateFolder(folder),
    withFiles(async (fs) => {
      for (let level = 0, own = folder; level < levels; level++, own = above(own)) {
        const why = await foreign(fs, own)
        if (why !== undefined) refuse(own, why)
      }
    })
  )
