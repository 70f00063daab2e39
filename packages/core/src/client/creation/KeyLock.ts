/**
 * Locks a key for one of all processes that share a folder, and finds out whether the owner still runs. A lock is a
 * folder with one file, whose name identifies the owner. If the owner's process has ended, another process takes the
 * lock over by renaming that file: a rename is atomic and succeeds for only one process. An owner that is done removes
 * the file and then the folder; removing the folder fails unless it is empty. If the owner is in another container or
 * on another machine, its name cannot show whether it runs; only its heartbeat can.
 */
import { Effect, Exit, Fiber, Option, Predicate, Random } from "effect"
import { parseJson } from "../../api/parseJson.ts"
import { bootClock, bootId, namespaceOf } from "../files/Boot.ts"
import { millisBetween, type Stamp, stampNow } from "../files/Stamp.ts"
import { draftOf, FileFault, readText, unlessMissing, withFiles } from "../files/StateFiles.ts"
import { builtin } from "../options/builtin.ts"
import { sleepInBackground } from "../time/Background.ts"
import { monotonicMillis } from "../time/Monotonic.ts"

/**
 * Identifies a process by the boot of its machine, its namespace, its number and its start time. A number alone is not enough: it is
 * reused, and in another container it means another process.
 */
export interface Self {
  /** The boot of its machine, or the host's name if the boot is unknown; empty if both are unknown. */
  readonly machine: string
  /** The namespace of its number and start time; empty if there is none. */
  readonly namespace: string
  readonly pid: number
  /** Its start time in ticks of the boot; empty if unknown. */
  readonly startTime: string
}

/** A process that holds a lock. */
export interface Owner extends Self {
  /** A random id per lock, so that no two owners are equal. */
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
  // If `/proc` belongs to another namespace, this process has another number there.
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

/** A process that has ended stays in `/proc` until its parent has waited for it. */
const hasEnded = ({ state }: Process) => state === "Z" || state === "X"

const isInUse = (pid: number): boolean | undefined => {
  try {
    process.kill(pid, 0)
    // Another process may have this number by now.
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
 * If this process cannot see the owner's process, it assumes after this long without a heartbeat that the owner has
 * ended. This is half the default deadline of a call: a call that waits for an owner of another boot needs the other
 * half to look for the node.
 */
const silentMillis = 30_000

/** A lock whose owner has ended is free after this long: the time without a heartbeat, and the time until another process notices. */
export const maxFreeMillis = silentMillis + heartbeatMillis

/** When an owner was last running. */
interface Heartbeat extends Stamp {
  readonly id: string
}

const isHeartbeat = (value: unknown): value is Heartbeat =>
  Predicate.isObject(value) &&
  Predicate.isString(value["id"]) &&
  Number.isFinite(value["bootMillis"]) &&
  (value["bootClock"] === null || Predicate.isString(value["bootClock"]))

/** Ids of the locks that this process holds. A lock with this process's number but another id belongs to a thread that may have ended. */
const mine = new Set<string>()

/** The last heartbeat that a waiting call read, and when the call first read it. */
interface Watch {
  readonly token: string
  readonly text: string
  readonly sinceMillis: number
}

/** A lock that is held. */
export interface KeyLock<E = FileFault> {
  /** Fails if the lock is no longer held, because another process took it over while this process was suspended. */
  readonly confirm: Effect.Effect<void, E>
}

/** The failure of a lock that is no longer held. */
export const lost = new FileFault({ message: "another process took it over while this one stood still" })

/**
 * Overwrites the heartbeat in the existing file. Padding makes all heartbeats equally long, so nothing of the previous heartbeat remains.
 */
const writeHeartbeat = (file: string, id: string, stamp: Stamp) =>
  withFiles(async (fs) => {
    const handle = await fs.open(file, "r+")
    try {
      await handle.write(JSON.stringify({ id, ...stamp }).padEnd(200), 0)
    } finally {
      await handle.close()
    }
  })

/** Whether the lock's owner is still running, judged by its process or otherwise by its heartbeat. */
const isOwnerAlive = Effect.fnUntraced(function* (folder: string, owner: Owner, watch: Watch | undefined) {
  const me = yield* self
  const isMine = owner.pid === me.pid && owner.startTime === me.startTime && owner.machine === me.machine
  if (isMine && owner.namespace === me.namespace && mine.has(owner.id)) return { alive: true, watch }
  const running = yield* isRunning(owner)
  // If the owner is this process, the process runs, but the thread that held the lock may have ended.
  if (running === false || (running === true && !isMine)) return { alive: running, watch }
  const token = nameOf(owner)
  const text = Option.getOrElse(yield* Effect.orElseSucceed(readText(`${folder}/${token}`), Option.none), () => "")
  const found = parseJson(text)
  const heartbeat = isHeartbeat(found) ? found : undefined
  const now = yield* stampNow(yield* bootClock)
  // Both processes have the clock of one boot, so the heartbeat's age is known without watching.
  if (heartbeat?.id === owner.id && now.bootClock !== null && heartbeat.bootClock === now.bootClock) {
    return { alive: millisBetween(heartbeat, now) < silentMillis, watch }
  }
  const nowMillis = yield* monotonicMillis
  if (watch?.token !== token || watch.text !== text) {
    return { alive: true, watch: { token, text, sinceMillis: nowMillis } satisfies Watch }
  }
  return { alive: nowMillis - watch.sinceMillis < silentMillis, watch }
})

/** Makes the lock's folder and its token in one step; false if the folder exists. */
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
        const { code = "" } = error as NodeJS.ErrnoException
        // Windows reports an existing folder as EPERM.
        if (code === "ENOTEMPTY" || code === "EEXIST" || code === "EPERM") return false
        throw error
      }
    })
  )

