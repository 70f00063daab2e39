/**
 * All sinks of the daemon (receivers of its events), and the changes that a person may make to a running sink. The sinks are independent:
 * a failing sink does not affect the others.
 */
import { Clock, Context, Deferred, Effect, Layer, Option, Queue, type Scope } from "effect"
import { ofAccount } from "../diff/Fact.ts"
import type { Cursor } from "../events/Cursor.ts"
import { daemonAccount, type DisabledReason } from "../events/DaemonFact.ts"
import type { FailingAt } from "../store/conditions.ts"
import { waitUntil } from "../store/Signal.ts"
import type { Backlog, SinkRow } from "../store/sinks.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { type Courier, makeCourier, makeStdoutCourier, type Receiver, receiverUp, whileItMayPass } from "./Courier.ts"
import { runCommand } from "./exec/runCommand.ts"
import { type Outcome, receiverStates } from "./Health.ts"
import type { SinkOptions } from "./SinkOptions.ts"
import { lagOf, openSink, readEvents } from "./SinkReader.ts"
import { Stdout } from "./Stdout.ts"
import { makeSender } from "./webhook/send.ts"

/** Hands one event to the receiver of a sink. */
export type Attempt = (id: string, body: string) => Effect.Effect<Outcome>

/** The function that makes a sink's attempts; null for stdout, which takes many events at once. */
export const makeAttempt = ({
  target
}: Pick<SinkOptions, "target">): Effect.Effect<Attempt | null, never, Scope.Scope> => {
  switch (target._tag) {
    case "Webhook":
      return makeSender(target)
    case "Mail":
      return Effect.flatMap(
        Effect.promise(() => import("./mail/sendMail.ts")),
        ({ makeMailSender }) => makeMailSender(target)
      )
    case "Exec":
      return Effect.succeed((_, body) => runCommand(target, body))
    case "Stdout":
      return Effect.succeed(null)
  }
}

/** How a sink makes its attempts. Tests without a network replace this. */
export const MakeAttempt = Context.Reference<typeof makeAttempt>("@berthkit/watch/deliver/MakeAttempt", {
  defaultValue: () => makeAttempt
})

/** The normal state first. `failing`: all recent attempts failed. `removed`: the config has no such sink. */
export const sinkStates = [...receiverStates, "disabled", "removed"] as const

/** A removed sink counts no unread events, because nobody waits for them. */
export interface SinkState extends Backlog, Pick<SinkRow, "name" | "failingSinceMillis" | "changedAtMillis"> {
  readonly state: (typeof sinkStates)[number]
  /** Why it is retrying, failing, down or disabled. */
  readonly message: string | null
  /** The sink is disabled if it has more unread events than this; null if its config is unknown. */
  readonly maxLag: number | null
}

/** Why a sink cannot be forgotten. */
export type KeptBecause = "configured" | "unknownConfig"

/** Pause before a sink restarts after it lost an account or its cursor. */
const lostPause = "100 millis"

/** Pause between two checks whether a sink has read everything. */
const idlePause = "10 millis"

