/**
 * Holds each attempt back until the estimator admits it, in the order of lanes (priority classes). Fails an attempt at once if it would
 * wait longer than its deadline. Each client has one admission. While enough allowance is left, an attempt needs no queue, timer or
 * fiber. This module also provides the estimate that users see.
 */
import { Clock, Context, Deferred, Effect, Exit, identity, Option, type Scope } from "effect"
import type { KnownAllowance } from "../../domain/Allowance.ts"
import { countsFrom, httpDate } from "../../api/AllowanceHeaders.ts"
import { retryAfterMillis } from "../../api/RetryAfter.ts"
import { type TimedOut, WouldExceedDeadline } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Head } from "../transport/Transport.ts"
import { clockStepMillis, monotonicMillisUnsafe } from "../time/Monotonic.ts"
import * as Estimator from "./Estimator.ts"
import { initial, type State } from "./EstimatorState.ts"
import { Queue, reserveOf } from "./Queue.ts"
import type { AllowanceStore } from "./AllowanceStore.ts"

/**
 * The share of the allowance, 0 to 1, that a client leaves to other programs and to people, in addition to the reserves between its lanes.
 * A client that runs in the background should leave more.
 */
export const KeptShare = Context.Reference<number>("@berthkit/core/client/allowance/Admission/KeptShare", {
  defaultValue: () => 0
})

/** The admission of one attempt. The attempt reports its end to this ticket. */
export interface Ticket {
  readonly lane: Lane
  /** How long the attempt waited, in milliseconds. */
  readonly waitedMillis: number
  /** A reply came. `refused` is true if the service rejected the request over the rate limit, by status or in the body. */
  readonly replied: (head: Head, refused: boolean) => Effect.Effect<void>
  /** No reply came. `sent` is true if the service may have counted the request. */
  readonly ended: (sent: boolean) => Effect.Effect<void>
}

/** A request for admission. */
export interface Request {
  readonly lane: Lane
  /** The end of the whole call, on the monotonic clock. */
  readonly deadlineAt: number
}

/** Makes a wait within an uninterruptible region interruptible again, and ends it at the deadline of its call. */
export type Bound = <A, E>(wait: Effect.Effect<A, E>) => Effect.Effect<A, E | TimedOut>

/** Holds each attempt until the rate limit admits it. */
export interface Admission {
  /**
   * Fails at once if the wait is certainly longer than the remaining time. Otherwise waits as long as `bound` allows.
   * Run this effect uninterruptibly, and put only the wait into `bound`, because a ticket that is never ended blocks
   * all calls.
   */
  readonly admit: (request: Request, bound: Bound) => Effect.Effect<Ticket, WouldExceedDeadline | TimedOut>
  /** Why a request would fail at once; undefined if it would not. */
  readonly refusal: (request: Request) => WouldExceedDeadline | undefined
  /** The current estimate. */
  readonly state: () => State
  /** The current estimate for users. */
  readonly current: Effect.Effect<KnownAllowance>
  /** The next estimate that differs from `seen` by more than the time that has passed. A slow reader skips estimates in between. */
  readonly changeAfter: (seen: KnownAllowance) => Effect.Effect<KnownAllowance>
}

/** After this long without a request, a client stops sharing until its next request. */
const idleMillis = 2000

/** While calls wait, a clock step is detected within this time. */
const maxNoticeMillis = 5000

interface Waiter {
  readonly request: Request
  readonly askedAt: number
  readonly answer: Deferred.Deferred<Ticket, WouldExceedDeadline>
}

/** Only the wait from `Retry-After`, because a wait in another header counts as separate evidence. */
const retryAfterOf = ({ date, "retry-after": after }: Head["headers"], wallMillis: number) =>
  retryAfterMillis({ date, "retry-after": after }, wallMillis)

/** The estimate for users, at an instant and with this many queued requests. */
const knownAllowance = (state: State, waiting: number, instant: number): KnownAllowance => {
  const { pausedUntil, report, underWay } = state
  const windowMillis = Estimator.shownWindowMillis(state)
  return {
    limit: report?.limit ?? null,
    windowMillis: windowMillis === undefined ? null : 1000 * Math.ceil(windowMillis / 1000),
    remaining: report === undefined ? null : Math.max(0, Math.floor(report.remaining) - underWay),
    keptForReads: Estimator.kept(state, instant, reserveOf.mutation) ?? null,
    resetInMillis: report === undefined ? null : Math.max(0, Math.round(report.resetAround - instant)),
    pausedMillis: Math.max(0, Math.round(pausedUntil - instant)),
    underWay,
    waiting
  }
}

