/**
 * Gives a program in virtual time the machine's files through `node:fs`. Every call is done at once and in this thread, because waiting
 * for the threads of `node:fs` would take half the time of a test or more. A disk can fail, and a killed program no longer reads or
 * writes.
 */
import fs, { type PathLike } from "node:fs"
import type { FileHandle } from "node:fs/promises"

type Files = typeof import("node:fs/promises")

/** The kind of a call: it takes space, only changes names, reads a string, or looks at names. */
export type Access = "fills" | "changes" | "reads" | "looks"

export const isWriting = (access: Access): boolean => access === "fills" || access === "changes"

const { O_RDWR, O_WRONLY } = fs.constants

const accessOf = (flags: string | number): Access => {
  const isReading = typeof flags === "number" ? (flags & (O_WRONLY | O_RDWR)) === 0 : flags === "r"
  return isReading ? "reads" : "fills"
}

/**
 * Both of Node's modules for files, for one program. `onAccess` runs before each call, and returns the code of its failure, or undefined if
 * it succeeds.
 */
export const disksOf = (
  program: { readonly isDead: boolean },
  onAccess: (access: Access, path: string) => string | undefined
) => {
  /** Does a call now; throws if the disk fails. */
  const now = <A>(access: Access, path: unknown, use: () => A): A => {
    const code = onAccess(access, String(path))
    if (code === undefined) return use()
    throw Object.assign(new Error(`${code}: the disk fails, '${String(path)}'`), { code, path })
  }
  const done = <A>(access: Access, path: unknown, use: () => A): Promise<A> => {
    if (program.isDead) return new Promise(() => {})
    return new Promise((resolve, reject) => {
      try {
        const result = now(access, path, use)
        // The call itself may have ended the program.
        if (!program.isDead) resolve(result)
      } catch (error) {
        if (!program.isDead) reject(error as Error)
      }
    })
  }
  const through =
    <Args extends ReadonlyArray<any>, A>(access: Access, call: (...args: Args) => A) =>
    (...args: Args): Promise<A> =>
      done(access, args[0], () => call(...args))

  const handleOf = (descriptor: number, path: PathLike) =>
    ({
      stat: () => done("looks", path, () => fs.fstatSync(descriptor)),
      readFile: (encoding: BufferEncoding) => done("reads", path, () => fs.readFileSync(descriptor, encoding)),
      writeFile: (text: string) => done("fills", path, () => fs.writeFileSync(descriptor, text)),
      write: (text: string, at: number) => done("fills", path, () => fs.writeSync(descriptor, text, at)),
      // No test of virtual time loses what was written.
      sync: () => done("looks", path, () => {}),
      close: async () => fs.closeSync(descriptor)
    }) as unknown as FileHandle

  const promises = {
    ...fs.promises,
    open: (path: PathLike, flags: string | number = "r", mode?: fs.Mode) =>
      done(accessOf(flags), path, () => handleOf(fs.openSync(path, flags, mode), path)),
    access: through("looks", fs.accessSync),
    lstat: through("looks", fs.lstatSync),
    stat: through("looks", fs.statSync),
    opendir: through("looks", (path: PathLike) => fs.readdirSync(path, { withFileTypes: true })),
    readdir: through("looks", fs.readdirSync),
    readFile: through("reads", fs.readFileSync),
    readlink: through("looks", fs.readlinkSync),
    realpath: through("looks", fs.realpathSync),
    mkdir: through("fills", fs.mkdirSync),
    writeFile: through("fills", fs.writeFileSync),
    rename: through("changes", fs.renameSync),
    rm: through("changes", fs.rmSync),
    rmdir: through("changes", fs.rmdirSync),
    unlink: through("changes", fs.unlinkSync)
  } as unknown as Files
  const sync = {
    ...fs,
    openSync: (path: PathLike, flags: string | number, mode?: fs.Mode) =>
      now(accessOf(flags), path, () => fs.openSync(path, flags, mode)),
    renameSync: (from: PathLike, to: PathLike) => now("changes", from, () => fs.renameSync(from, to))
  } as typeof fs
  return { "node:fs/promises": promises, "node:fs": sync }
}
