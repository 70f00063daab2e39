/**
 * Files that processes share. They are written atomically, with access for their user only, and never through a link. They are read only
 * if they are plain files of plausible size. Files on which money depends are written durably: after the write they survive a power
 * failure. Needs `node:fs`, which is loaded on first use.
 */
import { Data, Effect, Option, Random } from "effect"
import { builtin } from "../options/builtin.ts"

/** A failure of the file system, with its code, if any, such as `ENOSPC`. */
export class FileFault extends Data.TaggedError("FileFault")<{
  readonly code?: string | undefined
  readonly message: string
  /** The file or folder, if the system names it. */
  readonly path?: string | undefined
}> {
  /**
   * The failure for an error that `node:fs` threw, or that Berth's own code threw between calls of `node:fs`.
   *
   * @internal
   */
  static readonly of = (error: unknown): FileFault => {
    if (error instanceof FileFault) return error
    const { code, message, path } = error as NodeJS.ErrnoException
    return new FileFault({ code, message, path })
  }
}

/** Berth's files are far smaller. */
const maxFileBytes = 1024 * 1024

const tryFile = <A>(run: () => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.tryPromise({ try: run, catch: FileFault.of })

type NodeFiles = typeof import("node:fs/promises")

/** `node:fs`; fails in a runtime without it. */
const loaded = Effect.suspend((): Effect.Effect<NodeFiles, FileFault> => {
  const fs = builtin("node:fs/promises")
  return fs === undefined ? Effect.fail(new FileFault({ message: "there is no node:fs here" })) : Effect.succeed(fs)
})

/**
 * Uses `node:fs`.
 *
 * @internal Published declarations leave it out: not every program that imports them has the types of Node.
 */
export const withFiles = <A>(use: (fs: NodeFiles) => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.flatMap(loaded, (fs) => tryFile(() => use(fs)))

const refuse = (path: string, why: string): never => {
  throw new FileFault({ message: `${path} ${why}`, path })
}

/**
 * Reads a file; none if it does not exist. Does not wait for a pipe, and refuses a file of more than `maxBytes`. Follows a link only if the
 * user named the file.
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
      return Effect.fail(isLink ? new FileFault({ message: `${path} is a link`, path }) : fault)
    })
  )

/** Writes a new file; fails with `EEXIST` if the file exists. With `sync`, the file is on the disk when this returns. */
const createFile = (path: string, text: string, sync = false): Effect.Effect<void, FileFault> =>
  withFiles(async (fs) => {
    const file = await fs.open(path, "wx", 0o600)
    try {
      await file.writeFile(text)
      if (sync) await file.sync()
    } catch (error) {
      // Remove the incomplete file, because it is worse than no file.
      await fs.rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  })

/** The name of a draft of a file, unique per process. */
export const draftOf = (path: string): Effect.Effect<string> =>
  Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (drawn) => `${path}.${drawn.toString(36)}.new`)

/** Codes of a folder that cannot be synced: on Windows, on some network and FUSE file systems, or because it is unreadable. */
const cannotSync = new Set(["EACCES", "EBADF", "EINVAL", "EISDIR", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EPERM"])

/** The folder of a path. */
const folderOf = (path: string): string => builtin("node:path")!.dirname(path)

/** Syncs the entries of a folder. Otherwise a power failure can undo the rename of a synced file. */
const syncFolder = async (fs: NodeFiles, folder: string): Promise<void> => {
  try {
    const handle = await fs.open(folder)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (!cannotSync.has((error as NodeJS.ErrnoException).code ?? "")) throw error
  }
}

const replace = (path: string, text: string, isDurable: boolean): Effect.Effect<void, FileFault> =>
  Effect.flatMap(draftOf(path), (draft) =>
    Effect.andThen(
      createFile(draft, text, isDurable),
      withFiles(async (fs) => {
        try {
          const there = await fs.lstat(path).catch((error: NodeJS.ErrnoException) => {
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
 * Replaces or creates a file that is safe to lose: readers see the old text or the new one, but a power failure may leave neither. Replaces
 * only plain files.
 */
export const replaceFile = (path: string, text: string): Effect.Effect<void, FileFault> => replace(path, text, false)

/** Like `replaceFile`, but when this returns, the new text is on the disk under its name. */
export const replaceDurably = (path: string, text: string): Effect.Effect<void, FileFault> => replace(path, text, true)

/** Succeeds with undefined if the file or folder does not exist, because another process may have removed it. */
export const unlessMissing = <A>(use: Effect.Effect<A, FileFault>): Effect.Effect<A | undefined, FileFault> =>
  Effect.catchIf(
    use,
    ({ code }) => code === "ENOENT",
    () => Effect.undefined
  )

/** Removes a file if it exists. Avoids `rm`, which reads the file's type twice. */
export const removeFile = (path: string): Effect.Effect<void, FileFault> =>
  unlessMissing(withFiles((fs) => fs.unlink(path)))

/** Like `removeFile`, but the file stays removed after a power failure. */
export const removeDurably = (path: string): Effect.Effect<void, FileFault> =>
  unlessMissing(
    withFiles(async (fs) => {
      await fs.unlink(path)
      await syncFolder(fs, folderOf(path))
    })
  )

/** The parent folder; the folder itself if it has none. */
const above = (folder: string): string => folder.replace(/[\\/]+[^\\/]*[\\/]*$/, "") || folder

/**
 * Creates a folder and its missing parents. Avoids the recursion of `node:fs`, which never ends if a folder cannot be
 * created although its parent exists, as on homes that are mounted on demand. `mkdir` creates one folder; `codeOf`
 * returns the POSIX code of a failure.
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
 * Creates a folder for the user only, and its missing parents. Leaves an existing folder unchanged. New folders are
 * always durable, because any of them may get a file that must not be lost. This costs little, because each folder is
 * created only once.
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

/** Mode bits that let other users write to a folder; in a sticky folder, only to their own files. */
const writableByOthers = 0o022
const sticky = 0o1000

/** Why a folder is not the user's alone; undefined if it is. */
const foreign = async (fs: NodeFiles, folder: string): Promise<string | undefined> => {
  const about = await fs.lstat(folder)
  if (about.isSymbolicLink()) return "is a link"
  if (!about.isDirectory()) return "is not a folder"
  const me = globalThis.process?.getuid?.()
  if (me === undefined) return undefined
  if (about.uid !== me) return "belongs to another user"
  if ((about.mode & writableByOthers) === 0 || (about.mode & sticky) !== 0) return undefined
  return "can be written by other users (chmod 700 corrects this)"
}

/**
 * Creates a folder for the user only, and its missing parents. Fails for a link or for a folder to which other users may write, because its
 * files decide whether a node is created. Checks this many `levels`: the folder, its parent, and so on.
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
