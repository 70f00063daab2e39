/**
 * Estimates the allowance, and derives from every request and reply when the next request may go. Pure: every function
 * takes the state and the instant and returns the new state. Calls wait in `Admission.ts`, not here.
 *
 * The estimator does not need to know which kind of window the service has (A22). It trusts the number of remaining
 * requests in a reply, and subtracts the requests under way. If nothing is left, the client waits for the stated reset,
 * sends one request, and learns from the reply. The wait is shorter if the estimator has detected a window that refills
 * at once, or a token bucket, because then it knows the refill better than the stated reset does. A 429 holds all
 * requests back, for as long as the reply asks or for increasing pauses.
 *
 * Instants are milliseconds on the client's monotonic clock; `ServiceClock.ts` converts the service's.
 *
 * No wait of more than two minutes relies on a single statement of the service (`Agreement.ts`). If the wall clock
 * steps against the monotonic clock, one request asks again at once, because the computer may have slept while the
 * allowance refilled.
 */
import { agreeing, askBy, backing, claimed, maxUnbackedMillis, retryAtOf, windowSeen } from "./Agreement.ts"
import * as Report from "./AllowanceReport.ts"
import * as BucketDetector from "./BucketDetector.ts"
import type { State } from "./EstimatorState.ts"
import * as OtherClients from "./OtherClients.ts"
import * as ServiceClock from "./ServiceClock.ts"

/** When a request may go. */
export type Turn =
  | { readonly _tag: "Now" }
  /** The request may go at this instant, and not earlier. */
  | { readonly _tag: "At"; readonly instant: number }
  /** The request may go after the reply to a request that is under way. */
  | { readonly _tag: "AfterReply" }

const now: Turn = { _tag: "Now" }
const afterReply: Turn = { _tag: "AfterReply" }
const at = (instant: number): Turn => ({ _tag: "At", instant })

/** The share of the allowance that may be sent per second while waiting requests are spread after a refill. */
const spreadSharePerSecond = 0.04

/** How long after a refill requests are spread. */
const spreadMillis = 30_000

/** The share of what is left that may be under way at once. The steps get smaller as less is left. */
const shareUnderWay = 1 / 8

/** A smaller allowance keeps nothing for clients that may not exist. */
const minLimitToShare = 50

/** A 429 without a stated wait pauses all calls for this long. Each further one in a row doubles the pause, up to the maximum. */
const pauseWithoutRetryAfterMillis = 1000
const maxPauseWithoutRetryAfterMillis = 60_000

/** The pause after a lost request at a reset, so that an outage does not use up a window. If the refill is slower, the pause is longer. */
const unreportedResetMillis = 60_000

/** Another process's report counts as settled once two exchanges have brought no newer report. */
const settledMillis = 1000

/** The user's processes ask again one after the other, this long apart, so that each knows the reply of the one before. */
const probeStepMillis = 1000

/** Requests that a token bucket refilled since the report. */
const cameBack = ({ bucket, otherClients, ownProcesses }: State, report: Report.Report, instant: number): number =>
  BucketDetector.isBelieved(bucket)
    ? Math.max(0, instant - report.receivedAt) / millisPerRequest({ otherClients, ownProcesses }, bucket)
    : 0

/**
 * The number of requests to keep: one for each of the user's other processes, and as many as other clients are likely
 * to take. If no other client is known, keep at most one for them.
 */
const keptFor = (state: State, report: Report.Report, instant: number): number => {
  const { bucket, isShared, otherClients, ownProcesses } = state
  if (OtherClients.areActive(otherClients)) return ownProcesses.count + OtherClients.room(otherClients, report, instant)
  // Keep one request for a process that starts before this one knows of it. Also, if a client took each request of a token bucket as
  // soon as it refills, it would never notice that another client finds none left.
  const keepsOne = (isShared || BucketDetector.isBelieved(bucket)) && report.limit >= minLimitToShare
  return ownProcesses.count + (keepsOne ? 1 : 0)
}

/** How fast a bucket refills for this process. Other clients and processes take their part of the refill. */
const millisPerRequest = (
  state: Pick<State, "otherClients" | "ownProcesses">,
  { maxMillisPerRequest }: BucketDetector.Bucket
) => maxMillisPerRequest * (1 + Math.max(state.ownProcesses.count, OtherClients.areActive(state.otherClients) ? 1 : 0))

