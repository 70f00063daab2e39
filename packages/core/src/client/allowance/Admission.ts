/**
 * Admission: holds every attempt until the estimator lets it go, in order of its lane, or fails it at once when it would
 * have to wait longer than its deadline. One per client; a free allowance costs no queue, no timer and no fiber.
 */
import { Clock, Deferred, Effect, Exit, Latch, Option, type Scope } from "effect"
import { countsFrom } from "../../api/AllowanceHeaders.ts"
import { httpDate } from "../../api/HeaderValues.ts"
import { retryAfterMillis } from "../../api/RetryAfter.ts"
import type { KnownAllowance } from "../../domain/Allowance.ts"
import { WouldExceedDeadline } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Head } from "../transport/Transport.ts"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"
import type { AllowanceStore } from "./AllowanceStore.ts"
import * as Estimator from "./Estimator.ts"
import { differs, knownAllowance } from "./KnownAllowance.ts"
import { Queue, reserveOf } from "./Queue.ts"
import { share } from "./OwnProcesses.ts"

/** What an admitted attempt tells when it is over. */
export interface Ticket {
  readonly lane: Lane
  /** How long it waited, in milliseconds. */
  readonly waitedMillis: number
  /** A reply came. `refused` when it is a failure for want of allowance, wherever that was said. */
  readonly replied: (head: Head, refused: boolean) => Effect.Effect<void>
  /** No reply came: `sent` says whether the service may have counted the request. */
  readonly ended: (sent: boolean) => Effect.Effect<void>
}

/** What admission is asked. */
export interface Request {
  readonly lane: Lane
  /** When the call as a whole has to be over, by the monotonic clock. */
  readonly deadlineAt: number
}

/** Gives an effect within an uninterruptible region back what it was before: interruptible. */
export type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

export interface Admission {
  /**
   * Fails at once where the wait is sure to be longer than what is left until the deadline; else it waits, and its caller
   * interrupts it at the deadline. Run it uninterruptibly, with `restore` for the wait: a ticket that nobody settles would hold up everybody.
   */
  readonly admit: (request: Request, restore: Restore) => Effect.Effect<Ticket, WouldExceedDeadline>
  /** The estimate as it is now. */
  readonly state: () => Estimator.State
  /** What is left of the allowance now, as far as is known. */
  readonly current: Effect.Effect<KnownAllowance>
  /** The next allowance that differs from this one in more than the time that has passed. Whoever is slow skips what lies between. */
  readonly changeAfter: (seen: KnownAllowance) => Effect.Effect<KnownAllowance>
}

/** The wall clock has stepped when it moves by more than this against the monotonic one between two readings. */
const stepMillis = 1000

/** While calls wait, a step is noticed within this time. */
const noticeMillis = 5000

interface Waiter {
  readonly request: Request
  readonly askedAt: number
  readonly answer: Deferred.Deferred<Ticket, WouldExceedDeadline>
}

/** What `Retry-After` itself says: another header that says the same is another statement. */
const retryAfterOf = ({ date, "retry-after": after }: Head["headers"], wallMillis: number) =>
  retryAfterMillis({ date, "retry-after": after }, wallMillis)

