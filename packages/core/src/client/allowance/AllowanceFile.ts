/**
 * What the processes of one machine tell each other of the allowance of one key, through a small file: that nobody may go
 * before some instant, what is left (for one that has just begun), and how many they are. Every process still goes by the
 * replies it gets itself; the file makes them leave room for each other. It is safe to lose, and a process that is killed
 * is forgotten after a few seconds.
 *
 * Works where there is `node:fs`, which is loaded when it is used.
 */
import { Clock, Effect, Option, Random, Schema, type Scope } from "effect"
import * as Estimator from "./Estimator.ts"

const View = Schema.Struct({
  limit: Schema.Number,
  remaining: Schema.Number,
  resetSeconds: Schema.Number,
  resetBy: Schema.Number,
  resetAround: Schema.Number,
  sentAt: Schema.Number,
  receivedAt: Schema.Number
})

/** The file's content. Instants are milliseconds on the clock of the machine that shares it. */
const Shared = Schema.fromJsonString(
  Schema.Struct({
    version: Schema.Literal(1),
    writtenAt: Schema.Number,
    pausedUntil: Schema.Number,
    clock: Schema.optional(Schema.Struct({ aheadAtLeastMillis: Schema.Number, aheadAtMostMillis: Schema.Number })),
    view: Schema.optional(View)
  })
)
type Shared = typeof Shared.Type

const decode = Schema.decodeUnknownEffect(Shared)
const encode = Schema.encodeEffect(Shared)

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

/** Something of the file system, failing with why it could not be done. */
const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, string> =>
  Effect.tryPromise({ try: run, catch: (error) => (error instanceof Error ? error.message : String(error)) })

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

  const loaded = yield* Effect.option(attempt(() => import("node:fs/promises")))
  if (Option.isNone(loaded)) return yield* doWithout("there is no node:fs here")
  const fs = loaded.value

  const me = `${process.pid}-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
  const members = `${path}.members`
  const mine = `${members}/${me}`
  const draft = `${mine}.new`
  const forget = (name: string) => Effect.ignore(attempt(() => fs.rm(`${members}/${name}`, { force: true })))

  /** What the others wrote. A file from the future is of a clock that was wrong, and so is whatever it says. */
  const read = Effect.fnUntraced(function* (now: number) {
    const text = yield* Effect.option(attempt(() => fs.readFile(path, "utf8")))
    if (Option.isNone(text)) return undefined
    const shared = yield* Effect.option(decode(text.value))
    if (Option.isNone(shared)) return yield* tellOnce("is damaged and is replaced.")
    return shared.value.writtenAt > now + staleMillis ? undefined : shared.value
  })

  const write = Effect.fnUntraced(function* (shared: Shared) {
    const text = yield* Effect.orDie(encode(shared))
    yield* attempt(() => fs.writeFile(draft, text, { mode: 0o600 }))
    yield* attempt(() => fs.rename(draft, path))
  })

  /** Shows that this process is there, counts the others that are, and forgets those that are no more. */
  const meet = Effect.fnUntraced(function* (now: number) {
    yield* attempt(() => fs.mkdir(members, { recursive: true, mode: 0o700 }))
    yield* attempt(() => fs.writeFile(mine, String(now), { mode: 0o600 }))
    const names = new Set(yield* attempt(() => fs.readdir(members)))
    let peers = 0
    for (const name of names) {
      const owner = name.replace(/\.new$/, "")
      if (owner === me) continue
      if (owner !== name) {
        if (!names.has(owner)) yield* forget(name)
        continue
      }
      const seenAt = yield* Effect.option(attempt(() => fs.readFile(`${members}/${name}`, "utf8")))
      if (isRecent(Number(Option.getOrElse(seenAt, () => "0")), now)) peers++
      else yield* forget(name)
    }
    return peers
  })

  const exchange = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const peers = yield* meet(now)
    const theirs = yield* read(now)
    estimate.change((state) => Estimator.shared(state, { peers, ...theirs }, now))
    const { clock, pausedUntil, view } = estimate.get()
    // The newest view is worth keeping for whoever begins next.
    const newest = view === undefined || (theirs?.view?.receivedAt ?? 0) > view.receivedAt ? theirs?.view : view
    yield* write({
      version: 1,
      writtenAt: now,
      pausedUntil,
      ...(clock && { clock }),
      ...(newest && { view: newest })
    })
  }).pipe(Effect.catch(doWithout))

  yield* Effect.timeoutOption(exchange, firstLookMillis)
  yield* Effect.addFinalizer(() => Effect.andThen(exchange, forget(me)))
  // Never cut in the middle, where it would get into the way of the last one.
  yield* Effect.forkScoped(Effect.forever(Effect.delay(Effect.uninterruptible(exchange), everyMillis)))
})