/**
 * When the next request may go. `reserve` is the share of the allowance that it leaves to the lanes before its own, 0
 * to 1. The usable requests are what the last report left, plus what a token bucket has refilled since, minus what is
 * kept for others (`keptFor`) and for the lanes before its own.
 *
 * The first row that is true counts. A step is at most an eighth of what is left, divided among the user's processes.
 *
 * | what is known | the request goes |
 * |---|---|
 * | a 429 holds all requests back | when its pause ends |
 * | no reply has come yet | the first at once, the others after its reply |
 * | no reply has stated an allowance | at once while no more requests are under way than replies have come, otherwise after a reply |
 * | more is usable than is under way, and less than a step is under way | now; one by one while a refill is spread |
 * | more is usable than is under way | after a reply |
 * | the wall clock has stepped, and `askBy` is over | now, as the one request that asks again |
 * | the turn of the last two rows has come | now, or after a reply if a request is under way |
 * | the allowance is a window, the last report left something, and a request is under way | after a reply, which may say that something is left |
 * | the allowance is a token bucket | when the bucket has refilled the request, or at `askBy` if that is earlier |
 * | the allowance is a window | at its reset, own processes one after the other, or at `askBy` if that is earlier |
 *
 * If only another process has reported the allowance, half of the reported number counts as used for `settledMillis`.
 * With nothing usable, a process waits for its place among the user's processes before it asks.
 */
export const admit = (state: State, instant: number, reserve: number): Turn => {
  if (instant < state.pausedUntil) return at(state.pausedUntil)
  const { report } = state
  // Without knowledge, one request goes first, and the rest wait for its reply. While replies report no allowance, one more at a time may
  // go, until a 429.
  if (report === undefined) return state.underWay <= state.silent ? now : afterReply
  const spread = state.spread !== undefined && instant < state.spread.until ? state.spread.next : instant
  const kept = keptFor(state, report, instant)
  const left = Math.min(report.limit, Math.floor(report.remaining + cameBack(state, report, instant)))
  // Only a report of another process is known, and that process is running, so half of the reported number may be gone.
  const isUnsettled = state.ended === 0 && state.ownProcesses.count > 0 && instant < report.receivedAt + settledMillis
  const usable = Math.min(
    left - kept - held(state, report, instant, reserve),
    isUnsettled ? Math.floor(left / 2) - kept : left
  )
  // Only the reported number is certain, so requests that have probably refilled since then go one by one.
  const step = Math.max(1, Math.ceil(((report.remaining - kept) * shareUnderWay) / (1 + state.ownProcesses.count)))
  if (Math.min(usable, step) > state.underWay) return spread > instant ? at(spread) : now
  if (usable > state.underWay) return afterReply
  const askAt = report.askBy + state.ownProcesses.before * probeStepMillis
  if (state.probing && instant >= askAt) return now
  const refill = BucketDetector.isBelieved(state.bucket)
    ? Math.max(instant + 1, Math.ceil(instant + (state.underWay + 1 - usable) * millisPerRequest(state, state.bucket)))
    : undefined
  const settled = isUnsettled ? report.receivedAt + settledMillis : Number.POSITIVE_INFINITY
  const turn = Math.min(askAt, settled, refill ?? report.resetBy + afterOwnProcesses(state, report))
  if (instant >= turn) return state.underWay === 0 ? now : afterReply
  return refill === undefined && state.underWay > 0 && report.remaining > 0 ? afterReply : at(turn)
}

/**
 * How long after a reset this process sends its request. In a sliding window only one request may have refilled, so a
 * process waits for the replies to the processes before it.
 */
const afterOwnProcesses = (state: State, report: Report.Report): number => {
  const { before } = state.ownProcesses
  const uncovered = Math.max(0, before - Math.floor(report.remaining))
  return before * spreadGapMillis(state, report) + uncovered * probeStepMillis
}

/** Requests that a lane leaves to the lanes before it. The lane may use them if the window is about to refill as a whole. */
const held = (state: State, report: Report.Report, instant: number, reserve: number): number => {
  if (reserve <= 0) return 0
  const closing =
    state.refillsAtOnce && state.windowMillis !== undefined && report.resetAround - instant < state.windowMillis / 20
  return closing ? 0 : Math.max(1, Math.floor(report.limit * reserve))
}

/** The state in which a request is sent now. */
export const sending = ({ ended, unreported }: State, instant: number): Report.Sending => ({
  sentAt: instant,
  endedBefore: ended,
  unreportedBefore: unreported
})

/** How many requests must be left after the next one; `reserve` as in `admit`. Undefined if no reply reports the allowance. */
export const kept = (state: State, instant: number, reserve: number): number | undefined =>
  state.report && keptFor(state, state.report, instant) + held(state, state.report, instant, reserve)

/** An hour is assumed until replies show otherwise (A22). */
const assumedWindowMillis = 3_600_000

/**
 * The length of the window, as far as replies show it. The refill time of a token bucket shows it, and so does the next
 * reset of a window that refills at once, because that reset is a whole window ahead. Until then, only a reset more
 * than an hour ahead shows a length. Undefined if no reply shows one.
 */
