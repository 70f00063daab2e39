/**
 * The polling of one account. It requests the list page by page and, in parallel, reads single nodes. Each request is sent when
 * it is due and the share of the rate limit has room for it. `Schedule.ts` and `ReadQueue.ts` decide what to request, and
 * `diff/` what the replies mean.
 */
import type { Nodes } from "@berthkit/core/client/Nodes"
import { BerthError } from "@berthkit/core/domain/BerthError"
import { UnexpectedResponse } from "@berthkit/core/domain/ErrorReason"
import type { NodeId } from "@berthkit/core/domain/Node"
import { Deferred, Effect, Latch, Random, Result, Semaphore } from "effect"
import type { WatchedAccount } from "../account/WatchedAccount.ts"
import type { Exchange, Moment, Observation } from "../diff/Observation.ts"
import { type Question, questions } from "../diff/Question.ts"
import type { Rules } from "../diff/Snapshot.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import {
  backoffMillis,
  doubtBudget,
  initialPolling,
  intervalsNow,
  laneOf,
  nextDue,
  type Plan,
  plannedSweepMillis,
  type Polling
} from "./Schedule.ts"
import { beginSweep, boundedNode, nextPage, type Sweep, takePage } from "./Sweep.ts"
import type { Moments } from "./Moments.ts"
import * as ReadQueue from "./ReadQueue.ts"
import { type Budget, perHourOf, RequestShare } from "./RequestShare.ts"
import { tailPage, takeTail } from "./TailProbe.ts"

export interface PollerOptions {
  readonly nodes: Nodes["Service"]
  readonly moments: Moments
  readonly watch: WatchedAccount
  readonly rules: Rules
  /** Interval from the start of one sweep to the start of the next. If null, it is derived from the number of nodes. */
  readonly intervalMillis: number | null
  /** The shortest interval at which a node in transition is read. If null, it is derived. */
  readonly fastIntervalMillis: number | null
  /** The current share: the maximum number of requests, derived from the reported rate limit. */
  readonly budget: Effect.Effect<Budget>
  /**
   * Whether the credentials are new. New credentials that the service refuses before it has accepted them once end the
   * polling, even if the nodes are already known.
   */
  readonly areCredentialsNew: boolean
}

export interface Poller {
  /**
   * Polls until interrupted. Fails if the store becomes unusable, or if the service refuses the credentials before the nodes are known,
   * or before it has accepted new credentials once.
   */
  readonly run: Effect.Effect<never, BerthError | StoreFailed>
  /** Completes once the existing nodes are known. */
  readonly ready: Effect.Effect<void>
  /** Sends a request that is not part of the polling, once the share has room to spare. The request counts in the share. */
  readonly beside: <A>(
    request: Effect.Effect<A, BerthError>
  ) => Effect.Effect<{ readonly answer: Result.Result<A, BerthError>; readonly exchange: Exchange }>
  /** The share, the number of requests within its last window, and how many more it allows now. */
  readonly spent: Effect.Effect<{ readonly budget: Budget; readonly sent: number; readonly left: number }>
}

/**
 * The part of the share that is reserved for reads that settle a doubt about a node, such as whether it was deleted. Reads of
 * nodes in transition must leave it free.
 */
const reserve = 0.04

/** A request that is not part of the polling is sent only while the share allows at least this many. */
const minSpare = 20
const sparePause = "1 minute"

/** If the share has no room for `minSpare` requests for this long, the request is sent as soon as the share allows one. */
const maxPatienceMillis = 30 * 60_000

/** The planned time between two turns. A turn checks whether the process was suspended. */
const maxTurnMillis = 5000

/** If a turn is late by this much, the process was suspended. */
const maxLateMillis = 20_000

/** A read that takes longer is cut off, so that another node can be read; this node is read again later. */
const readTimeout = "5 seconds"

/** A list with more pages counts as endless. This many pages hold ten times as many nodes as the daemon supports. */
const maxPages = 20_000

/** A sweep that exceeds the planned time by this much starts again, because its first pages are too old. */
const maxOverdueMillis = 300_000

/** Whether the service answered, but the record of this node cannot be used. */
const isUnreadable = ({ reason }: BerthError) => reason._tag === "UnexpectedResponse"

const isDoubt = ({ kind }: Question) => kind !== "transition"

const noRoom = { hasRoomForDoubts: false, hasRoomForGuesses: false }

const isRefusal = ({ reason }: BerthError) => reason.exit === "denied"

/** How long the service asks to wait. */
const retryAfterMillis = ({ reason }: BerthError): number | null =>
  "retryAfterMillis" in reason ? reason.retryAfterMillis : null

