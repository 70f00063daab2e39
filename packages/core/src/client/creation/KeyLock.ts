/**
 * Keeps a key to one owner at a time, of all processes that share a folder, and knows whether an owner's process still runs. A lock is a
 * folder with one file in it, whose name is that of its owner. From a process that ended it changes hands by a rename of that very file,
 * which succeeds for one of several, and leaves no moment in between; an owner that is done removes the file, and then the folder, which
 * is only removed while it is empty. An owner that cannot be judged by its name (of another container or machine) is judged by its heartbeat.
 */
import { Effect, Exit, Fiber, Option, Predicate, Random } from "effect"
import { parseJson } from "../../api/parseJson.ts"
import { bootClock, bootId, millisBetween, namespaceOf, type Stamp, stampNow } from "../files/Boot.ts"
import { draftOf, type FileFault, readText, unlessMissing, withFiles } from "../files/StateFiles.ts"
import { builtin } from "../options/builtin.ts"
import { sleepInBackground } from "../time/Background.ts"
import { monotonicMillis } from "../time/Monotonic.ts"

/**
 * A process, as others know it: by the boot of its machine, its namespace, its number and when it started. Numbers alone are used again,
 * and mean another process in another container.
 */
export interface Self {
  /** The boot of its machine, or the host's name if that is unknown; empty if both are. */
  readonly machine: string
  /** The namespace of its number and start time; empty if there is none. */
  readonly namespace: string
  readonly pid: number
  /** Its start time in ticks of the boot; empty if unknown. */
  readonly startTime: string
}

/** A process that holds a lock. */
export interface Owner extends Self {
  /** A random id per lock, so that no two are equal. */
  readonly id: string
}

/** A process in `/proc`. */
interface Process {
  readonly pid: string
  readonly state: string
  readonly startTime: string
}

const readProcess = (pid: number | "self") =>
  Effect.map(
    withFiles((fs) => fs.readFile(`/proc/${pid}/stat`, "utf8")),
    (text): Process => {
      // The name in parentheses may contain any characters.
      const [state = "", ...fields] = text.slice(text.lastIndexOf(")") + 2).split(" ")
      return { pid: text.slice(0, text.indexOf(" ")), state, startTime: fields[18] ?? "" }
    }
  )

const hostname = () => {
  const os = builtin("node:os")
  return os === undefined ? "" : `host ${os.hostname()}`
}

const findSelf = Effect.gen(function* (): Effect.fn.Return<Self> {
  const pid = globalThis.process?.pid ?? 0
  const [boot, pids, time, process] = yield* Effect.all([
    bootId,
    namespaceOf("pid"),
    // Start times are relative to the clock of the reading process.
    namespaceOf("time"),
    Effect.orElseSucceed(readProcess("self"), () => undefined)
  ])
  // In another namespace's /proc this process has another number.
  if (boot !== null && pids !== null && process?.pid === String(pid)) {
    return { machine: boot, namespace: `${pids} ${time}`, pid, startTime: process.startTime }
  }
  return { machine: boot === null ? hostname() : "", namespace: "", pid, startTime: "" }
})

let known: Self | undefined

/** This process. */
export const self: Effect.Effect<Self> = Effect.suspend(() =>
  known === undefined ? Effect.tap(findSelf, (found) => Effect.sync(() => void (known = found))) : Effect.succeed(known)
)

const fields = ["machine", "namespace", "pid", "startTime", "id"] as const
const prefix = "held"

/** The file name of an owner. */
export const nameOf = (owner: Owner): string =>
  [prefix, ...fields.map((field) => encodeURIComponent(owner[field]).replaceAll(".", "%2E"))].join(".")

/** Parses an owner from a file name; undefined if it is not one. */
export const ownerOf = (name: string): Owner | undefined => {
  const [first, ...texts] = name.split(".")
  if (first !== prefix || texts.length !== fields.length) return undefined
  try {
    const [machine = "", namespace = "", pid, startTime = "", id = ""] = texts.map(decodeURIComponent)
    return { machine, namespace, pid: Number(pid), startTime, id }
  } catch {
    return undefined
  }
}

/** A process that has ended keeps an entry until its parent has waited for it. */
const hasEnded = ({ state }: Process) => state === "Z" || state === "X"

const isInUse = (pid: number): boolean | undefined => {
  try {
    process.kill(pid, 0)
    // Its number may have been reused.
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? false : undefined
  }
}

