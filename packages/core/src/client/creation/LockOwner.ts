/**
 * The owner of a lock between processes, and whether its process is still running. A process is known by the boot of its machine,
 * its namespace, its number and when it started: numbers alone are used again, and mean another process in another container.
 */
import { Effect } from "effect"
import { bootId, namespaceOf } from "../files/Boot.ts"
import { withFiles } from "../files/StateFiles.ts"

/** A process that holds a lock. */
export interface Owner {
  /** The boot of its machine, or where that is unknown its host's name; empty where neither is. */
  readonly machine: string
  /** Where its number and its start time count; empty where there is no such thing. */
  readonly namespace: string
  readonly pid: number
  /** When it started, in ticks of its boot; empty where that is unknown. */
  readonly startTime: string
  /** Drawn for each lock taken, so that no two are the same. */
  readonly id: string
}

/** This process, as the owner of its locks. */
export type Self = Omit<Owner, "id">

/** A process, as `/proc` has it. */
interface Process {
  readonly pid: string
  readonly state: string
  readonly startTime: string
}

const readProcess = (pid: number | "self") =>
  Effect.map(
    withFiles((fs) => fs.readFile(`/proc/${pid}/stat`, "utf8")),
    (text): Process => {
      // The name, in parentheses, may have anything in it.
      const [state = "", ...fields] = text.slice(text.lastIndexOf(")") + 2).split(" ")
      return { pid: text.slice(0, text.indexOf(" ")), state, startTime: fields[18] ?? "" }
    }
  )

const hostname = Effect.tryPromise(() => import("node:os")).pipe(
  Effect.map((os) => `host ${os.hostname()}`),
  Effect.orElseSucceed(() => "")
)

const findSelf = Effect.gen(function* () {
  const pid = globalThis.process?.pid ?? 0
  const [boot, pids, time, process] = yield* Effect.all([
    bootId,
    namespaceOf("pid"),
    // Start times are on the clock of the process that reads them.
    namespaceOf("time"),
    Effect.orElseSucceed(readProcess("self"), () => undefined)
  ])
  // A /proc of another namespace knows this process by another number.
  if (boot !== null && pids !== null && process?.pid === String(pid)) {
    return { machine: boot, namespace: `${pids} ${time}`, pid, startTime: process.startTime } satisfies Self
  }
  return { machine: boot === null ? yield* hostname : "", namespace: "", pid, startTime: "" } satisfies Self
})

let known: Self | undefined

/** This process. */
export const self: Effect.Effect<Self> = Effect.suspend(() =>
  known === undefined ? Effect.tap(findSelf, (found) => Effect.sync(() => void (known = found))) : Effect.succeed(known)
)

const fields = ["machine", "namespace", "pid", "startTime", "id"] as const
const prefix = "held"

/** The owner as the name of a file. */
export const nameOf = (owner: Owner): string =>
  [prefix, ...fields.map((field) => encodeURIComponent(owner[field]).replaceAll(".", "%2E"))].join(".")

/** The owner in the name of a file; undefined where there is none in it. */
export const ownerOf = (name: string): Owner | undefined => {
  const [first, ...texts] = name.split(".")
  if (first !== prefix || texts.length !== fields.length) return undefined
  try {
    const [machine, namespace, pid, startTime, id] = texts.map(decodeURIComponent) as [
      string,
      string,
      string,
      string,
      string
    ]
    return { machine, namespace, pid: Number(pid), startTime, id }
  } catch {
    return undefined
  }
}

/** A process that has ended leaves an entry until its parent has waited for it. */
const hasEnded = ({ state }: Process) => state === "Z" || state === "X"

const isInUse = (pid: number): boolean | undefined => {
  try {
    process.kill(pid, 0)
    // Its number may have been used again.
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH" ? false : undefined
  }
}

/** Whether the owner's process is running; undefined where this process cannot know: on another machine, in another container. */
export const isRunning = (owner: Omit<Owner, "id">): Effect.Effect<boolean | undefined> =>
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
