/**
 * What the processes of one machine tell each other of the allowance of one key, through a small file: that nobody may go
 * before some instant, what is left (for one that has just begun), and how many they are. Every process still goes by the
 * replies it gets itself; the file makes them leave room for each other. It is safe to lose, and a process that is killed
 * is forgotten after a few seconds.
 *
 * Works where there is `node:fs`, which is loaded when it is used.
 */
import { Clock, Effect, Option, Predicate, Random, type Scope } from "effect"
import { makeFolders } from "../makeFolders.ts"
import * as Estimator from "./Estimator.ts"

const ofClock = ["aheadAtLeastMillis", "aheadAtMostMillis"] as const
const ofView = ["limit", "remaining", "resetSeconds", "resetBy", "resetAround", "sentAt", "receivedAt"] as const
const ofAll = ["writtenAt", "pausedUntil"] as const

type Numbers<Names extends ReadonlyArray<string>> = { readonly [Name in Names[number]]: number }

/** The file's content. Instants are milliseconds on the clock of the machine that shares it. */
interface Shared extends Numbers<typeof ofAll> {
  readonly version: 1
  readonly clock: Numbers<typeof ofClock> | undefined
  readonly view: Numbers<typeof ofView> | undefined
}

const areNumbers = (value: unknown, names: ReadonlyArray<string>): boolean =>
  Predicate.isObject(value) && names.every((name) => Number.isFinite(value[name]))

/** Reads the file's content; undefined when it is damaged. By hand: a schema would take most of the time that sharing costs a command. */
const decode = (text: string): Shared | undefined => {
  try {
    const shared: Partial<Shared> = JSON.parse(text)
    const isWhole =
      areNumbers(shared, ofAll) &&
      shared.version === 1 &&
      (shared.clock === undefined || areNumbers(shared.clock, ofClock)) &&
      (shared.view === undefined || areNumbers(shared.view, ofView))
    return isWhole ? (shared as Shared) : undefined
  } catch {
    return undefined
  }
}

/** How often the processes look and are seen, and how long one that is not seen counts. */
const everyMillis = 500
const staleMillis = 4000

/** How long the first look may hold up whoever waits for it: a disk that does not answer is done without. */
const firstLookMillis = 500

/** Access to the estimate that is shared. */
export interface Estimate {
  readonly get: () => Estimator.State
  readonly change: (change: (state: Estimator.State) => Estimator.State) => void
}

/** Why something of the file system could not be done. */
interface FileFault {
  readonly code?: string | undefined
  readonly message: string
}

const tryFile = <A>(run: () => Promise<A>): Effect.Effect<A, FileFault> =>
  Effect.tryPromise({ try: run, catch: (error) => error as FileFault })

/** Whether an instant that was written down is one of the last few seconds. The clock may have been set back meanwhile. */
const isRecent = (instant: number, now: number) => Math.abs(now - instant) < staleMillis

/**
 * Shares an estimate through the file at `path`, for as long as the scope lasts; folders that are not there are made for
 * the user alone. A file that cannot be read is told once and replaced; one that cannot be written, or a place without
 * `node:fs`, is told once and done without.
 */
export const share = Effect.fnUntraced(function* (
  path: string,
  estimate: Estimate
): Effect.fn.Return<void, never, Scope.Scope> {
  let told = false
  const tellOnce = (what: string) =>
    Effect.suspend(() => {
      if (told) return Effect.void
      told = true
      return Effect.logWarning(`The allowance file ${path} ${what}`)
    })
  const doWithout = (why: string) => tellOnce(`is done without (${why}): this process goes by its own replies.`)

  const loaded = yield* Effect.option(tryFile(() => import("node:fs/promises")))
  if (Option.isNone(loaded)) return yield* doWithout("there is no node:fs here")
  const fs = loaded.value

  const me = `${process.pid}-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
  const members = `${path}.members`
  const mine = `${members}/${me}`
  const draft = `${mine}.new`
  const makeMembers = makeFolders(
    members,
    (folder) => tryFile(() => fs.mkdir(folder, { mode: 0o700 })),
    ({ code }) => code
  )
  const forget = (name: string) => Effect.ignore(tryFile(() => fs.rm(`${members}/${name}`, { force: true })))

  /** What the others wrote. A file from the future is of a clock that was wrong, and so is whatever it says. */
  const read = Effect.fnUntraced(function* (now: number) {
    const text = yield* Effect.option(tryFile(() => fs.readFile(path, "utf8")))
    if (Option.isNone(text)) return undefined
    const shared = decode(text.value)
    if (shared === undefined) return yield* tellOnce("is damaged and is replaced.")
    return shared.writtenAt > now + staleMillis ? undefined : shared
  })

  const write = Effect.fnUntraced(function* (shared: Shared) {
    yield* tryFile(() => fs.writeFile(draft, JSON.stringify(shared), { mode: 0o600 }))
    yield* tryFile(() => fs.rename(draft, path))
  })

  /** Shows that this process is there, counts the others that are, and forgets those that are no more. */
  const meet = Effect.fnUntraced(function* (now: number) {
    yield* makeMembers
    yield* tryFile(() => fs.writeFile(mine, String(now), { mode: 0o600 }))
    const names = new Set(yield* tryFile(() => fs.readdir(members)))
    let peers = 0
    for (const name of names) {
      const owner = name.replace(/\.new$/, "")
      if (owner === me) continue
      if (owner !== name) {
        if (!names.has(owner)) yield* forget(name)
        continue
      }
      const seenAt = yield* Effect.option(tryFile(() => fs.readFile(`${members}/${name}`, "utf8")))
      if (isRecent(Number(Option.getOrElse(seenAt, () => "0")), now)) peers++
      else yield* forget(name)
    }
    return peers
  })

  /** Takes over what the others say, and says what is known here. */
  const tell = Effect.fnUntraced(function* (peers: number, now: number) {
    const theirs = yield* read(now)
    estimate.change((state) => Estimator.shared(state, { peers, ...theirs }, now))
    const { clock, pausedUntil, view } = estimate.get()
    // The newest view is worth keeping for whoever begins next.
    const newest = view === undefined || (theirs?.view?.receivedAt ?? 0) > view.receivedAt ? theirs?.view : view
    yield* write({ version: 1, writtenAt: now, pausedUntil, clock, view: newest })
  })

  const withoutFile = Effect.catch(({ message }: FileFault) => doWithout(message))
  const exchange = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.flatMap(meet(now), (peers) => tell(peers, now))
  ).pipe(withoutFile)
  const leave = Effect.flatMap(Clock.currentTimeMillis, (now) => tell(estimate.get().peers, now)).pipe(
    withoutFile,
    Effect.andThen(forget(me))
  )

  yield* Effect.timeoutOption(exchange, firstLookMillis)
  yield* Effect.addFinalizer(() => leave)
  // Never cut in the middle, where it would get into the way of the last one.
  yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.uninterruptible(exchange), everyMillis)))
})
