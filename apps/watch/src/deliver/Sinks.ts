/**
 * All sinks of the daemon, each by itself: what one does or fails to do changes nothing for another. And what a person may do
 * with one while it runs.
 */
import { Clock, Context, Deferred, Effect, Layer, Option, Queue, Semaphore } from "effect"
import type { Cursor } from "../events/Cursor.ts"
import { type DisabledReason, daemonAccount } from "../events/DaemonFact.ts"
import type { SinkRow } from "../store/sinks.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { makeAttempt } from "./attempt.ts"
import { type Courier, makeCourier, whileItMayPass } from "./Courier.ts"
import { lagOf, openSink, readEvents } from "./SinkReader.ts"
import type { SinkOptions } from "./SinkOptions.ts"
import { makeStdoutCourier } from "./StdoutCourier.ts"
import { Stdout, type StreamClosed } from "./Stdout.ts"

interface SinkStatus {
  readonly name: string
  readonly state: "up" | "down" | "disabled"
  /** Why it is down or disabled. */
  readonly message: string | null
  /** Events that it has not read. */
  readonly unread: number
  /** Events that it has read and not delivered. */
  readonly pending: number
  readonly dead: number
}

/** Between two checks whether a sink has read everything. */
const idlePause = "10 millis"

/** One sink: what runs it, and a way to do something with it while it stands still. */
interface RunningSink {
  readonly options: SinkOptions
  readonly run: Effect.Effect<never, StoreFailed | StreamClosed>
  readonly whileStopped: <A>(effect: Effect.Effect<A, StoreFailed>) => Effect.Effect<A, StoreFailed>
  readonly courier: () => Courier | null
}

const makeSink = Effect.fnUntraced(function* (
  options: SinkOptions,
  watched: ReadonlyArray<string>,
  report: (sink: string, reason: DisabledReason, message: string) => Effect.Effect<void, StoreFailed>
) {
  const { name } = options
  const store = yield* Store
  const context = yield* Effect.context<Store | Stdout>()
  const attempt = yield* makeAttempt(options)
  yield* openSink(options, watched)
  /** What to do while the sink stands still. */
  const orders = yield* Queue.unbounded<Effect.Effect<void>>()
  let courier: Courier | null = null

  const disable = (reason: DisabledReason, message: string) =>
    Effect.andThen(whileItMayPass(store.setDisabled(name, { reason, message })), report(name, reason, message))

  const deliver = Effect.gen(function* () {
    const begin = yield* whileItMayPass(store.cursorOf(name))
    const row = (yield* whileItMayPass(store.sinks)).find((row) => row.name === name)
    if (row?.disabled != null) return yield* Effect.never
    courier =
      attempt === null
        ? yield* makeStdoutCourier(name)
        : yield* makeCourier(name, row?.failingSinceMillis ?? null, attempt)
    const end = yield* Effect.raceFirst(courier.run, readEvents(options, begin, courier))
    if ("reason" in end) return yield* disable(end.reason, end.message)
    return yield* disable("lagging", `${end.unread} events are unread, more than its maxLag of ${options.maxLag}`)
  }).pipe(Effect.ensuring(Effect.sync(() => (courier = null))))

  // An order is done after the delivering has ended, and left in the queue until then.
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

  return { options, run, whileStopped, courier: () => courier } satisfies RunningSink
})

const makeSinks = Effect.fnUntraced(function* (options: ReadonlyArray<SinkOptions>, watched: ReadonlyArray<string>) {
  const store = yield* Store
  // A claim ends the ownership of the one before: between it and its commit there may be no other.
  const reporting = yield* Semaphore.make(1)
  /** To the other sinks, as an event of the daemon itself. */
  const report = Effect.fnUntraced(function* (sink: string, reason: DisabledReason, message: string) {
    const atMillis = yield* Clock.currentTimeMillis
    const identity = { nodeId: null, incarnation: null, life: null, version: `${sink} ${atMillis}` }
    const fact = { type: "berth.sink.disabled", data: { sink, reason, message }, identity, atMillis } as const
    const { owner } = yield* whileItMayPass(store.claim(daemonAccount))
    yield* whileItMayPass(store.commit(owner, { events: [fact] }))
  }, reporting.withPermit)
  const sinks = new Map<string, RunningSink>()
  for (const each of options) sinks.set(each.name, yield* makeSink(each, watched, report))

  const statusOf = Effect.fnUntraced(function* ({ disabled, message, name }: SinkRow) {
    const backlog = yield* store.backlog(name)
    if (disabled !== null) return { name, state: "disabled", message, ...backlog } satisfies SinkStatus
    const downReason = sinks.get(name)?.courier()?.downReason() ?? null
    return { name, state: downReason === null ? "up" : "down", message: downReason, ...backlog } satisfies SinkStatus
  })

  const isDisabled = (name: string) =>
    Effect.map(store.sinks, (rows) => rows.some((row) => row.name === name && row.disabled !== null))

  const stopped = <A>(name: string, effect: Effect.Effect<A, StoreFailed>) => {
    const sink = sinks.get(name)
    return sink === undefined ? effect : sink.whileStopped(effect)
  }

  return {
    /** Delivers to all sinks, of which there may be none; ends only when the store or stdout cannot be used any more. */
    run: Effect.andThen(
      Effect.forEach(Array.from(sinks.values()), ({ run }) => run, { concurrency: "unbounded", discard: true }),
      Effect.never
    ),
    status: Effect.flatMap(store.sinks, (rows) => Effect.forEach(rows, statusOf)),
    enable: (name: string) => stopped(name, store.setDisabled(name, null)),
    disable: (name: string) => stopped(name, store.setDisabled(name, { reason: "requested", message: "as requested" })),
    /** Disables a sink that holds up the removal of events that there is no room for; the other sinks get that as an event. */
    release: (name: string, message: string) =>
      Effect.andThen(
        stopped(name, store.setDisabled(name, { reason: "lagging", message })),
        report(name, "lagging", message)
      ),
    /** Delivers dead letters, and what waits for its next attempt, at once; gives how many of each. The receiver counts as up. */
    retry: (name: string) => stopped(name, store.retry(name)),
    /** Delivers one dead letter at once; gives whether there was one. */
    revive: (name: string, id: string) => stopped(name, store.revive(name, id)),
    replay: (name: string, cursor: Cursor) => stopped(name, store.replay(name, cursor)),
    /** Waits until every sink that is up has read and delivered all there is. */
    idle: Effect.gen(function* () {
      for (const { courier, options } of sinks.values()) {
        for (;;) {
          const present = courier()
          if (present?.downReason() != null || (yield* isDisabled(options.name))) break
          if (present !== null) yield* present.idle
          if (present !== null && lagOf(options, yield* store.cursorOf(options.name), yield* store.heads) === 0) break
          yield* Effect.sleep(idlePause)
        }
      }
    })
  }
})

export class Sinks extends Context.Service<Sinks, Effect.Success<ReturnType<typeof makeSinks>>>()(
  "@berth/watch/deliver/Sinks"
) {
  /** `watched`: the accounts that the daemon watches. */
  static readonly layer = (
    options: ReadonlyArray<SinkOptions>,
    watched: ReadonlyArray<string>
  ): Layer.Layer<Sinks, StoreFailed, Store | Stdout> => Layer.effect(Sinks, makeSinks(options, watched))
}
