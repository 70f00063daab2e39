/**
 * What the processes of one machine tell each other of the allowance of one key, through a small file: that nobody may go
 * before some instant, what is left (for one that has just begun), and how many they are. Every process still goes by the
 * replies it gets itself; the file makes them leave room for each other. It is safe to lose, and a process that is killed
 * is forgotten after a few seconds.
 *
 * Works where there is `node:fs`, which is loaded when it is used.
 */
import { Clock, Effect, Option, Random, Schedule, Schema, type Scope } from "effect"
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

/** Access to the estimate that is shared. */
export interface Estimate {
  readonly get: () => Estimator.State
  readonly change: (change: (state: Estimator.State) => Estimator.State) => void
}

/**
 * Shares an estimate through the file at `path`, for as long as the scope lasts. A file that cannot be read is told once and
 * replaced; one that cannot be written is told once and done without.
 */
export const share = Effect.fnUntraced(function* (
  path: string,
  estimate: Estimate
): Effect.fn.Return<void, never, Scope.Scope> {
  const fs = yield* Effect.promise(() => import("node:fs/promises"))
  const me = `${process.pid}-${(yield* Random.nextIntBetween(0, 0xffffffff)).toString(36)}`
  const members = `${path}.members`
  const mine = `${members}/${me}`
  let told = false
  const tellOnce = (what: string) =>
    Effect.suspend(() => {
      if (told) return Effect.void
      told = true
      return Effect.logWarning(`The allowance file ${what}; this process goes by its own replies.`)
    })

  const read = Effect.tryPromise(() => fs.readFile(path, "utf8")).pipe(
    Effect.option,
    Effect.flatMap(
      Option.match({
        onNone: () => Effect.succeedNone,
        onSome: (text) =>
          Effect.option(decode(text)).pipe(
            Effect.tap((shared) => (Option.isNone(shared) ? tellOnce("is damaged and is replaced") : Effect.void))
          )
      })
    )
  )

  const write = Effect.fnUntraced(function* (shared: Shared) {
    const text = yield* Effect.orDie(encode(shared))
    yield* Effect.tryPromise(async () => {
      await fs.writeFile(`${mine}.new`, text, { mode: 0o600 })
      await fs.rename(`${mine}.new`, path)
    })
  })

  /** Shows that this process is there, and counts the others that are. */
  const meet = Effect.fnUntraced(function* (now: number) {
    yield* Effect.tryPromise(() => fs.writeFile(mine, String(now), { mode: 0o600 }))
    const names = yield* Effect.tryPromise(() => fs.readdir(members))
    let peers = 0
    for (const name of names) {
      if (name === me || name.endsWith(".new")) continue
      const seenAt = Number(
        yield* Effect.option(Effect.tryPromise(() => fs.readFile(`${members}/${name}`, "utf8"))).pipe(
          Effect.map(Option.getOrElse(() => "0"))
        )
      )
      if (now - seenAt < staleMillis) peers++
      else yield* Effect.ignore(Effect.tryPromise(() => fs.rm(`${members}/${name}`, { force: true })))
    }
    return peers
  })

  const exchange = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const peers = yield* meet(now)
    const theirs = Option.getOrUndefined(yield* read)
    estimate.change((state) => Estimator.shared(state, { peers, ...theirs }, now))
    const { clock, pausedUntil, view } = estimate.get()
    // The newest view is worth keeping for whoever begins next.
    const newest = view === undefined || (theirs?.view?.receivedAt ?? 0) > view.receivedAt ? theirs?.view : view
    yield* write({
      version: 1,
      pausedUntil: Math.max(pausedUntil, theirs?.pausedUntil ?? 0),
      ...(clock && { clock }),
      ...(newest && { view: newest })
    })
  }).pipe(Effect.catch(() => tellOnce("cannot be written")))

  yield* Effect.ignore(Effect.tryPromise(() => fs.mkdir(members, { recursive: true, mode: 0o700 })))
  yield* exchange
  yield* Effect.forkScoped(Effect.repeat(exchange, Schedule.spaced(everyMillis)))
  yield* Effect.addFinalizer(() =>
    Effect.andThen(exchange, Effect.ignore(Effect.tryPromise(() => fs.rm(mine, { force: true }))))
  )
})