/**
 * Whether the owner's process is running; undefined if this process cannot know, because the owner is on another machine or in another
 * container.
 */
export const isRunning = (owner: Self): Effect.Effect<boolean | undefined> =>
  Effect.flatMap(self, (me) => {
    if (me.machine === "" || owner.machine !== me.machine || owner.namespace !== me.namespace) {
      return Effect.succeed(undefined)
    }
    if (me.startTime === "") return Effect.sync(() => isInUse(owner.pid))
    return readProcess(owner.pid).pipe(
      Effect.map((found) => !hasEnded(found) && found.startTime === owner.startTime),
      Effect.catch(({ code }) => Effect.succeed(code === "ENOENT" || code === "ESRCH" ? false : undefined))
    )
  })

/** How often a waiting call reads the owner. */
const pollMillis = 200

/** How often an owner writes its heartbeat. */
const heartbeatMillis = 5000

/**
 * Without a heartbeat for this long an owner whose process is not known here is taken to have ended. Half the default deadline: each
 * process watches an owner of another boot anew, and still has to look for the node afterwards.
 */
const silentMillis = 30_000

/** When an owner was last running. */
interface Heartbeat extends Stamp {
  readonly id: string
}

const isHeartbeat = (value: unknown): value is Heartbeat =>
  Predicate.isObject(value) &&
  Predicate.isString(value["id"]) &&
  Number.isFinite(value["bootMillis"]) &&
  (value["bootClock"] === null || Predicate.isString(value["bootClock"]))

/** Ids of the locks that this process holds: another lock with its number may be that of an ended thread. */
const mine = new Set<string>()

/** The last heartbeat that a waiting call has read, and since when it has not changed. */
interface Watch {
  readonly token: string
  readonly text: string
  readonly sinceMillis: number
}

/** A lock that is held. */
export interface KeyLock<E = FileFault> {
  /** Fails where it is not held any more: another process took it over while this one stood still. */
  readonly confirm: Effect.Effect<void, E>
}

/** The failure of a lock that is not held any more. */
export const lost: FileFault = { message: "another process took it over while this one stood still" }

/** Writes over the heartbeat in the file, which has to be there: none is longer than this. */
const writeHeartbeat = (file: string, id: string, stamp: Stamp) =>
  withFiles(async (fs) => {
    const handle = await fs.open(file, "r+")
    try {
      await handle.write(JSON.stringify({ id, ...stamp }).padEnd(200), 0)
    } finally {
      await handle.close()
    }
  })

/** Whether the lock's owner is still running: by its process, or else by its heartbeat. */
const isOwnerAlive = Effect.fnUntraced(function* (folder: string, owner: Owner, watch: Watch | undefined) {
  const me = yield* self
  const isMine = owner.pid === me.pid && owner.startTime === me.startTime && owner.machine === me.machine
  if (isMine && owner.namespace === me.namespace && mine.has(owner.id)) return { alive: true, watch }
  const running = yield* isRunning(owner)
  // This process runs, but a thread of it that held the lock may have ended.
  if (running === false || (running === true && !isMine)) return { alive: running, watch }
  const token = nameOf(owner)
  const text = Option.getOrElse(yield* Effect.orElseSucceed(readText(`${folder}/${token}`), Option.none), () => "")
  const found = parseJson(text)
  const heartbeat = isHeartbeat(found) ? found : undefined
  const now = yield* stampNow(yield* bootClock)
  // The same boot has the same clock: no need to watch.
  if (heartbeat?.id === owner.id && now.bootClock !== null && heartbeat.bootClock === now.bootClock) {
    return { alive: millisBetween(heartbeat, now) < silentMillis, watch }
  }
  const nowMillis = yield* monotonicMillis
  if (watch?.token !== token || watch.text !== text) {
    return { alive: true, watch: { token, text, sinceMillis: nowMillis } satisfies Watch }
  }
  return { alive: nowMillis - watch.sinceMillis < silentMillis, watch }
})

/** Makes the lock's folder with the token in it, both at once; false where there is one. */
const begin = (folder: string, token: string) =>
  Effect.flatMap(draftOf(folder), (draft) =>
    withFiles(async (fs) => {
      await fs.mkdir(draft, { mode: 0o700 })
      try {
        await fs.writeFile(`${draft}/${token}`, "", { flag: "wx", mode: 0o600 })
        await fs.rename(draft, folder)
        return true
      } catch (error) {
        await fs.rm(draft, { recursive: true, force: true })
        const { code = "" } = error as FileFault
        // Windows has this code for it.
        if (code === "ENOTEMPTY" || code === "EEXIST" || code === "EPERM") return false
        throw error
      }
    })
  )

