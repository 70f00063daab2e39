/**
 * Delivers events to one sink (a receiver of events): makes the attempts that the sink's queues start, and stores their outcomes in
 * batches. If the process is killed before it has stored the outcome of an attempt, the next process repeats the attempt with the same
 * event id. Stdout has its own courier, without queues.
 */
import { Cause, Clock, Effect, Queue, Random, Result, Schedule } from "effect"
import { type AttemptEnd, type Delivery, type DeliveryKey, keyOf } from "../store/deliveries.ts"
import { makeSignal, waitUntil } from "../store/Signal.ts"
import { Store } from "../store/Store.ts"
import { mayPass, type StoreFailed } from "../store/StoreFailed.ts"
import { type Failed, type Outcome, type ReceiverState } from "./Health.ts"
import { Queues } from "./Queues.ts"
import { Stdout, type StreamClosed } from "./Stdout.ts"

/** Concurrent attempts of one sink. */
const maxInFlight = 8

/** A sink with this many pending deliveries stops reading new events. */
const maxLeft = 10_000

/**
 * Maximum number of pending deliveries that a process loads for a sink. A new sink that starts with a baseline has one for
 * every node.
 */
export const maxLoaded = 1_000_000

/** Pause before retrying a store that failed. */
const storePauseMillis = 1000

/**
 * Limits on the outcomes that wait for the next transaction: their time, and their number. Outcomes are stored together because each
 * transaction waits for the disk, and many receivers are faster than the disk.
 */
const maxUnsavedMillis = 50
const maxUnsaved = 500

const never = Number.POSITIVE_INFINITY

/** `Taken`: more deliveries were added. */
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
  /** Takes over the pending deliveries of accounts that this process owns from now on. */
  readonly resume: (accounts: ReadonlyArray<string>, deliveries: ReadonlyArray<Delivery>) => void
  /** Stops delivering for an account that another process owns now. */
  readonly forget: (account: string) => void
  readonly heldOf: Queues["heldOf"]
  /** Whether few enough deliveries are pending for the sink to read on. */
  readonly hasRoom: () => boolean
  /** Waits until there is room. */
  readonly room: Effect.Effect<void>
  /** Waits until no attempt is running or due, and all outcomes are stored. */
  readonly idle: Effect.Effect<void>
  /**
   * Begins no more attempts, and waits until the running ones have ended and their outcomes are stored. Another process then delivers the
   * rest, and repeats nothing.
   */
  readonly handOver: Effect.Effect<void>
  readonly receiver: () => Receiver
  /**
   * `left`: the accounts with pending deliveries. `unproven`: the accounts that were added since the last successful attempt.
   */
  readonly accounts: () => { readonly left: ReadonlySet<string>; readonly unproven: ReadonlySet<string> }
}

/** The state of a receiver. */
export interface Receiver {
  readonly state: ReceiverState
  /** Why the last attempt failed; null while the receiver is up. */
  readonly reason: string | null
  /** Since when nothing was delivered; null while the receiver is up. */
  readonly sinceMillis: number | null
}

export const receiverUp: Receiver = { state: "up", reason: null, sinceMillis: null }

/** Retries while the store may recover. Only the write to the store is retried, never an attempt. */
export const whileItMayPass = <A, R>(effect: Effect.Effect<A, StoreFailed, R>): Effect.Effect<A, StoreFailed, R> =>
  Effect.retry(effect, { while: mayPass, schedule: Schedule.spaced(storePauseMillis) })