/** The names in the lock's folder; undefined if there is no folder. Links are not followed, because they could lead anywhere. */
const namesIn = (folder: string) =>
  withFiles(async (fs) => {
    try {
      if (!(await fs.lstat(folder)).isDirectory())
        throw new FileFault({ message: `${folder} is not a folder`, path: folder })
      return await fs.readdir(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error
      return undefined
    }
  })

const isToken = (name: string) => ownerOf(name) !== undefined

/** While a lock is handed over, a reader may find no name in it, but not this many times in a row. */
const maxMissed = 10

/** Takes the lock over; false if another process was faster. */
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
 * Releases the lock and leaves nothing behind. Removing the file fails if another process has taken the lock over, and
 * removing the folder fails if another process has locked the key anew.
 */
const letGo = (folder: string, token: string) =>
  withFiles(async (fs) => {
    await fs.unlink(`${folder}/${token}`)
    await fs.rmdir(folder)
  })

/** Takes the lock as soon as its owner has released it or ended. Returns the lock's file. */
const acquire = Effect.fnUntraced(function* (folder: string, owner: Owner): Effect.fn.Return<string, FileFault> {
  const token = nameOf(owner)
  let watch: Watch | undefined
  let missed = 0
  while (true) {
    const names = yield* namesIn(folder)
    // If the folder is empty, it was just released, or another program removed its file. `begin` fails if it is no longer empty.
    if (names === undefined || names.length === 0) {
      // On Windows a rename does not replace an empty folder.
      if (names !== undefined) yield* Effect.ignore(withFiles((fs) => fs.rmdir(folder)))
      if (yield* begin(folder, token)) break
      if (names === undefined) continue
    }
    const tokens = (names ?? []).filter(isToken)
    // On some file systems a rename reports a failure although it was done.
    if (tokens.includes(token)) break
    const [held] = tokens
    if (held === undefined) {
      if (++missed > maxMissed)
        return yield* new FileFault({ message: `${folder} is damaged; remove it`, path: folder })
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
 * Runs `use` while it holds the lock at `folder`. It waits for its turn, and can be interrupted while it waits. The parent folder must
 * exist. A process that has ended blocks nobody: its lock is taken over at once if its end can be seen, otherwise after half a minute.
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