/** The names in the lock's folder; undefined where there is no folder. Not through a link, which may lead anywhere. */
const namesIn = (folder: string) =>
  withFiles(async (fs) => {
    try {
      if (!(await fs.lstat(folder)).isDirectory())
        throw { message: `${folder} is not a folder`, path: folder } satisfies FileFault
      return await fs.readdir(folder)
    } catch (error) {
      if ((error as FileFault).code !== "ENOENT") throw error
      return undefined
    }
  })

const isToken = (name: string) => ownerOf(name) !== undefined

/** While a lock changes hands a reader may find no name in it, but not this often. */
const maxMissed = 10

/** Hands the lock on; false where another process was faster. */
const handOver = (folder: string, from: string, to: string) =>
  Effect.map(
    unlessMissing(
      Effect.as(
        withFiles((fs) => fs.rename(`${folder}/${from}`, `${folder}/${to}`)),
        true
      )
    ),
    (done = false) => done
  )

/**
 * Releases the lock, and leaves nothing of it. Its file goes first, which fails where another process has taken it over; then the
 * folder, which fails where it is not empty: another process has begun anew.
 */
const letGo = (folder: string, token: string) =>
  withFiles(async (fs) => {
    await fs.unlink(`${folder}/${token}`)
    await fs.rmdir(folder)
  })

/** Takes the lock as soon as its owner has released it or ended. Gives its file. */
const acquire = Effect.fnUntraced(function* (folder: string, owner: Owner): Effect.fn.Return<string, FileFault> {
  const token = nameOf(owner)
  let watch: Watch | undefined
  let missed = 0
  while (true) {
    const names = yield* namesIn(folder)
    // An empty folder was just released, or lost its file to a program that tidies up: it begins anew, unless it is not empty after all.
    if (names === undefined || names.length === 0) {
      // Where a rename does not replace an empty folder, as on Windows.
      if (names !== undefined) yield* Effect.ignore(withFiles((fs) => fs.rmdir(folder)))
      if (yield* begin(folder, token)) break
      if (names === undefined) continue
    }
    const tokens = (names ?? []).filter(isToken)
    // On some file systems a rename fails, and has been done.
    if (tokens.includes(token)) break
    const [held] = tokens
    if (held === undefined) {
      if (++missed > maxMissed) return yield* Effect.fail({ message: `${folder} is damaged; remove it`, path: folder })
    } else {
      const judged = yield* isOwnerAlive(folder, ownerOf(held)!, watch)
      watch = judged.watch
      if (!judged.alive) {
        if (yield* handOver(folder, held, token)) break
        continue
      }
    }
    yield* Effect.interruptible(Effect.sleep(pollMillis))
  }
  return `${folder}/${token}`
})

/**
 * Runs `use` while it holds the lock, which `folder` is; waits for its turn, where it can be interrupted. The folder above
 * has to be there. A process that ended holds up no other: at once where that can be known, else within half a minute.
 */
export const withKeyLock = <A, E, R>(
  folder: string,
  use: (lock: KeyLock) => Effect.Effect<A, E, R>
): Effect.Effect<A, E | FileFault, R> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.gen(function* () {
      const id = (yield* Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER)).toString(36)
      const owner: Owner = { ...(yield* self), id }
      const clock = yield* bootClock
      mine.add(id)
      const file = yield* Effect.onExit(acquire(folder, owner), (exit) =>
        Effect.sync(() => Exit.isFailure(exit) && mine.delete(id))
      )
      const beat = Effect.flatMap(stampNow(clock), (stamp) => writeHeartbeat(file, id, stamp))
      const release = Effect.andThen(
        Effect.ignore(letGo(folder, nameOf(owner))),
        Effect.sync(() => mine.delete(id))
      )
      const beating = Effect.forever(Effect.andThen(sleepInBackground(heartbeatMillis), Effect.ignore(beat)))
      const held = Effect.andThen(
        beat,
        Effect.acquireUseRelease(
          Effect.forkDetach(beating),
          () => use({ confirm: Effect.mapError(beat, (fault) => (fault.code === "ENOENT" ? lost : fault)) }),
          Fiber.interrupt
        )
      )
      return yield* Effect.ensuring(restore(held), release)
    })
  )