export const shownWindowMillis = ({ bucket, refillsAtOnce, report, windowMillis }: State): number | undefined => {
  if (report !== undefined && BucketDetector.isBelieved(bucket)) return report.limit * bucket.maxMillisPerRequest
  if (windowMillis === undefined || windowMillis <= 0) return undefined
  return refillsAtOnce || windowMillis > assumedWindowMillis ? windowMillis : undefined
}

/** Records that a request was sent. */
export const sent = (state: State, instant: number): State => {
  const { spread, report } = state
  return {
    ...state,
    sent: state.sent + 1,
    underWay: state.underWay + 1,
    probing: false,
    spread:
      spread === undefined || report === undefined || instant >= spread.until
        ? undefined
        : {
            until: spread.until,
            next: Math.max(spread.next, instant) + spreadGapMillis(state, report) * (1 + state.ownProcesses.count)
          }
  }
}

/** The time between two spread requests of any process. If a window is shorter than a minute, they are spread over a part of it. */
const spreadGapMillis = (state: State, report: Report.Report): number => {
  const gentle = 1000 / spreadSharePerSecond
  const window = state.windowMillis ?? gentle
  return Math.min(gentle, Math.max(1, window * 0.42)) / report.limit
}

/** Records a step of the wall clock against the monotonic one: the computer may have slept, and the allowance refilled. */
export const stepped = (state: State, instant: number): State => ({
  ...state,
  steppedAt: instant,
  probing: true,
  report: state.report && { ...state.report, askBy: instant }
})

/** Records a request that ended without a reply. The request counts, because the service may have counted it. */
export const lost = (state: State, instant: number): State => unreported(unsent(state), instant)

/** Records a request that was counted but whose reply does not report the allowance. */
const unreported = (state: State, instant: number): State => ({
  ...state,
  unreported: state.unreported + 1,
  report: state.report && lessOne(state, state.report, instant)
})

const lessOne = (state: State, known: Report.Report, instant: number): Report.Report => {
  const { bucket, windowMillis = 0 } = state
  const next = instant + Math.max(unreportedResetMillis, windowMillis / known.limit)
  // The lost request may be the one that was to ask again.
  const report = instant < known.askBy ? known : { ...known, askBy: next }
  if (report.remaining >= 1) return { ...report, remaining: report.remaining - 1 }
  // The lost request used up one that the bucket had refilled since the report.
  if (BucketDetector.isBelieved(bucket)) {
    return { ...report, receivedAt: report.receivedAt + millisPerRequest(state, bucket) }
  }
  // The lost request was sent at the reset. In a sliding window it may have used the only request that had refilled. The others refill as
  // far apart as they were sent.
  const allBack = report.receivedAt + windowMillis + Report.roundingMillis + Report.clockMillis
  return { ...report, resetBy: Math.max(report.resetBy, instant < allBack ? Math.min(allBack, next) : next) }
}

/** Records a request that ended before it was sent: its connection was refused, or its caller gave up. */
export const unsent = (state: State): State => ({
  ...state,
  underWay: Math.max(0, state.underWay - 1),
  ended: state.ended + 1
})

/** Records a reply. */
export const received = (state: State, observation: Report.Observation): State => {
  const { date, receivedAt, sentAt } = observation
  const clock = date === null ? state.clock : ServiceClock.observe(state.clock, { sentAt, receivedAt, date })
  const landed = { ...state, clock, underWay: Math.max(0, state.underWay - 1), ended: state.ended + 1 }
  const report = Report.from(observation, clock ?? ServiceClock.assumed(observation.wallAheadMillis), state)
  const isSilent = report === undefined && !observation.refused
  const counted = { ...landed, silent: isSilent ? state.silent + (observation.fault ? 0 : 1) : 0 }
  const instant = retryAtOf(observation) ?? report?.resetAround
  const isOld = state.claim === undefined || claimed(state, receivedAt) !== undefined
  const claim = isOld && instant !== undefined ? { instant, statedAt: receivedAt } : state.claim
  const seen = {
    ...(report === undefined ? unreported(counted, receivedAt) : withReport(counted, report, observation)),
    claim
  }
  // If a report is known and the replies to all our later requests reported the allowance, some requests should be
  // left, so another client has taken them.
  const isTheirs = state.report !== undefined && state.report.unreportedBy === state.unreported
  const believed = isTheirs ? { ...seen, ...OtherClients.oneMore(seen) } : seen
  return observation.refused ? refused(believed, observation, report, state) : { ...seen, refusalsWithoutRetryAfter: 0 }
}

