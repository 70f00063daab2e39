/**
 * The files that processes share: written whole or not at all, for their user alone, never through a link, and read only
 * where they are plain files of a size that makes sense. Works where there is `node:fs`, which is loaded when it is used.
 */
import { Effect, Option, Random } from "effect"
import { above, makeFolders } from "./makeFolders.ts"

/** Why something of the file system could not be done: its code where it has one, such as `ENOSPC`. */
export interface FileFault {
  readonly code?: string | undefined
  readonly message: string
}

/** Everything kept in one of these files is far smaller. */
const maxFileBytes = 1024 * 1024

const tryFile = <A>(run: () => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.tryPromise({ try: run, catch: (error) => error as FileFault })

/** `node:fs`; fails where the runtime has none. */
const loaded = Effect.mapError(
  tryFile(() => import("node:fs/promises")),
  (): FileFault => ({ message: "there is no node:fs here" })
)

type NodeFiles = Effect.Success<typeof loaded>

/** Uses `node:fs`. */
export const withFiles = <A>(use: (fs: NodeFiles) => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.flatMap(loaded, (fs) => tryFile(() => use(fs)))

const refuse = (message: string): never => {
  throw { message } satisfies FileFault
}

/** The text of a file; none when it is not there. Follows no link, and waits for no pipe. */
export const readText = (path: string): Effect.Effect<Option.Option<string>, FileFault> =>
  withFiles(async (fs) => {
    const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = fs.constants
    const file = await fs.open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const about = await file.stat()
      if (!about.isFile()) refuse(`${path} is not a file`)
      if (about.size > maxFileBytes) refuse(`${path} is too large`)
      return Option.some(await file.readFile("utf8"))
    } finally {
      await file.close()
    }
  }).pipe(
    Effect.catch((fault) => {
      if (fault.code === "ENOENT") return Effect.succeedNone
      return Effect.fail<FileFault>(fault.code === "ELOOP" ? { message: `${path} is a link` } : fault)
    })
  )

/** Writes a file that must not be there yet: `EEXIST` where it is. With `sync` it is on the disk when this ends. */
const createFile = (path: string, text: string, sync = false): Effect.Effect<void, FileFault> =>
  withFiles(async (fs) => {
    const file = await fs.open(path, "wx", 0o600)
    try {
      await file.writeFile(text)
      if (sync) await file.sync()
    } catch (error) {
      // Half of it is worse than none.
      await fs.rm(path, { force: true })
      throw error
    } finally {
      await file.close()
    }
  })

/** The name of a draft of a file: no two processes ever write the same. */
export const draftOf = (path: string): Effect.Effect<string> =>
  Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (drawn) => `${path}.${drawn.toString(36)}.new`)

/** Puts the text in place of the file, or makes it: readers see the old text or the new one. Only a plain file is replaced. */
export const replaceFile = (path: string, text: string, sync = false): Effect.Effect<void, FileFault> =>
  Effect.flatMap(draftOf(path), (draft) =>
    Effect.andThen(
      createFile(draft, text, sync),
      withFiles(async (fs) => {
        try {
          const there = await fs.lstat(path).catch((error: FileFault) => {
            if (error.code !== "ENOENT") throw error
          })
          if (there?.isFile() === false) refuse(`${path} is not a file`)
          await fs.rename(draft, path)
        } catch (error) {
          await fs.rm(draft, { force: true })
          throw error
        }
      })
    )
  )

/** Removes a file, if it is there. */
export const removeFile = (path: string): Effect.Effect<void, FileFault> =>
  withFiles((fs) => fs.rm(path, { force: true }))

/** Who may change what is in a folder: its owner, and with these bits others, who keep to their own files where it is sticky. */
const writableByOthers = 0o022
const sticky = 0o1000

/** Why a folder is not the user's alone; undefined where it is. */
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
 * Makes a folder for the user alone, and those above it, where they are not there. Fails for one that is a link or that
 * others may write to: what is kept there decides whether a node is made. So many `levels` are the user's own: the folder, the
 * one above it, and so on.
 */
export const makeOwnFolder = (folder: string, levels = 1): Effect.Effect<void, FileFault> =>
  Effect.andThen(
    makeFolders(
      folder,
      (one) => withFiles((fs) => fs.mkdir(one, { mode: 0o700 })),
      ({ code }) => code
    ),
    withFiles(async (fs) => {
      for (let level = 0, own = folder; level < levels; level++, own = above(own)) {
        const why = await foreign(fs, own)
        if (why !== undefined) refuse(`${own} ${why}`)
      }
    })
  )