export const makeCourier = Effect.fnUntraced(function* (
  sink: string,
  failingSinceMillis: number | null,
  attempt: (id: string, body: string) => Effect.Effect<Outcome>
): Effect.fn.Return<Courier, never, Store> {
  const store = yield* Store
  const queues = new Queues(maxInFlight, failingSinceMillis)
  const mailbox = yield* Queue.unbounded<Message, StoreFailed>()
  const turned = makeSignal()

  /**
   * Outcomes that are not stored yet: the last outcome of each delivery. If the store fails for a while, for example on
   * a full disk, the courier stores them later. Meanwhile other attempts continue, and no attempt is repeated.
   */
  const unsaved = new Map<string, AttemptEnd>()
  let savedFailingSinceMillis = failingSinceMillis
  /** When to store the outcomes; null if there are none. */
  let saveAtMillis: number | null = null
  let isStuck = false
  let isEnding = false

  const isSaved = () => unsaved.size === 0 && queues.health.failingSinceMillis === savedFailingSinceMillis

  const save = Effect.gen(function* () {
    saveAtMillis = null
    if (isSaved()) return
    const since = queues.health.failingSinceMillis
    const saved = yield* Effect.result(store.record(sink, Array.from(unsaved.values()), since))
    isStuck = Result.isFailure(saved)
    if (Result.isSuccess(saved)) {
      savedFailingSinceMillis = since
      unsaved.clear()
    } else {
      if (!mayPass(saved.failure)) return yield* saved.failure
      saveAtMillis = (yield* Clock.currentTimeMillis) + storePauseMillis
    }
  })

  /** If no attempt is running, no more outcomes will join the batch, so it is stored at once. */
  const isSaveDue = (nowMillis: number): boolean =>
    saveAtMillis !== null &&
    (saveAtMillis <= nowMillis || (!isStuck && (queues.inFlight === 0 || unsaved.size >= maxUnsaved)))

  const note = (end: AttemptEnd) => unsaved.set(keyOf(end.delivery), end)

  const attemptOne = Effect.fnUntraced(
    function* (delivery: Delivery) {
      const body = yield* whileItMayPass(store.bodyOf(sink, delivery))
      // The event was withdrawn in the meantime, so there is nothing to deliver.
      const outcome: Outcome = body === null ? { _tag: "Delivered" } : yield* attempt(delivery.id, body)
      yield* Queue.offer(mailbox, { _tag: "Answered", delivery, outcome })
      // Without an outcome the delivery would count as running indefinitely and block its queue.
    },
    Effect.tapCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.void : Queue.failCause(mailbox, cause)))
  )

  let lastReason = "it failed before this process began"

  const afterFailure = Effect.fnUntraced(function* (delivery: Delivery, outcome: Failed) {
    lastReason = outcome.reason
    const now = yield* Clock.currentTimeMillis
    const consequence = queues.failed(delivery, outcome, now, yield* Random.next)
    const { reason } = outcome
    if (consequence._tag === "Disable") return { reason: consequence.reason, message: reason }
    if (consequence._tag === "Retry") note({ _tag: "Due", delivery: consequence.delivery })
    if (consequence._tag === "GiveUp") note({ _tag: "GivenUp", delivery: consequence.delivery, reason })
    return null
  })

  /** Processes messages. Returns the end if one of them ends the courier, otherwise null. */
  const handle = Effect.fnUntraced(function* (messages: ReadonlyArray<Message>) {
    let end: CourierEnd | null = null
    for (const message of messages) {
      if (message._tag === "Taken") continue
      const { delivery, outcome } = message
      if (outcome._tag === "Failed") {
        end = (yield* afterFailure(delivery, outcome)) ?? end
      } else {
        queues.succeeded(delivery)
        note({ _tag: "Delivered", delivery })
      }
    }
    const now = yield* Clock.currentTimeMillis
    if (saveAtMillis === null && !isSaved()) saveAtMillis = now + maxUnsavedMillis
    return end
  })

  /** Messages until the next delivery is due. */
  const messagesUntil = Effect.fnUntraced(function* (nextMillis: number, nowMillis: number) {
    const all = Queue.takeAll(mailbox)
    if (nextMillis === never) return yield* all
    return yield* Effect.timeoutOrElse(all, {
      duration: Math.max(1, nextMillis - nowMillis),
      orElse: () => Effect.succeed<ReadonlyArray<Message>>([])
    })
  })

  const run = Effect.gen(function* () {
    for (;;) {
      const now = yield* Clock.currentTimeMillis
      if (!isEnding) for (const delivery of queues.start(now)) yield* Effect.forkChild(attemptOne(delivery))
      if (isSaveDue(now)) yield* save
      yield* turned.notify
      const nextMillis = isEnding ? null : queues.nextMillis()
      const wakeAt = Math.min(nextMillis ?? never, saveAtMillis ?? never)
      const end = yield* handle(yield* messagesUntil(wakeAt, now))
      if (end !== null) return end
    }
  }).pipe(Effect.ensuring(Effect.ignore(save)))

  /** Checks a condition now, and after each change of the deliveries. */
  const until = (condition: (nowMillis: number) => boolean) =>
    waitUntil(turned.wait, Effect.map(Clock.currentTimeMillis, condition))

  const hasRoom = () => queues.size < maxLeft

  /** Whether no attempt is running, and all outcomes are stored. */
  const isSettled = () => Queue.sizeUnsafe(mailbox) === 0 && queues.inFlight === 0 && unsaved.size === 0

  return {
    run,
    take: (deliveries, dropped) => {
      // Add them now rather than by a message, because the reader asks for held changes before the courier's next turn.
      queues.remove(dropped)
      queues.add(deliveries)
      Queue.offerUnsafe(mailbox, { _tag: "Taken" })
    },
    resume: (accounts, deliveries) => {
      queues.resume(accounts, deliveries)
      Queue.offerUnsafe(mailbox, { _tag: "Taken" })
    },
    forget: (account) => queues.forget(account),
    heldOf: (key) => queues.heldOf(key),
    hasRoom,
    room: until(hasRoom),
    idle: until((now) => {
      const next = queues.nextMillis()
      return isSettled() && (next === null || next > now)
    }),
    handOver: Effect.suspend(() => {
      isEnding = true
      return until(isSettled)
    }),
    receiver: () => {
      const state = queues.receiver
      return state === "up" ? receiverUp : { state, reason: lastReason, sinceMillis: queues.health.failingSinceMillis }
    },
    accounts: () => ({ left: queues.accounts, unproven: queues.unproven })
  }
})

