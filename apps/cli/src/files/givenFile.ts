/**
 * Reads text files that the user names. Follows links, reads pipes such as `<(…)` too, and limits size and time. The files must be UTF-8; a
 * leading byte order mark is dropped.
 */
import { FileFault, withFiles } from "@berthkit/core/client/files/StateFiles"
import { Effect, Stdio, Stream } from "effect"

/** Maximum size of a text file. It is larger than any file that a person writes. */
const maxTextBytes = 1024 * 1024

/** How long to wait for a pipe, in case nobody writes to it. */
const maxWait = "30 seconds"

/** Names for stdin. If stdin is a socket, paths such as `/dev/stdin` cannot be opened, so stdin is read directly. */
const stdinNames: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])

const because = (message: string) => new FileFault({ message })

const tooLarge = (maxBytes: number): FileFault => because(`it is too large, more than ${maxBytes / 1024} KiB`)

/** The position of the first byte that is not valid UTF-8. */
const wrongByte = (bytes: Uint8Array): number => {
  const decode = (length: number) =>
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length), { stream: true })
  let [valid, wrong] = [0, bytes.length + 1]
  while (wrong - valid > 1) {
    const middle = (valid + wrong) >> 1
    try {
      decode(middle)
      valid = middle
    } catch {
      wrong = middle
    }
  }
  // The last character may be incomplete.
  return new TextEncoder().encode(decode(valid)).length
}

/** Decodes bytes; fails for other encodings and for compressed data. */
const textOf = (bytes: Uint8Array): Effect.Effect<string, FileFault> =>
  Effect.suspend(() => {
    let text: string
    try {
      text = new TextDecoder("utf-8", { fatal: true }).decode(bytes)
    } catch {
      const at = wrongByte(bytes)
      return Effect.fail(
        because(`it is not UTF-8 text: byte ${at} is 0x${(bytes[at] ?? 0).toString(16).padStart(2, "0")}`)
      )
    }
    const nul = bytes.indexOf(0)
    return nul === -1 ? Effect.succeed(text) : Effect.fail(because(`it is not text: byte ${nul} is 0x00`))
  })

const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

/** Reads a pipe to its end, as a stream, because a single read with `node:fs` could not be interrupted. */
const readPipe = (fd: number, maxBytes: number): Effect.Effect<Uint8Array, FileFault> =>
  Effect.flatMap(
    Effect.promise(() => import("node:net")),
    ({ Socket }) =>
      Effect.callback<Uint8Array, FileFault>((resume) => {
        const pipe = new Socket({ fd, readable: true, writable: false })
        const chunks: Array<Uint8Array> = []
        let size = 0
        pipe.on("data", (chunk: Uint8Array) => {
          size += chunk.length
          if (size > maxBytes) resume(Effect.fail(tooLarge(maxBytes)))
          else chunks.push(chunk)
        })
        pipe.on("end", () => resume(Effect.succeed(joined(chunks))))
        pipe.on("error", (error) => resume(Effect.fail(FileFault.of(error))))
        return Effect.sync(() => pipe.destroy())
      })
  )

const inTime = Effect.timeoutOrElse({
  duration: maxWait,
  orElse: () => Effect.fail(because(`it has not ended within ${maxWait}`))
})

/** The bytes of a file or a pipe. */
const readBytes = (path: string, maxBytes: number): Effect.Effect<Uint8Array, FileFault> =>
  Effect.gen(function* () {
    const found = yield* withFiles(async ({ constants: { O_NONBLOCK = 0, O_RDONLY } }) => {
      const fs = await import("node:fs")
      // Without O_NONBLOCK, opening a pipe would block until somebody writes to it.
      const fd = fs.openSync(path, O_RDONLY | O_NONBLOCK)
      try {
        const about = fs.fstatSync(fd)
        if (about.isFIFO()) return fd
        if (!about.isFile()) throw because("it is not a file")
        if (about.size > maxBytes) throw tooLarge(maxBytes)
        const bytes = fs.readFileSync(fd)
        fs.closeSync(fd)
        return bytes
      } catch (error) {
        fs.closeSync(fd)
        throw error
      }
    })
    return typeof found === "number" ? yield* inTime(readPipe(found, maxBytes)) : found
  })

/** The text of a file. */
export const readFileText = (path: string, maxBytes = maxTextBytes): Effect.Effect<string, FileFault> =>
  Effect.flatMap(readBytes(path, maxBytes), textOf)

/** All of stdin. */
const readStdin = (maxBytes: number) =>
  Effect.gen(function* () {
    const { stdin } = yield* Stdio.Stdio
    const chunks: Array<Uint8Array> = []
    let size = 0
    yield* Stream.runForEach(stdin, (chunk) => {
      size += chunk.length
      if (size > maxBytes) return Effect.fail(tooLarge(maxBytes))
      chunks.push(chunk)
      return Effect.void
    }).pipe(Effect.mapError((error) => because(error.message)))
    return joined(chunks)
  })

/** The text of the file that an argument names, or of stdin if it is `-`. */
export const readGivenText = (word: string, maxBytes = maxTextBytes): Effect.Effect<string, FileFault, Stdio.Stdio> =>
  stdinNames.has(word) ? Effect.flatMap(readStdin(maxBytes), textOf) : readFileText(word, maxBytes)

/** Fails for an empty script: the program that should have printed it has probably failed. */
export const notEmpty = <R>(script: Effect.Effect<string, FileFault, R>): Effect.Effect<string, FileFault, R> =>
  Effect.flatMap(script, (text) => (text.trim() === "" ? Effect.fail(because("it is empty")) : Effect.succeed(text)))

/** The real path of a user's file. Follows links, even one to a file that does not exist yet. */
export const placeOfFile = (path: string): Effect.Effect<string, FileFault> =>
  withFiles(async (fs) => {
    const { basename, dirname, join, resolve } = await import("node:path")
    // The system follows at most 40 links.
    for (let followed = 0, at = resolve(path); followed < 40; followed++) {
      // A relative link is relative to the real folder.
      const folder = await fs.realpath(dirname(at)).catch(() => dirname(at))
      const place = join(folder, basename(at))
      const target = await fs.readlink(place).catch(() => undefined)
      if (target === undefined) return place
      at = resolve(folder, target)
    }
    throw because("its links form a loop")
  })