/** Whether two estimates differ by more than the time that has passed. */
const differs = (a: KnownAllowance, b: KnownAllowance): boolean =>
  a.limit !== b.limit ||
  a.windowMillis !== b.windowMillis ||
  a.remaining !== b.remaining ||
  a.underWay !== b.underWay ||
  a.waiting !== b.waiting ||
  a.pausedMillis > 0 !== b.pausedMillis > 0

/** Admission for one client over one estimator, which is shared with the user's other processes if there is a store. */
export const make = Effect.fnUntraced(function* (
  store: AllowanceStore | undefined
): Effect.fn.Return<Admission, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const keptShare = yield* KeptShare
  const queue = new Queue<Waiter>()
  let bell = Deferred.makeUnsafe<void>()
  let changed = Deferred.makeUnsafe<void>()
  let watchers = 0
  let underWay = 0
  let lastAskedAt = -Infinity
  let state = initial

  /** Wakes the fiber that admits waiting calls. */
  const ring = () => Deferred.doneUnsafe(bell, Effect.void)

  /** Notifies watchers of a possible change. */
  const notifyWatchers = () => {
    if (watchers === 0) return
    const due = changed
    changed = Deferred.makeUnsafe()
    Deferred.doneUnsafe(due, Effect.void)
  }

  let wallAhead = clock.currentTimeMillisUnsafe() - monotonicMillisUnsafe(clock)

  /** Reads the current time. Reading the clocks also detects a step. */
  const now = () => {
    const instant = monotonicMillisUnsafe(clock)
    const ahead = clock.currentTimeMillisUnsafe() - instant
    if (Math.abs(ahead - wallAhead) > clockStepMillis) state = Estimator.stepped(state, instant)
    wallAhead = ahead
    return instant
  }
  const reserve = (lane: Lane) => Math.max(reserveOf[lane], keptShare)
  const turnOf = (lane: Lane, instant: number) => Estimator.admit(state, instant, reserve(lane))

  /** Why a lane has to wait although a call of the first lane may go; null if the first lane has to wait as well. */
  const heldBack = (lane: Lane, instant: number): WouldExceedDeadline["heldBack"] => {
    const { remaining } = knownAllowance(state, queue.size, instant)
    const kept = Estimator.kept(state, instant, reserve(lane))
    if (remaining === null || kept === undefined || Estimator.admit(state, instant, 0)._tag !== "Now") return null
    return { remaining, kept }
  }

  const tooLate = (lane: Lane, turnAt: number, deadlineAt: number, instant: number) =>
    new WouldExceedDeadline({
      predictedMillis: Math.round(turnAt - instant),
      leftMillis: Math.round(deadlineAt - instant),
      heldBack: heldBack(lane, instant)
    })

  const issue = (request: Request, askedAt: number): Ticket => {
    const sentAt = now()
    const sending = Estimator.sending(state, sentAt)
    state = Estimator.sent(state, sentAt)
    notifyWatchers()
    underWay++
    let open = true
    const end = (change: () => State) =>
      Effect.sync(() => {
        if (!open) return
        open = false
        underWay--
        state = change()
        sharing?.noted()
        notifyWatchers()
        if (queue.size > 0) ring()
      })
    return {
      lane: request.lane,
      waitedMillis: sentAt - askedAt,
      replied: ({ headers, status }, refused) =>
        end(() => {
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
      ended: (sent) => end(() => (sent ? Estimator.lost(state, now()) : Estimator.unsent(state)))
    }
  }

  /** Admits every call that may go, and fails calls that would wait too long. Returns how long to wait before it runs again. */
  const release = (): number => {
    const instant = now()
    for (;;) {
      const waiter = queue.take((lane) => turnOf(lane, instant)._tag === "Now")
      if (waiter === undefined) break
      Deferred.doneUnsafe(waiter.answer, Effect.succeed(issue(waiter.request, waiter.askedAt)))
    }
    let next = maxNoticeMillis
    for (const lane of queue.lanes()) {
      const answer = turnOf(lane, instant)
      if (answer._tag !== "At") continue
      next = Math.min(next, answer.instant - instant)
      for (let late = queue.takeLate(lane, answer.instant); late; late = queue.takeLate(lane, answer.instant)) {
        notifyWatchers()
        Deferred.doneUnsafe(late.waiter.answer, Effect.fail(tooLate(lane, answer.instant, late.deadlineAt, instant)))
      }
    }
    return next
  }

  // One fiber serves all waiting calls. It is parked while no call waits.
  yield* Effect.forkScoped(
    Effect.gen(function* () {
      while (true) {
        yield* Deferred.await(bell)
        // Among calls that begin at the same moment, this admits the first lanes first.
        yield* Effect.yieldNow
        bell = Deferred.makeUnsafe()
        const wait = release()
        if (queue.size === 0) continue
        yield* Effect.raceFirst(Deferred.await(bell), Effect.sleep(Math.max(1, wait)))
        ring()
      }
    })
  )

  const isBusy = () =>
    queue.size > 0 || watchers > 0 || underWay > 0 || monotonicMillisUnsafe(clock) - lastAskedAt < idleMillis
  const estimate = {
    get: () => state,
    change: (change: (state: State) => State) => {
      state = change(state)
      notifyWatchers()
      if (queue.size > 0) ring()
    }
  }
  // Loaded on demand, because a web page has no store and does not need this code.
  const sharing =
    store === undefined
      ? undefined
      : yield* Effect.flatMap(
          Effect.promise(() => import("./OwnProcesses.ts")),
          ({ share }) => share(store, estimate, isBusy)
        )
  /** Runs an effect on the shared estimate, and first joins the user's other processes again if this client was idle. */
  const shared = <A, E, B>(
    effect: Effect.Effect<A, E>,
    bound: (rejoining: Effect.Effect<void>) => Effect.Effect<void, B>
  ): Effect.Effect<A, E | B> =>
    Effect.suspend((): Effect.Effect<A, E | B> => {
      lastAskedAt = monotonicMillisUnsafe(clock)
      const rejoining = sharing?.rejoin()
      return rejoining === undefined ? effect : Effect.andThen(bound(rejoining), effect)
    })

  const admitNow: Admission["admit"] = (request, bound) =>
    Effect.suspend(() => {
      const askedAt = now()
      const { deadlineAt, lane } = request
      const answer = turnOf(lane, askedAt)
      if (answer._tag === "Now" && queue.ahead(lane) === 0) return Effect.succeed(issue(request, askedAt))
      if (answer._tag === "At" && answer.instant > deadlineAt) {
        return Effect.fail(tooLate(lane, answer.instant, deadlineAt, askedAt))
      }
      const waiter: Waiter = { request, askedAt, answer: Deferred.makeUnsafe() }
      const place = queue.add(lane, waiter, deadlineAt)
      notifyWatchers()
      ring()
      return Effect.onExit(bound(Deferred.await(waiter.answer)), (exit) => {
        if (Exit.isSuccess(exit)) return Effect.void
        queue.leave(place)
        notifyWatchers()
        // The caller gave up just as its call was admitted, so return the ticket unused.
        return Deferred.isDoneUnsafe(waiter.answer)
          ? Effect.flatMap(Effect.option(Deferred.await(waiter.answer)), (ticket) =>
              Option.isSome(ticket) ? ticket.value.ended(false) : Effect.void
            )
          : Effect.void
      })
    })

  const refusal: Admission["refusal"] = ({ deadlineAt, lane }) => {
    const instant = now()
    const answer = turnOf(lane, instant)
    return answer._tag === "At" && answer.instant > deadlineAt
      ? tooLate(lane, answer.instant, deadlineAt, instant)
      : undefined
  }

  const known = () => knownAllowance(state, queue.size, now())
  const changeAfter = (seen: KnownAllowance): Effect.Effect<KnownAllowance> =>
    Effect.suspend(() => {
      const current = known()
      if (differs(seen, current)) return Effect.succeed(current)
      watchers++
      return Deferred.await(changed).pipe(
        Effect.ensuring(Effect.sync(() => watchers--)),
        Effect.flatMap(() => changeAfter(seen))
      )
    })

  return {
    admit: (request, bound) => shared(admitNow(request, bound), bound),
    refusal,
    state: () => state,
    current: shared(Effect.sync(known), identity),
    changeAfter
  }
})