/** Lines per write. */
const maxLines = 500

/**
 * Delivers to stdout: one event per line, in the order of reading. Each batch is written completely before the next. A process
 * that is killed in between writes the batch again.
 */
export const makeStdoutCourier = Effect.fnUntraced(function* (sink: string) {
  const store = yield* Store
  const { write } = yield* Stdout
  const turned = makeSignal()
  let left: Array<Delivery> = []

  const writeBatch = Effect.gen(function* () {
    const batch = left.slice(0, maxLines)
    const bodies = yield* whileItMayPass(store.bodiesOf(sink, batch))
    yield* write(bodies.map((body) => (body === null ? "" : `${body}\n`)).join(""))
    const ends = batch.map((delivery) => ({ _tag: "Delivered", delivery }) as const)
    yield* whileItMayPass(store.record(sink, ends, null))
    const written = new Set(batch)
    left = left.filter((delivery) => !written.has(delivery))
    yield* turned.notify
  })

  const until = (condition: () => boolean) => waitUntil(turned.wait, Effect.sync(condition))

  const hasRoom = () => left.length < maxLeft

  const add = (deliveries: ReadonlyArray<Delivery>) => {
    left.push(...deliveries)
    turned.notifyUnsafe()
  }

  const courier: Courier = {
    run: Effect.forever(Effect.suspend(() => (left.length === 0 ? until(() => left.length > 0) : writeBatch))),
    take: add,
    resume: (_, deliveries) => add(deliveries),
    // Drops the rest of the account's events. The batch that is being written is finished.
    forget: (account) => void (left = left.filter((delivery) => delivery.account !== account)),
    heldOf: () => null,
    hasRoom,
    room: until(hasRoom),
    idle: until(() => left.length === 0),
    handOver: until(() => left.length === 0),
    receiver: () => receiverUp,
    accounts: () => ({ left: new Set(), unproven: new Set() })
  }
  return courier
})
