/**
 * Delivers what a sink has taken: attempts what its queues start, and keeps in the store how each attempt ended. A process that
 * is killed between an attempt and that attempts again, with the same id.
 */
import { Clock, Effect, Queue, Random, Result, Schedule } from "effect"
import type { Delivery, DeliveryKey } from "../store/sinks.ts"
import { makeSignal } from "../store/Signal.ts"
import { Store } from "../store/Store.ts"
import { mayPass, type StoreFailed } from "../store/StoreFailed.ts"
import type { Failed, Outcome } from "./Outcome.ts"
import { Queues } from "./queue/Queues.ts"
import type { StreamClosed } from "./Stdout.ts"

/** Attempts of one sink that are under way at once. */
const maxInFlight = 8

/** With so many deliveries left a sink reads no further. */
const maxLeft = 10_000

/** All that a sink can have left: what it read, or every node of a new sink's baseline. */
export const maxLoaded = 1_000_000

/** Before the store is asked again after it failed. */
const storePauseMillis = 1000

/** `Taken`: there are more deliveries. */
type Message =
  | { readonly _tag: "Taken" }
  | { readonly _tag: "Answered"; readonly delivery: Delivery; readonly outcome: Outcome }

/** Why a courier ended: the receiver is gone, or nothing was delivered for too long. */
interface CourierEnd {
  readonly reason: "gone" | "failing"
  readonly message: string
}

export interface Courier {
  /** Delivers until the sink has to be disabled. */
  readonly run: Effect.Effect<CourierEnd, StoreFailed | StreamClosed>
  readonly take: (deliveries: ReadonlyArray<Delivery>, dropped: ReadonlyArray<DeliveryKey>) => void
  readonly heldOf: Queues["heldOf"]
  /** Waits while too much is left. */
  readonly room: Effect.Effect<void>
  /** Waits until nothing is under way and nothing is due. */
  readonly idle: Effect.Effect<void>
  /** Whether the receiver is down. */
  readonly isDown: () => boolean
}

/** Waits out a store that may work again; an attempt that was made stays made meanwhile. */
export const whileItMayPass = <A, R>(effect: Effect.Effect<A, StoreFailed, R>): Effect.Effect<A, StoreFailed, R> =>
  Effect.retry(effect, { while: mayPass, schedule: Schedule.spaced(storePauseMillis) })

export const makeCourier = Effect.fnUntraced(function* (
  sink: string,
  failingSinceMillis: number | null,
  attempt: (id: string, body: string) => Effect.Effect<Outcome>
): Effect.fn.Return<Courier, StoreFailed, Store> {
  const store = yield* Store
  const queues = new Queues(maxInFlight, failingSinceMillis)
  queues.add(yield* store.deliveries(sink, maxLoaded))
  const mailbox = yield* Queue.unbounded<Message>()
  const turned = makeSignal()

  /** What the store could not take yet, such as on a full disk. An attempt stays made, and others go on meanwhile. */
  const unsaved: Array<Effect.Effect<void, StoreFailed>> = []

  const saveAll = Effect.gen(function* () {
    for (;;) {
      const [write] = unsaved
      if (write === undefined) return
      const saved = yield* Effect.result(write)
      if (Result.isFailure(saved)) return mayPass(saved.failure) ? undefined : yield* saved.failure
      unsaved.shift()
    }
  })

  const save = (write: Effect.Effect<void, StoreFailed>) => Effect.sync(() => void unsaved.push(write))

  const attemptOne = Effect.fnUntraced(function* (delivery: Delivery) {
    const body = yield* whileItMayPass(store.bodyOf(sink, delivery))
    // Taken back meanwhile: there is nothing left to deliver.
    const outcome: Outcome = body === null ? { _tag: "Delivered" } : yield* attempt(delivery.id, body)
    yield* Queue.offer(mailbox, { _tag: "Answered", delivery, outcome })
  })

  const afterFailure = Effect.fnUntraced(function* (delivery: Delivery, outcome: Failed) {
    const now = yield* Clock.currentTimeMillis
    const wasFailing = queues.health.failingSinceMillis !== null
    const consequence = queues.failed(delivery, outcome, now, yield* Random.next)
    switch (consequence._tag) {
      case "Retry":
        yield* save(store.failed(sink, consequence.delivery, queues.health.failingSinceMillis))
        return null
      case "Wait":
        // Only the first: an outage of days would write every minute.
        if (!wasFailing) yield* save(store.failed(sink, delivery, queues.health.failingSinceMillis))
        return null
      case "GiveUp":
        yield* save(store.giveUp(sink, consequence.delivery, outcome.reason))
        return null
      case "Disable":
        return { reason: consequence.reason, message: outcome.reason }
    }
  })

  const handle = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>) {
    const succeeded: Array<Delivery> = []
    let end: CourierEnd | null = null
    for (const message of messages) {
      if (message._tag === "Taken") continue
      if (message.outcome._tag === "Delivered") {
        queues.succeeded(message.delivery)
        succeeded.push(message.delivery)
      } else {
        end = (yield* afterFailure(message.delivery, message.outcome)) ?? end
      }
    }
    if (succeeded.length > 0) yield* save(store.delivered(sink, succeeded))
    yield* saveAll
    return end
  })

  /** What arrives until the next delivery is due. */
  const messagesUntil = Effect.fnUntraced(function* (nextMillis: number | null, nowMillis: number) {
    const all = Queue.takeAll(mailbox)
    if (nextMillis === null) return yield* all
    return yield* Effect.timeoutOrElse(all, {
      duration: Math.max(1, nextMillis - nowMillis),
      orElse: () => Effect.succeed<ReadonlyArray<Message>>([])
    })
  })

  const run = Effect.gen(function* () {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      for (const delivery of queues.start(now)) yield* Effect.forkChild(attemptOne(delivery))
      yield* turned.notify
      const next = queues.nextMillis()
      const saveAt = unsaved.length === 0 ? Number.POSITIVE_INFINITY : now + storePauseMillis
      const wakeAt = Math.min(next ?? Number.POSITIVE_INFINITY, saveAt)
      const end = yield* handle(yield* messagesUntil(Number.isFinite(wakeAt) ? wakeAt : null, now))
      if (end !== null) return end
    }
  })

  /** Checks a condition now, and each time the deliveries changed. */
  const until = (condition: (nowMillis: number) => boolean) =>
    Effect.gen(function* () {
      let seen = 0
      while (!condition(yield* Clock.currentTimeMillis)) seen = yield* turned.wait(seen)
    })

  return {
    run,
    take: (deliveries, dropped) => {
      // At once, so that the reader finds what is held back among it.
      queues.remove(dropped)
      queues.add(deliveries)
      Queue.offerUnsafe(mailbox, { _tag: "Taken" })
    },
    heldOf: (key) => queues.heldOf(key),
    room: until(() => queues.size < maxLeft),
    idle: until((now) => {
      const next = queues.nextMillis()
      const isQuiet = Queue.sizeUnsafe(mailbox) === 0 && queues.inFlight === 0 && unsaved.length === 0
      return isQuiet && (next === null || next > now)
    }),
    isDown: () => queues.health.probeAtMillis !== null
  }
})