/** Admission for one client, over one estimator, which is shared with others through the store there may be. */
export const make = Effect.fnUntraced(function* (
  store: AllowanceStore | undefined
): Effect.fn.Return<Admission, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const queue = new Queue<Waiter>()
  const bell = Latch.makeUnsafe(false)
  const turn = Latch.makeUnsafe(false)
  let watched = 0
  let state = Estimator.initial

  /** Wakes those who watch the allowance: it may have changed. */
  const stir = () => {
    if (watched === 0) return
    turn.openUnsafe()
    turn.closeUnsafe()
  }

  let wallAhead = clock.currentTimeMillisUnsafe() - monotonicMillisUnsafe(clock)

  /** This instant. Whoever reads the clocks notices a step. */
  const now = () => {
    const instant = monotonicMillisUnsafe(clock)
    const ahead = clock.currentTimeMillisUnsafe() - instant
    if (Math.abs(ahead - wallAhead) > stepMillis) state = Estimator.stepped(state, instant)
    wallAhead = ahead
    return instant
  }
  const turnOf = (lane: Lane, instant: number) => Estimator.admit(state, instant, reserveOf[lane])

  const tooLate = (turnAt: number, deadlineAt: number, instant: number) =>
    new WouldExceedDeadline({
      predictedMillis: Math.round(turnAt - instant),
      leftMillis: Math.round(deadlineAt - instant)
    })

  const issue = (request: Request, askedAt: number): Ticket => {
    const sentAt = now()
    const sending = Estimator.sending(state, sentAt)
    state = Estimator.sent(state, sentAt)
    stir()
    let open = true
    const settle = (change: () => Estimator.State) =>
      Effect.sync(() => {
        if (!open) return
        open = false
        state = change()
        stir()
        if (queue.size > 0) bell.openUnsafe()
      })
    return {
      lane: request.lane,
      waitedMillis: sentAt - askedAt,
      replied: ({ headers, status }, refused) =>
        settle(() => {
          const receivedAt = now()
          return Estimator.received(state, {
            ...sending,
            receivedAt,
            refused,
            fault: status >= 500,
            retryAfterMillis: refused ? retryAfterOf(headers, receivedAt + wallAhead) : null,
            wallAheadMillis: wallAhead,
            date: httpDate(headers["date"]) ?? null,
            ...countsFrom(headers)
          })
        }),
      ended: (sent) => settle(() => (sent ? Estimator.lost(state, now()) : Estimator.unsent(state)))
    }
  }

  /** Lets everybody go who may, and turns away who would wait too long. Gives the wait until somebody may go next, or less. */
  const release = (): number => {
    const instant = now()
    for (;;) {
      const waiter = queue.take((lane) => turnOf(lane, instant)._tag === "Now")
      if (waiter === undefined) break
      Deferred.doneUnsafe(waiter.answer, Effect.succeed(issue(waiter.request, waiter.askedAt)))
    }
    let next = noticeMillis
    for (const lane of queue.lanes()) {
      const answer = turnOf(lane, instant)
      if (answer._tag !== "At") continue
      next = Math.min(next, answer.instant - instant)
      for (let late = queue.takeLate(lane, answer.instant); late; late = queue.takeLate(lane, answer.instant)) {
        stir()
        Deferred.doneUnsafe(late.waiter.answer, Effect.fail(tooLate(answer.instant, late.deadlineAt, instant)))
      }
    }
    return next
  }

  // One fiber for everybody who waits. It is parked on the bell while nobody does.
  yield* Effect.forkScoped(
    Effect.gen(function* () {
      while (true) {
        yield* bell.await
        bell.closeUnsafe()
        const wait = release()
        if (queue.size === 0) continue
        yield* Effect.raceFirst(bell.await, Effect.sleep(Math.max(1, wait)))
        bell.openUnsafe()
      }
    })
  )

  if (store !== undefined) {
    yield* share(store, {
      get: () => state,
      change: (change) => {
        state = change(state)
        stir()
        if (queue.size > 0) bell.openUnsafe()
      }
    })
  }

  const admit: Admission["admit"] = (request, restore) =>
    Effect.suspend(() => {
      const askedAt = now()
      const { deadlineAt, lane } = request
      const answer = turnOf(lane, askedAt)
      if (answer._tag === "Now" && queue.ahead(lane) === 0) return Effect.succeed(issue(request, askedAt))
      if (answer._tag === "At" && answer.instant > deadlineAt) {
        return Effect.fail(tooLate(answer.instant, deadlineAt, askedAt))
      }
      const waiter: Waiter = { request, askedAt, answer: Deferred.makeUnsafe() }
      const place = queue.add(lane, waiter, deadlineAt)
      stir()
      bell.openUnsafe()
      return Effect.onExit(restore(Deferred.await(waiter.answer)), (exit) => {
        if (Exit.isSuccess(exit)) return Effect.void
        queue.leave(place)
        stir()
        // Let go at the very moment its caller gave up: the ticket goes back unused.
        return Deferred.isDoneUnsafe(waiter.answer)
          ? Effect.flatMap(Effect.option(Deferred.await(waiter.answer)), (ticket) =>
              Option.isSome(ticket) ? ticket.value.ended(false) : Effect.void
            )
          : Effect.void
      })
    })

  const known = () => knownAllowance(state, queue.size, now())
  const changeAfter = (seen: KnownAllowance): Effect.Effect<KnownAllowance> =>
    Effect.suspend(() => {
      const current = known()
      if (differs(seen, current)) return Effect.succeed(current)
      watched++
      return turn.await.pipe(
        Effect.ensuring(Effect.sync(() => watched--)),
        Effect.flatMap(() => changeAfter(seen))
      )
    })

  return { admit, state: () => state, current: Effect.sync(known), changeAfter }
})