/** One sink: the effect that runs it, and a function that makes a change while the sink is stopped. */
const makeSink = Effect.fnUntraced(function* (
  options: SinkOptions,
  watched: ReadonlyArray<string>,
  report: (sink: string, reason: DisabledReason, message: string) => Effect.Effect<void, StoreFailed>
) {
  const { name } = options
  const store = yield* Store
  const context = yield* Effect.context<Store | Stdout>()
  const attempt = yield* (yield* MakeAttempt)(options)
  yield* openSink(options, watched)
  /** Changes that a person asked for. Each is made while the sink is stopped. */
  const orders = yield* Queue.unbounded<Effect.Effect<void>>()
  let courier: Courier | null = null

  /** Waits until a person changes the sink in another process. */
  const ordered = Effect.gen(function* () {
    const orders = whileItMayPass(store.ordersOf(name))
    const before = yield* orders
    yield* waitUntil(
      store.newEvents,
      Effect.map(orders, (count) => count !== before)
    )
  })

  const disable = (reason: DisabledReason, message: string) =>
    Effect.andThen(whileItMayPass(store.setDisabled(name, { reason, message })), report(name, reason, message))

  const deliver = Effect.gen(function* () {
    const row = (yield* whileItMayPass(store.sinks)).find((row) => row.name === name)
    if (row?.disabled != null) return yield* ordered
    courier =
      attempt === null
        ? yield* makeStdoutCourier(name)
        : yield* makeCourier(name, row?.failingSinceMillis ?? null, attempt)
    const end = yield* Effect.raceFirst(courier.run, readEvents(options, courier))
    if ("reason" in end) return yield* disable(end.reason, end.message)
    if (end._tag === "Ordered") return
    return yield* disable("lagging", `${end.unread} events are unread, more than its maxLag of ${options.maxLag}`)
  }).pipe(
    // Another process owns an account now or has set the cursor back, so the sink restarts from the state in the store.
    Effect.catchIf(
      (failure) => failure._tag === "StoreFailed" && failure.fault === "lost",
      () => Effect.sleep(lostPause)
    ),
    Effect.ensuring(Effect.sync(() => (courier = null)))
  )

  // Delivery stops before the change is made. The change stays queued until then.
  const run = Effect.raceFirst(deliver, Queue.peek(orders)).pipe(
    Effect.andThen(
      Effect.flatMap(
        Queue.poll(orders),
        Option.getOrElse(() => Effect.void)
      )
    ),
    Effect.forever,
    Effect.provideContext(context)
  )

  const whileStopped = <A>(effect: Effect.Effect<A, StoreFailed>) =>
    Effect.gen(function* () {
      const done = yield* Deferred.make<A, StoreFailed>()
      yield* Queue.offer(orders, Effect.asVoid(Deferred.into(effect, done)))
      return yield* Deferred.await(done)
    })

  return { options, run, whileStopped, courier: () => courier }
})

/**
 * `options`: the sinks to run. `configured`: the sinks of the config; null if the config is unknown. `watched`: the accounts
 * that the daemon watches.
 */
