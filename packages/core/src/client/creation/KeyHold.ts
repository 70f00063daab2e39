/**
 * Keeps something to one holder at a time, of all processes that share a folder: a file says who has it and until when. A
 * process of this machine that has ended holds nothing any more; of one on another machine that is known only when its
 * time is up.
 */
import { Clock, Effect, FileSystem, Option, type PlatformError, Random, Schema } from "effect"

const Holder = Schema.fromJsonString(
  Schema.Struct({ host: Schema.String, pid: Schema.Int, untilMillis: Schema.Number })
)
const decode = Schema.decodeUnknownOption(Holder)
const encode = Schema.encodeSync(Holder)

/** How often whoever waits looks again. */
const everyMillis = 200

/** What is over by a certain time may take this much longer, on a machine that is busy. */
const graceMillis = 2000

const hostname = Effect.tryPromise(() => import("node:os")).pipe(
  Effect.map((os) => os.hostname()),
  Effect.orElseSucceed(() => "")
)

/** Whether a process of this machine is there, whoever it belongs to. */
const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH"
  }
}

/** Text of the file; none when it is not there. */
const contentOf = (fs: FileSystem.FileSystem, file: string) => Effect.option(fs.readFileString(file))

/** Whether whoever wrote `text` into the file is still at it. What cannot be read is being written, if it is no older than that. */
const isAtIt = Effect.fnUntraced(function* (fs: FileSystem.FileSystem, file: string, text: string) {
  const now = yield* Clock.currentTimeMillis
  const holder = Option.getOrUndefined(decode(text))
  if (holder === undefined) {
    const written = yield* Effect.option(fs.stat(file))
    return Option.exists(
      Option.flatMap(written, ({ mtime }) => mtime),
      (date) => now < date.getTime() + graceMillis
    )
  }
  if (holder.untilMillis + graceMillis < now) return false
  return holder.host !== (yield* hostname) || isRunning(holder.pid)
})

/** Whether somebody holds `file`. */
export const isHeld = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const text = yield* contentOf(fs, file)
  return Option.isSome(text) && (yield* isAtIt(fs, file, text.value))
})

/** A file that is held. */
export interface Hold {
  readonly release: Effect.Effect<void>
}

/**
 * Holds `file` as soon as nobody else does. Whoever holds it has to release it by `untilMillis`, by this machine's clock.
 * Can be interrupted while it waits, also where nothing else can.
 */
export const hold = Effect.fnUntraced(function* (
  file: string,
  untilMillis: number
): Effect.fn.Return<Hold, PlatformError.PlatformError, FileSystem.FileSystem> {
  const fs = yield* FileSystem.FileSystem
  const mine = encode({ host: yield* hostname, pid: process.pid, untilMillis })

  const take = fs.writeFileString(file, mine, { flag: "wx", mode: 0o600 }).pipe(
    Effect.as(true),
    Effect.catchReason("PlatformError", "AlreadyExists", () => Effect.succeed(false))
  )

  /** Takes away the file of a holder that has ended. Of several that do, one moves it aside, and puts back what is not it. */
  const clear = (ended: string) =>
    Effect.gen(function* () {
      const aside = `${file}.ended-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
      yield* fs.rename(file, aside)
      const moved = yield* fs.readFileString(aside)
      if (moved !== ended) yield* Effect.ignore(fs.link(aside, file))
      yield* fs.remove(aside)
    }).pipe(Effect.ignore)

  while (!(yield* take)) {
    const text = yield* contentOf(fs, file)
    if (Option.isSome(text) && !(yield* isAtIt(fs, file, text.value))) yield* clear(text.value)
    else yield* Effect.interruptible(Effect.sleep(everyMillis))
  }
  return {
    release: Effect.flatMap(contentOf(fs, file), (text) =>
      Option.contains(text, mine) ? Effect.ignore(fs.remove(file)) : Effect.void
    )
  }
})