const endless = new BerthError({
  operation: "nodes.list",
  reason: new UnexpectedResponse({
    status: 200,
    path: "data",
    expected: `an end of the list within ${maxPages} pages`,
    excerpt: "still more nodes"
  }),
  attempts: []
})

export const makePoller = Effect.fnUntraced(function* (options: PollerOptions): Effect.fn.Return<Poller> {
  const { moments, nodes, rules, watch } = options
  const share = new RequestShare(yield* options.budget)
  const requestsPerHour = () => perHourOf(share.budget)
  /** Counts reads of nodes in doubt against the number that is always allowed. */
  const doubts = new RequestShare(doubtBudget(share.budget))
  const ready = yield* Deferred.make<void>()
  const news = yield* Latch.make(false)
  const picking = yield* Semaphore.make(1)
  let reads = ReadQueue.noReads
  let polling: Polling = initialPolling
  let failures = 0
  let isAccepted = !options.areCredentialsNew
  let lastTurn: Moment | null = null
  let slowestMillis = 0

  const isKnown = () => watch.snapshot.standing.baselineMillis !== null

  const doubtsSent = (monotonicMillis: number) => doubts.budget.requests - doubts.left(monotonicMillis)

  const planAt = (monotonicMillis: number): Plan => ({
    rules,
    requestsPerHour: requestsPerHour(),
    windowMillis: share.budget.windowMillis,
    nowMillis: monotonicMillis,
    paceMillis: share.paceMillis(monotonicMillis),
    sparingPaceMillis: share.paceMillis(monotonicMillis, share.budget.requests * reserve),
    spare: (perHour) => share.spare(monotonicMillis, perHour),
    doubtsSent: doubtsSent(monotonicMillis),
    sweepMillis: options.intervalMillis,
    transitionMillis: options.fastIntervalMillis
  })

  /**
   * Stores an observation. Its sweep interval is the longest one planned since the last complete sweep, because with a
   * shorter interval a sweep that had to wait for the share would count as late.
   */
  const noted = (observation: Observation) => {
    const planned = plannedSweepMillis(polling, watch.snapshot, planAt(observation.answered.monotonicMillis))
    const sweepMillis = Math.max(slowestMillis, planned)
    slowestMillis = observation._tag === "SweepCompleted" ? planned : sweepMillis
    return watch.observe(observation, { ...rules, sweepMillis })
  }

  const observe = Effect.fnUntraced(function* (observation: Observation) {
    yield* noted(observation)
    if (isKnown()) yield* Deferred.succeed(ready, undefined)
    // Wake the waiting fibers without opening the latch, because a woken fiber that waits at an open latch would spin.
    yield* news.release
  }, Effect.uninterruptible)

  /** Waits for a time, or until the next observation, which may make another request due. */
  const wait = (millis: number) =>
    // Round up to whole milliseconds. Otherwise a timer that fires a fraction early would make the caller ask again and again.
    Effect.andThen(
      millis === Infinity ? news.await : Effect.raceFirst(Effect.sleep(Math.ceil(millis)), news.await),
      turn
    )

  /**
   * Records whether the process was suspended since its last turn. After a suspension, a reply may be read before any timer
   * fires, so each reply is a turn as well.
   */
  const turn = Effect.gen(function* () {
    const before = lastTurn
    const now = yield* moments.now
    lastTurn = now
    if (before === null || now.monotonicMillis - before.monotonicMillis <= maxTurnMillis + maxLateMillis) return
    yield* observe({ _tag: "Paused", asked: before, answered: now })
  })

  /** Records a failed request, after which nothing is sent for a while. */
  const failed = Effect.fnUntraced(function* (exchange: Exchange, failure: BerthError) {
    yield* observe({ _tag: "RequestFailed", ...exchange, message: failure.message, isRefusal: isRefusal(failure) })
    if (isRefusal(failure) && !(isKnown() && isAccepted)) return yield* failure
    const pause = backoffMillis(++failures, yield* Random.next, retryAfterMillis(failure))
    polling = { ...polling, quietUntilMillis: exchange.answered.monotonicMillis + pause }
  })

  /**
   * Records that the request for a page or for the end of the list failed. Returns the times to record as those of the
   * last requests: with these, the page or the end is due again just when the pause is over, and other requests that
   * are due by then go first.
   */
  const failedAgain = Effect.fnUntraced(function* (exchange: Exchange, failure: BerthError) {
    yield* failed(exchange, failure)
    const { pageMillis, tailMillis } = intervalsNow(polling, watch.snapshot, planAt(exchange.answered.monotonicMillis))
    return {
      pageMillis: polling.quietUntilMillis - pageMillis,
      endMillis: polling.quietUntilMillis - (tailMillis ?? 0)
    }
  })

  /** Sends a request. `after` runs once the reply has come, and only then is the moment of the reply recorded. */
  const exchanged = Effect.fnUntraced(function* <A, E>(
    request: Effect.Effect<A, BerthError>,
    after: Effect.Effect<void, E>
  ) {
    // Count the request before it is sent, because another one may be sent in the meantime.
    share.take((yield* moments.now).monotonicMillis)
    const { answer, ...exchange } = yield* moments.around(Effect.tap(Effect.result(request), after))
    if (Result.isSuccess(answer)) isAccepted = true
    // The reply may report another limit, or another window.
    share.change(yield* options.budget, exchange.answered.monotonicMillis)
    doubts.change(doubtBudget(share.budget), exchange.answered.monotonicMillis)
    return { answer, exchange }
  })

  const listAnswered = () => {
    failures = 0
    reads = ReadQueue.listAnswered(reads)
  }

  const page = Effect.fnUntraced(function* (monotonicMillis: number) {
    const sweep = polling.sweep ?? beginSweep(polling.sweeps + 1, polling.lastId)
    if (sweep.requests === 0) polling = { ...polling, sweep, sweeps: sweep.number, sweepBegunMillis: monotonicMillis }
    polling = { ...polling, pageMillis: monotonicMillis }
    const { answer, exchange } = yield* exchanged(
      nodes.readPage({ ...nextPage(sweep), lane: "sweep", retry: false, onReply: moments.takeDate }),
      turn
    )
    if (Result.isFailure(answer)) {
      const { pageMillis } = yield* failedAgain(exchange, answer.failure)
      polling = { ...polling, pageMillis }
      return
    }
    listAnswered()
    const step = takePage(sweep, exchange, answer.success)
    yield* observe(step.page)
    if (step.completed === null) {
      if (step.sweep.requests >= maxPages) {
        polling = { ...polling, sweep: null }
        return yield* failed(exchange, endless)
      }
      polling = { ...polling, sweep: isOverdue(step.sweep, monotonicMillis) ? null : step.sweep }
      return
    }
    yield* observe(step.completed)
    // A sweep does not provide `firstId` of the end page, so keep the known one: that page changes little. If `step.end` is
    // null, because nodes moved while the list was read, keep the end that was known before.
    const end = step.end === null ? polling.end : { ...step.end, firstId: polling.end?.firstId ?? Infinity }
    const lastId = step.end?.lastId ?? null
    polling = { ...polling, sweep: null, lastId, end, endMillis: monotonicMillis, isEndOpen: false }
  })

  const isOverdue = ({ asked }: Sweep, monotonicMillis: number): boolean => {
    const { sweepMillis } = intervalsNow(polling, watch.snapshot, planAt(monotonicMillis))
    return asked !== null && isKnown() && monotonicMillis - asked.monotonicMillis > 2 * sweepMillis + maxOverdueMillis
  }

  const end = Effect.fnUntraced(function* (monotonicMillis: number) {
    const before = polling.end
    polling = { ...polling, endMillis: monotonicMillis, isEndOpen: false }
    if (before === null) return
    const { page, perPage } = tailPage(before)
    const { answer, exchange } = yield* exchanged(
      nodes.readPage({ page, perPage, lane: "sweep", retry: false, onReply: moments.takeDate }),
      turn
    )
    if (Result.isFailure(answer)) {
      const { endMillis } = yield* failedAgain(exchange, answer.failure)
      polling = { ...polling, endMillis }
      return
    }
    listAnswered()
    const step = takeTail(before, exchange, answer.success.records)
    polling = { ...polling, end: step.end, isEndOpen: step.isOpen }
    yield* observe(step.page)
  })

  const read = Effect.fnUntraced(
    function* (nodeId: NodeId) {
      const { answer, exchange } = yield* exchanged(
        nodes.get(nodeId, {
          lane: "sweep",
          retry: false,
          attemptTimeout: readTimeout,
          onReply: moments.takeDate
        }),
        turn
      )
      const isFound = Result.isSuccess(answer)
      if (!isFound && answer.failure.reason._tag !== "NodeNotFound") {
        const { failure } = answer
        const kind = { isUnreadable: isUnreadable(failure), retryAfterMillis: retryAfterMillis(failure) }
        reads = ReadQueue.failedAt(reads, nodeId, exchange.answered.monotonicMillis, kind)
        return
      }
      reads = ReadQueue.answered(reads, nodeId)
      yield* observe(
        isFound
          ? { _tag: "NodeFound", ...exchange, node: boundedNode(answer.success) }
          : { _tag: "NodeMissing", ...exchange, nodeId }
      )
    },
    (reading, nodeId) =>
      Effect.ensuring(
        reading,
        Effect.sync(() => {
          reads = ReadQueue.over(reads, nodeId)
        })
      )
  )

  /**
   * Whether there is room for reads of nodes in doubt. A few such reads are always allowed, and more as long as they
   * never delay the planned reads of the list. One half of the few is for reads that can prove a deletion. Reads that
   * will most likely find the node may use only the other half.
   */
  const roomFor = (monotonicMillis: number, perHour: number) => {
    const { requests } = doubts.budget
    const left = doubts.left(monotonicMillis)
    const spare = share.spare(monotonicMillis, perHour)
    return {
      hasRoomForDoubts: left > 0 || spare >= 1,
      hasRoomForGuesses: left > requests / 2 || spare > requests
    }
  }

  const readDue = (monotonicMillis: number): ReadQueue.Read | null => {
    const { snapshot } = watch
    const open = questions(snapshot, rules)
    if (open.length === 0) return null
    const { perHour, transitionMillis } = intervalsNow(polling, snapshot, planAt(monotonicMillis))
    const due = ReadQueue.nextRead(reads, open, snapshot, {
      rules,
      lane: laneOf(snapshot, polling),
      nowMillis: monotonicMillis,
      transitionMillis,
      ...(open.some(isDoubt) ? roomFor(monotonicMillis, perHour) : noRoom)
    })
    // A pause after a failed page applies to reads as well.
    return due && { ...due, dueMillis: Math.max(due.dueMillis, polling.quietUntilMillis, share.openAt) }
  }

  /** Waits until a read is due, and marks it as started. Only one fiber waits here at a time. */
  const picked = Effect.gen(function* () {
    for (;;) {
      const { monotonicMillis } = yield* moments.now
      const due = readDue(monotonicMillis)
      if (due !== null && due.dueMillis <= monotonicMillis) {
        reads = ReadQueue.begun(reads, due.id)
        if (due.kind !== "transition") doubts.take(monotonicMillis)
        return due.id
      }
      yield* wait(due === null ? Infinity : due.dueMillis - monotonicMillis)
    }
  })

  const reading = Effect.forever(Effect.flatMap(picking.withPermit(picked), read))

  const spent = Effect.map(moments.now, ({ monotonicMillis }) => {
    const left = share.left(monotonicMillis)
    return { budget: share.budget, sent: share.budget.requests - left, left }
  })

  const beside = Effect.fnUntraced(function* <A>(request: Effect.Effect<A, BerthError>) {
    const begun = yield* moments.now
    for (;;) {
      const { monotonicMillis } = yield* moments.now
      const left = share.left(monotonicMillis)
      const isPatient = monotonicMillis - begun.monotonicMillis < maxPatienceMillis
      if (left >= (isPatient ? minSpare : 1)) return yield* exchanged(request, Effect.void)
      yield* Effect.sleep(isPatient ? sparePause : Math.max(1, Math.ceil(share.openAt - monotonicMillis)))
    }
  })

  const step = Effect.gen(function* () {
    const { monotonicMillis } = yield* moments.now
    const due = nextDue(polling, watch.snapshot, planAt(monotonicMillis))
    const waitMillis = Math.max(due.dueMillis, share.openAt) - monotonicMillis
    if (waitMillis > 0) return yield* wait(waitMillis)
    return yield* due._tag === "page" ? page(monotonicMillis) : end(monotonicMillis)
  })

  /**
   * Notes that time has passed, so that an outage is noticed even while a request hangs, or while the service asks for a long
   * pause.
   */
  const noteTime = Effect.gen(function* () {
    if (watch.snapshot.standing.outage !== null) return
    const now = yield* moments.now
    // This observation makes no request due, so it wakes no waiting fiber.
    yield* Effect.uninterruptible(noted({ _tag: "TimePassed", asked: now, answered: now }))
  })

  /** Checks for a suspension, and notes the time, at regular intervals, even while a wait or a request is in progress. */
  const turning = Effect.forever(turn.pipe(Effect.andThen(noteTime), Effect.andThen(Effect.sleep(maxTurnMillis))))

  const readers = Effect.all(
    Array.from({ length: ReadQueue.maxReadsAtRisk }, () => reading),
    { concurrency: "unbounded" }
  )

  const run = Effect.raceAllFirst([Effect.forever(step), Effect.andThen(readers, Effect.never), turning])
  return { run, ready: Deferred.await(ready), beside, spent }
})