const makeSinks = Effect.fnUntraced(function* (
  options: ReadonlyArray<SinkOptions>,
  configured: ReadonlyArray<SinkOptions> | null,
  watched: ReadonlyArray<string>
) {
  const store = yield* Store
  /** Reports that a sink was disabled, as an event of the daemon itself. */
  const report = Effect.fnUntraced(function* (sink: string, reason: DisabledReason, message: string) {
    const atMillis = yield* Clock.currentTimeMillis
    const identity = ofAccount(`${sink} ${atMillis}`)
    const fact = { type: "berth.sink.disabled", data: { sink, reason, message }, identity, atMillis } as const
    yield* whileItMayPass(store.commitOfDaemon([fact])).pipe(
      // The event was committed already before the connection broke.
      Effect.catchIf(
        ({ fault }) => fault === "repeated",
        () => store.noteCommitted(daemonAccount, [fact])
      )
    )
  })
  const sinks = new Map<string, Effect.Success<ReturnType<typeof makeSink>>>()
  for (const each of options) sinks.set(each.name, yield* makeSink(each, watched, report))

  const optionsOf = new Map(configured?.map((each) => [each.name, each]))

  const stateOf = (
    { disabled, message, name }: SinkRow,
    failing: ReadonlyArray<FailingAt>
  ): Pick<SinkState, "state" | "message"> => {
    if (configured !== null && !optionsOf.has(name)) return { state: "removed", message: null }
    if (disabled !== null) return { state: "disabled", message }
    // Show the worst state that this process, another process or the previous process has found.
    const found: ReadonlyArray<Pick<Receiver, "state" | "reason">> = [
      sinks.get(name)?.courier()?.receiver() ?? receiverUp,
      ...failing.filter(({ sink }) => sink === name).map(({ receiver }) => receiver)
    ]
    const { reason, state } = receiverStates
      .map((state) => found.find((each) => each.state === state))
      .findLast((each) => each !== undefined)!
    return { state, message: reason }
  }

  const statusOf = Effect.fnUntraced(function* (row: SinkRow, failing: ReadonlyArray<FailingAt>) {
    const { changedAtMillis, name } = row
    const backlog = yield* store.backlog(name)
    const present = stateOf(row, failing)
    const since = failing.filter(({ sink }) => sink === name).map(({ receiver }) => receiver.sinceMillis)
    const failingSinceMillis = since.length === 0 ? row.failingSinceMillis : Math.min(...since)
    return {
      name,
      ...present,
      ...backlog,
      unread: present.state === "removed" ? 0 : backlog.unread,
      failingSinceMillis,
      changedAtMillis,
      maxLag: optionsOf.get(name)?.maxLag ?? null
    } satisfies SinkState
  })

  const isDisabled = (name: string) =>
    Effect.map(store.sinks, (rows) => rows.some((row) => row.name === name && row.disabled !== null))

  const stopped = <A>(name: string, effect: Effect.Effect<A, StoreFailed>) => {
    const sink = sinks.get(name)
    return sink === undefined ? effect : sink.whileStopped(effect)
  }

  const ownHeads = Effect.map(store.heads, (heads) => heads.filter(({ account }) => store.epochOf(account) !== null))

  return {
    /**
     * Delivers to all sinks. Ends only if the store or stdout becomes unusable, and otherwise runs until interrupted, even without sinks.
     */
    run: Effect.andThen(
      Effect.forEach(Array.from(sinks.values()), ({ run }) => run, { concurrency: "unbounded", discard: true }),
      Effect.never
    ),
    status: Effect.gen(function* () {
      const failing = yield* store.failingReceivers
      return yield* Effect.forEach(yield* store.sinks, (row) => statusOf(row, failing))
    }),
    /** The state of each sink's receiver as this process has found it, with the accounts whose events it delivers. */
    receivers: (): ReadonlyMap<string, { readonly receiver: Receiver } & ReturnType<Courier["accounts"]>> => {
      const present = new Map<string, { readonly receiver: Receiver } & ReturnType<Courier["accounts"]>>()
      for (const [name, { courier }] of sinks) {
        const at = courier()
        if (at !== null) present.set(name, { receiver: at.receiver(), ...at.accounts() })
      }
      return present
    },
    enable: (name: string) => stopped(name, store.setDisabled(name, null)),
    disable: (name: string) => stopped(name, store.setDisabled(name, { reason: "requested", message: "as requested" })),
    /**
     * Disables a sink that prevents old events from being removed although the space is used up. The other sinks get an event
     * about it.
     */
    disableLagging: (name: string, message: string) =>
      Effect.andThen(
        stopped(name, store.setDisabled(name, { reason: "lagging", message })),
        report(name, "lagging", message)
      ),
    /** Delivers dead letters and waiting retries at once; returns the number of each. The receiver counts as up. */
    retry: (name: string) => stopped(name, store.retry(name)),
    /** Delivers one dead letter at once; returns false if there is none with this id. */
    revive: (name: string, id: string) => stopped(name, store.revive(name, id)),
    replay: (name: string, cursor: Cursor, account?: string) => stopped(name, store.replay(name, cursor, account)),
    /** Forgets a sink that the config no longer has. Returns null, or why the sink cannot be forgotten. */
    remove: Effect.fnUntraced(function* (name: string): Effect.fn.Return<KeptBecause | null, StoreFailed> {
      if (configured === null) return "unknownConfig"
      if (optionsOf.has(name)) return "configured"
      yield* store.removeSink(name)
      return null
    }),
    /** Begins no more deliveries, and waits until the outcomes of the running ones are stored. */
    handOver: Effect.forEach(Array.from(sinks.values()), ({ courier }) => courier()?.handOver ?? Effect.void, {
      concurrency: "unbounded",
      discard: true
    }),
    /** Waits until every reachable sink has read and delivered everything. */
    idle: Effect.gen(function* () {
      for (const { courier, options } of sinks.values()) {
        for (;;) {
          const present = courier()
          if (present?.receiver().state === "down" || (yield* isDisabled(options.name))) break
          if (present !== null) yield* present.idle
          if (present !== null && lagOf(options, yield* store.placesOf(options.name), yield* ownHeads) === 0) break
          yield* Effect.sleep(idlePause)
        }
      }
    })
  }
})

export class Sinks extends Context.Service<Sinks, Effect.Success<ReturnType<typeof makeSinks>>>()(
  "@berthkit/watch/deliver/Sinks"
) {
  /** `watched`: the accounts that the daemon watches. */
  static readonly layer = (
    options: ReadonlyArray<SinkOptions>,
    watched: ReadonlyArray<string>
  ): Layer.Layer<Sinks, StoreFailed, Store | Stdout> => Layer.effect(Sinks, makeSinks(options, options, watched))

  /** The sinks of a store without a running daemon, in their last state; null if the config is unknown. */
  static readonly layerAtRest = (
    configured: ReadonlyArray<SinkOptions> | null
  ): Layer.Layer<Sinks, StoreFailed, Store | Stdout> => Layer.effect(Sinks, makeSinks([], configured, []))
}