/** Takes over a report, unless it is older than the known one. */
const withReport = (state: State, report: Report.Report, observation: Report.Observation): State => {
  const { unreportedBefore } = observation
  // The service may not have counted unreported requests that were sent at the same time as this one.
  const remaining = Math.max(0, report.remaining - (state.unreported - unreportedBefore))
  const { report: known } = state
  if (known === undefined) return accepted(state, report, remaining, false, observation)
  const later = report.sentAt >= known.receivedAt
  // Replies may arrive out of order: within one period the smallest number is right, and a later reset is newer.
  if (!later && report.resetSeconds < known.resetSeconds) return state
  // Keep the known report, but with the time of this later reply, because the number already includes what refilled in between.
  if (!later && report.resetSeconds === known.resetSeconds && remaining >= known.remaining) {
    const agreed = known.agreed ?? agreeing(state, report, observation)
    const asked = Math.max(known.askBy, askBy(state, report, agreed))
    return { ...state, report: { ...known, agreed, askBy: asked, receivedAt: report.receivedAt } }
  }
  const refilled = later && report.sentAt >= known.resetBy
  const spread =
    refilled || known.remaining - keptFor(state, known, report.sentAt) <= state.underWay + 1
      ? spreadFrom(state, report.receivedAt)
      : state.spread
  const next = accepted(state, report, remaining, refilled, observation)
  const samePeriod = report.resetSeconds === known.resetSeconds || BucketDetector.isBelieved(next.bucket)
  // Other clients caused the part of the drop that our own requests and the refill do not explain.
  const back = state.watch === undefined ? 0 : refilledSince(state.watch.report, next.bucket, report)
  return { ...next, spread, ...OtherClients.watched(state, report, back, refilled || !samePeriod) }
}

/** The minimum number of requests that refilled between two reports. */
const refilledSince = (first: Report.Report, bucket: State["bucket"], report: Report.Report): number =>
  BucketDetector.isBelieved(bucket)
    ? Math.floor((report.receivedAt - first.receivedAt) / bucket.maxMillisPerRequest)
    : 0

/** Takes over a report whose `remaining` is certain, and learns from it how the allowance refills. */
const accepted = (
  state: State,
  report: Report.Report,
  remaining: number,
  refilled: boolean,
  observation: Report.Observation
) => {
  const { resetAround } = report
  const bucket = BucketDetector.noted(state.bucket, report)
  // Several replies confirmed a token bucket, so its reset needs no second statement.
  const agreed = BucketDetector.isBelieved(bucket) ? resetAround : agreeing(state, report, observation)
  return {
    ...state,
    report: { ...report, remaining, agreed, askBy: askBy(state, report, agreed) },
    bucket,
    refillsAtOnce: refilled ? report.remaining >= report.limit * 0.9 - state.underWay : state.refillsAtOnce,
    windowMillis: agreed === undefined ? state.windowMillis : windowSeen(state, report)
  }
}

/** Calls that waited for a refill are sent spread out, not all at once. */
const spreadFrom = (state: State, instant: number): State["spread"] => {
  const next = state.spread?.next ?? instant
  // Clocks may jump, so the next request is at most one step away.
  const latest =
    instant + (state.report === undefined ? 0 : spreadGapMillis(state, state.report) * (1 + state.ownProcesses.count))
  return { until: instant + spreadMillis, next: Math.min(Math.max(next, instant), latest) }
}

/**
 * Records a 429: nothing is sent until the stated instant or, if none is stated, for a pause that grows with each 429.
 * The reset of the reply counts only if nothing is left. Otherwise the 429 is about another limit, for example of a
 * gateway that states no headers.
 */
const refused = (
  state: State,
  observation: Report.Observation,
  report: Report.Report | undefined,
  before: State
): State => {
  const { receivedAt } = observation
  const retryAt = retryAtOf(observation)
  const pauseMillis = Math.min(
    maxPauseWithoutRetryAfterMillis,
    pauseWithoutRetryAfterMillis * 2 ** state.refusalsWithoutRetryAfter
  )
  const reset = report !== undefined && report.remaining < 1 ? report.resetBy : undefined
  const stated = retryAt ?? reset ?? receivedAt + pauseMillis
  const isReset = retryAt === undefined && reset !== undefined
  const agreed = isReset
    ? state.report?.agreed
    : backing(state, stated, receivedAt, report?.resetAround, before.report?.resetAround, claimed(before, receivedAt))
  const until = agreed === undefined ? Math.min(stated, receivedAt + maxUnbackedMillis) : stated
  const pausedUntil = Math.max(state.pausedUntil, until)
  return {
    ...state,
    // If `Retry-After` and the reset disagree, `Retry-After` wins, because it is about this refusal.
    report: state.report && {
      ...state.report,
      remaining: 0,
      ...(!isReset && { resetBy: stated, askBy: agreed === undefined ? until : Number.POSITIVE_INFINITY })
    },
    pausedUntil,
    pauseAgreed: pausedUntil === until ? agreed : state.pauseAgreed,
    spread: spreadFrom(state, pausedUntil),
    refusalsWithoutRetryAfter: retryAt === undefined && reset === undefined ? state.refusalsWithoutRetryAfter + 1 : 0
  }
}
