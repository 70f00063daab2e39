/**
 * The estimator of the allowance: told of every request sent and every reply received, it says when the next request may
 * go. Pure: every function takes the state and the instant and gives the new state. It queues nobody and waits for
 * nothing; that is `Admission.ts`.
 *
 * It does not know which kind of window the service has (decision 22) and never needs to: what a reply says is left is
 * taken as the truth, less what is under way; with nothing left it waits for the stated reset, lets one request go, and
 * learns from its reply what there is now. What it notices on the way (a bucket that refills evenly, a window that
 * refills at once) only makes it wait less.
 *
 * Instants are milliseconds on the client's monotonic clock; the service's are translated once, by `ServiceClock.ts`.
 *
 * No wait of more than two minutes rests on a single statement of the service: until a second one agrees with it, one
 * request goes after that time to ask again. The same happens at once when the wall clock has stepped against the monotonic
 * one: a computer that slept looks like that, and meanwhile the allowance may have refilled.
 */
import type { OwnProcesses } from "./AllowanceStore.ts"
import * as BucketDetector from "./BucketDetector.ts"
import * as OtherClients from "./OtherClients.ts"
import * as ServiceClock from "./ServiceClock.ts"
import * as Report from "./AllowanceReport.ts"

export type { Observation, Sending } from "./AllowanceReport.ts"

export interface State {
  readonly clock: ServiceClock.ServiceClock | undefined
  readonly report: Report.Report | undefined
  /** Requests sent and not yet answered. */
  readonly underWay: number
  /** Nobody goes before this instant: a 429 said so, or left us guessing. */
  readonly pausedUntil: number
  /** What another statement gives for that instant; undefined while there is none. */
  readonly pauseAgreed: number | undefined
  /** An instant that an earlier reply gave for the refill, believed or not, for later ones to be set against. */
  readonly claim: { readonly instant: number; readonly saidAt: number } | undefined
  /** When the wall clock stepped last: requests that went before say nothing of the reset. */
  readonly steppedAt: number
  /** No request has gone since. */
  readonly probing: boolean
  /** Answers of the service in a row that said nothing of an allowance. */
  readonly silent: number
  /** 429s in a row that did not say how long to wait. */
  readonly refusalsWithoutRetryAfter: number
  readonly bucket: BucketDetector.Bucket | undefined
  /** Whether the last refill came all at once. */
  readonly refillsAtOnce: boolean
  /** Longest time to a reset that is believed: the length of the window, if it has one. Undefined until seen. */
  readonly windowMillis: number | undefined
  /** While waiting requests leave after a refill: until when they are spread, and when the next may go. */
  readonly spread: { readonly until: number; readonly next: number } | undefined
  /** What others on the same key use, and where the present watch for them began. */
  readonly otherClients: OtherClients.OtherClients
  readonly watch: OtherClients.Watch | undefined
  /** Other clients that are known to share the allowance. */
  readonly ownProcesses: OwnProcesses
  /** Requests sent, and requests answered or given up, altogether. */
  readonly sent: number
  readonly ended: number
  /** Of these, the ones that were counted and of which no reply told what is left. */
  readonly unreported: number
}

export const initial: State = {
  clock: undefined,
  report: undefined,
  underWay: 0,
  pausedUntil: 0,
  pauseAgreed: undefined,
  claim: undefined,
  steppedAt: Number.NEGATIVE_INFINITY,
  probing: false,
  silent: 0,
  refusalsWithoutRetryAfter: 0,
  bucket: undefined,
  refillsAtOnce: false,
  windowMillis: undefined,
  spread: undefined,
  ...OtherClients.unwatched,
  ownProcesses: { count: 0, before: 0 },
  sent: 0,
  ended: 0,
  unreported: 0
}

/** When a request may go. */
export type Turn =
  | { readonly _tag: "Now" }
  /** Not before this instant. */
  | { readonly _tag: "At"; readonly instant: number }
  /** Not before a reply to a request under way has been seen. */
  | { readonly _tag: "AfterReply" }

const now: Turn = { _tag: "Now" }
const afterReply: Turn = { _tag: "AfterReply" }
const at = (instant: number): Turn => ({ _tag: "At", instant })

/** Share of the allowance that may leave per second while waiting requests are spread after a refill. */
const spreadSharePerSecond = 0.04

/** How long after a refill requests are spread. */
const spreadMillis = 30_000

/** Share of what is left that may be under way at once: the nearer the end, the smaller the steps towards it. */
const shareUnderWay = 1 / 8

/** Of a smaller allowance than this nothing is kept for others who may not be there. */
const minLimitToShare = 50

/** How long a blind 429 pauses everybody: this, doubled for each in a row, up to the cap. */
const pauseWithoutRetryAfterMillis = 1000
const maxPauseWithoutRetryAfterMillis = 60_000

/**
 * Wait for the next request after the one that went at a reset was lost: an outage must not cost a window. Longer where even
 * so many would be too many for the allowance.
 */
const unreportedResetMillis = 60_000

/** Longest wait that rests on a single statement. */
const maxUnbackedMillis = 120_000

/** Two statements agree on an instant within this time: two seconds, and what headers are rounded by. */
const agreementMillis = 2000 + Report.roundingMillis

/** A report that was told to others and comes back is no further off than this. */
const echoMillis = 50

/** Clients that know of each other ask again one after the other, so far apart: the first one's reply reaches the others. */
const probeStepMillis = 1000

/**
 * What makes an instant worth waiting for, seen from another: that it is near, or lies within the window as it was learned,
 * or that another statement agrees. Undefined where nothing does.
 */
const backing = (
  { windowMillis = 0 }: State,
  instant: number,
  from: number,
  ...statements: ReadonlyArray<number | undefined>
): number | undefined =>
  instant - from <= Math.max(maxUnbackedMillis, windowMillis + agreementMillis)
    ? instant
    : statements.find((other = Number.NaN) => Math.abs(other - instant) <= agreementMillis)

/** What earlier replies gave for the refill. A header that says the same length of time always agrees with itself for a moment. */
const claimed = ({ claim }: State, receivedAt: number): number | undefined =>
  claim !== undefined && receivedAt - claim.saidAt > agreementMillis ? claim.instant : undefined

/** When one request asks again, with a reset that a request of that instant told of. */
const askBy = ({ steppedAt }: State, { receivedAt, sentAt }: Report.SharedReport, agreed: number | undefined): number =>
  sentAt < steppedAt ? steppedAt : agreed === undefined ? receivedAt + maxUnbackedMillis : Number.POSITIVE_INFINITY

/** Requests that came back since the report was made, as far as it is known how they do. */
const cameBack = ({ bucket, otherClients, ownProcesses }: State, report: Report.Report, instant: number): number =>
  BucketDetector.isBelieved(bucket)
    ? Math.max(0, instant - report.receivedAt) / millisPerRequest({ otherClients, ownProcesses }, bucket)
    : 0

/** Requests that are left to others and to own processes. */
const keptFor = ({ bucket, otherClients, ownProcesses }: State, report: Report.Report, instant: number): number => {
  if (OtherClients.areThere(otherClients)) return ownProcesses.count + OtherClients.room(otherClients, report, instant)
  // Whoever takes each request at the moment it comes back never notices somebody who finds nothing left.
  return ownProcesses.count + (BucketDetector.isBelieved(bucket) && report.limit >= minLimitToShare ? 1 : 0)
}

/** How fast a bucket refills for us: others take their part of what comes back. */
const millisPerRequest = (state: Pick<State, "otherClients" | "ownProcesses">, { atMost }: BucketDetector.Bucket) =>
  atMost * (1 + Math.max(state.ownProcesses.count, OtherClients.areThere(state.otherClients) ? 1 : 0))

/**
 * When the next request may go. `reserve` is what it has to leave for those before it in rank: a share of the allowance,
 * 0 to 1.
 */
export const admit = (state: State, instant: number, reserve: number): Turn => {
  if (instant < state.pausedUntil) return at(state.pausedUntil)
  const { report } = state
  // With nothing known one request goes first, and the rest wait for what its reply says. As long as replies say nothing
  // there is nothing to keep within, and one more at a time may go; a 429 would end that.
  if (report === undefined) return state.underWay <= state.silent ? now : afterReply
  const spread = state.spread !== undefined && instant < state.spread.until ? state.spread.next : instant
  const kept = keptFor(state, report, instant)
  const left = Math.min(report.limit, Math.floor(report.remaining + cameBack(state, report, instant)))
  const usable = left - kept - held(state, report, instant, reserve)
  // Only what was told is certain: what we reckon came back since goes one by one.
  const step = Math.max(1, Math.ceil(((report.remaining - kept) * shareUnderWay) / (1 + state.ownProcesses.count)))
  if (Math.min(usable, step) > state.underWay) return spread > instant ? at(spread) : now
  if (usable > state.underWay) return afterReply
  const askAt = report.askBy + state.ownProcesses.before * probeStepMillis
  if (state.probing && instant >= askAt) return now
  const refill = BucketDetector.isBelieved(state.bucket)
    ? Math.max(instant + 1, Math.ceil(instant + (state.underWay + 1 - usable) * millisPerRequest(state, state.bucket)))
    : undefined
  const turn = Math.min(askAt, refill ?? report.resetBy + state.ownProcesses.before * stepMillis(state, report))
  if (instant >= turn) return state.underWay === 0 ? now : afterReply
  return refill === undefined && state.underWay > 0 && report.remaining > 0 ? afterReply : at(turn)
}

/** Requests a lower rank leaves to the higher ones. The share flows back when the window is about to refill as a whole. */
const held = (state: State, report: Report.Report, instant: number, reserve: number): number => {
  if (reserve <= 0) return 0
  const closing =
    state.refillsAtOnce && state.windowMillis !== undefined && report.resetAround - instant < state.windowMillis / 20
  return closing ? 0 : Math.max(1, Math.floor(report.limit * reserve))
}

/** What a request that goes now takes along. */
export const sending = ({ ended, unreported }: State, instant: number): Report.Sending => ({
  sentAt: instant,
  endedBefore: ended,
  unreportedBefore: unreported
})

/** A request has gone. */
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
            next: Math.max(spread.next, instant) + stepMillis(state, report) * (1 + state.ownProcesses.count)
          }
  }
}

/** Time between two requests of whomever while they are spread. A window shorter than a minute is spread over this part of itself. */
const stepMillis = (state: State, report: Report.Report): number => {
  const gentle = 1000 / spreadSharePerSecond
  const window = state.windowMillis ?? gentle
  return Math.min(gentle, Math.max(1, window * 0.42)) / report.limit
}

/** What other clients say: how many they are, until when nobody may go, and what they saw last. */
export interface SharedKnowledge {
  readonly ownProcesses: OwnProcesses
  readonly pausedUntil?: number
  readonly pauseAgreed?: number | undefined
  /** When they said so. */
  readonly writtenAt?: number
  /** Whether the wall clock has stepped since. */
  readonly stepped?: boolean | undefined
  readonly clock?: ServiceClock.ServiceClock | undefined
  readonly report?: Report.SharedReport | undefined
}

/** Takes over what others say. Their report counts where its request went after the reply that ours is of. */
export const shared = (state: State, theirs: SharedKnowledge, instant: number): State => {
  const { clock, pauseAgreed, pausedUntil = 0, ownProcesses, stepped, report, writtenAt = instant } = theirs
  const statements = [state.claim?.instant, state.report?.resetAround]
  const agreed = backing(state, pausedUntil, instant, pauseAgreed, ...statements)
  const until = agreed === undefined ? Math.min(pausedUntil, writtenAt + maxUnbackedMillis) : pausedUntil
  const isNewer =
    report !== undefined &&
    report.receivedAt <= instant &&
    (state.report === undefined ? state.underWay === 0 : report.sentAt >= state.report.receivedAt)
  return {
    ...state,
    ownProcesses,
    ...(until > state.pausedUntil && { pausedUntil: until, pauseAgreed: agreed }),
    probing: state.probing && !(isNewer && report.sentAt >= state.steppedAt),
    clock: state.clock ?? clock,
    ...(isNewer
      ? { report: takenOver(state, report, statements, stepped === true ? instant : undefined) }
      : report && confirmed(state, report))
  }
}

/** Theirs may be the second statement that a report of ours wants for. It is none where it is ours, come back. */
const confirmed = (state: State, theirs: Report.SharedReport): Partial<State> | undefined => {
  const { report } = state
  const apartMillis = Report.isRelative(theirs.resetSeconds) ? agreementMillis : echoMillis
  return report !== undefined &&
    report.agreed === undefined &&
    Math.abs(report.resetAround - theirs.resetAround) <= agreementMillis &&
    Math.abs(report.receivedAt - theirs.receivedAt) > apartMillis
    ? {
        report: { ...report, agreed: theirs.resetAround, askBy: askBy(state, report, theirs.resetAround) },
        windowMillis: windowSeen(state, theirs)
      }
    : undefined
}

/** Theirs as a report of ours, which is asked about at an instant where that is given. */
const takenOver = (
  state: State,
  report: Report.SharedReport,
  statements: ReadonlyArray<number | undefined>,
  asked: number | undefined
): Report.Report => {
  const { receivedAt, resetAround, resetBy } = report
  // What a refusal made of it is a statement of its own.
  const agreed =
    resetBy - resetAround > maxUnbackedMillis
      ? undefined
      : backing(state, resetAround, receivedAt, report.agreed, ...statements)
  return {
    ...report,
    agreed,
    askBy: asked ?? askBy(state, report, agreed),
    endedBefore: state.ended,
    sentBy: state.sent,
    unreportedBy: state.unreported
  }
}

/** The wall clock has stepped against the monotonic one: the computer may have slept, and the allowance refilled. */
export const stepped = (state: State, instant: number): State => ({
  ...state,
  steppedAt: instant,
  probing: true,
  report: state.report && { ...state.report, askBy: instant }
})

/** A request ended without a reply: it may have been counted, so it is. */
export const lost = (state: State, instant: number): State => unreported(unsent(state), instant)

/** A request was counted, and no reply told what is left. */
const unreported = (state: State, instant: number): State => ({
  ...state,
  unreported: state.unreported + 1,
  report: state.report && lessOne(state, state.report, instant)
})

const lessOne = (state: State, known: Report.Report, instant: number): Report.Report => {
  const { bucket, windowMillis = 0 } = state
  const next = instant + Math.max(unreportedResetMillis, windowMillis / known.limit)
  // It may be the one that was to ask.
  const report = instant < known.askBy ? known : { ...known, askBy: next }
  if (report.remaining >= 1) return { ...report, remaining: report.remaining - 1 }
  // It was one that had come back since: as many less have come back by now.
  if (BucketDetector.isBelieved(bucket)) {
    return { ...report, receivedAt: report.receivedAt + millisPerRequest(state, bucket) }
  }
  // It was the one that went at the reset. In a window that slides it may have been the only one that had come back: the
  // others do within the time they were sent in.
  const allBack = report.receivedAt + windowMillis + Report.roundingMillis + Report.clockMillis
  return { ...report, resetBy: Math.max(report.resetBy, instant < allBack ? Math.min(allBack, next) : next) }
}

/** A request ended before it was sent (its connection was refused, its caller gave up first). */
export const unsent = (state: State): State => ({
  ...state,
  underWay: Math.max(0, state.underWay - 1),
  ended: state.ended + 1
})

/** A reply has come. */
export const received = (state: State, observation: Report.Observation): State => {
  const { date, receivedAt, sentAt } = observation
  const clock = date === null ? state.clock : ServiceClock.observe(state.clock, { sentAt, receivedAt, date })
  const landed = { ...state, clock, underWay: Math.max(0, state.underWay - 1), ended: state.ended + 1 }
  const report = Report.from(observation, clock ?? ServiceClock.assumed(observation.wallAheadMillis), state)
  const isSilent = report === undefined && !observation.refused
  const counted = { ...landed, silent: isSilent ? state.silent + (observation.fault ? 0 : 1) : 0 }
  const instant = retryAtOf(observation) ?? report?.resetAround
  const isOld = state.claim === undefined || claimed(state, receivedAt) !== undefined
  const claim = isOld && instant !== undefined ? { instant, saidAt: receivedAt } : state.claim
  const seen = {
    ...(report === undefined ? unreported(counted, receivedAt) : withReport(counted, report, observation)),
    claim
  }
  // Where we believed that there was something left, and know of all that became of ours, somebody else took it.
  const isTheirs = state.report !== undefined && state.report.unreportedBy === state.unreported
  const believed = isTheirs ? { ...seen, ...OtherClients.oneMore(seen) } : seen
  return observation.refused ? refused(believed, observation, report, state) : { ...seen, refusalsWithoutRetryAfter: 0 }
}

/** When the `Retry-After` of a reply is over. */
const retryAtOf = ({ receivedAt, retryAfterMillis }: Report.Observation): number | undefined =>
  retryAfterMillis === null ? undefined : receivedAt + Math.min(retryAfterMillis, Report.maxWindowMillis)

/** Takes a report over, unless it is older than the one there is. */
const withReport = (state: State, report: Report.Report, observation: Report.Observation): State => {
  const { unreportedBefore } = observation
  // It may not have counted what was under way together with its own request, and of which no reply told.
  const remaining = Math.max(0, report.remaining - (state.unreported - unreportedBefore))
  const { report: known } = state
  if (known === undefined) return told(state, report, remaining, false, observation)
  const later = report.sentAt >= known.receivedAt
  // Replies that crossed each other: within one stretch the smallest number is the truth, and a later reset is newer.
  if (!later && report.resetSeconds < known.resetSeconds) return state
  // It holds as of the last of them: what came back between them is in it.
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
  const next = told(state, report, remaining, refilled, observation)
  const sameStretch = report.resetSeconds === known.resetSeconds || BucketDetector.isBelieved(next.bucket)
  // Whatever came back meanwhile, a drop beyond our own requests is of others.
  const back = state.watch === undefined ? 0 : refilledSince(state.watch.report, next.bucket, report)
  return { ...next, spread, ...OtherClients.watched(state, report, back, refilled || !sameStretch) }
}

/** What came back between two reports, at least. */
const refilledSince = (first: Report.Report, bucket: State["bucket"], report: Report.Report): number =>
  BucketDetector.isBelieved(bucket) ? Math.floor((report.receivedAt - first.receivedAt) / bucket.atMost) : 0

/** What backs the reset of a reply. */
const agreeing = (state: State, { receivedAt, resetAround }: Report.Report, observation: Report.Observation) =>
  backing(
    state,
    resetAround,
    receivedAt,
    Report.isRelative(observation.reset) ? undefined : state.report?.resetAround,
    claimed(state, receivedAt),
    retryAtOf(observation)
  )

/** Takes over a report, of which so much is certain to remain, and what it tells of how the allowance refills. */
const told = (
  state: State,
  report: Report.Report,
  remaining: number,
  refilled: boolean,
  observation: Report.Observation
) => {
  const { resetAround } = report
  const bucket = BucketDetector.noted(state.bucket, report)
  // A bucket that refills evenly has shown so by several replies.
  const agreed = BucketDetector.isBelieved(bucket) ? resetAround : agreeing(state, report, observation)
  return {
    ...state,
    report: { ...report, remaining, agreed, askBy: askBy(state, report, agreed) },
    bucket,
    refillsAtOnce: refilled ? report.remaining >= report.limit * 0.9 - state.underWay : state.refillsAtOnce,
    windowMillis: agreed === undefined ? state.windowMillis : windowSeen(state, report)
  }
}

/** The window is as long as a reset that is believed was ever away, also when the reply that it is believed for spoke of it first. */
const windowSeen = ({ report: known, windowMillis = 0 }: State, { resetAround, sentAt }: Report.SharedReport): number =>
  Math.max(
    windowMillis,
    resetAround - sentAt,
    known !== undefined && Math.abs(known.resetAround - resetAround) <= agreementMillis
      ? known.resetAround - known.sentAt
      : 0
  )

/** Whoever waited for a refill leaves spread out, not all at once. */
const spreadFrom = (state: State, instant: number): State["spread"] => {
  const next = state.spread?.next ?? instant
  // No further off than a step: clocks jump.
  const latest =
    instant + (state.report === undefined ? 0 : stepMillis(state, state.report) * (1 + state.ownProcesses.count))
  return { until: instant + spreadMillis, next: Math.min(Math.max(next, instant), latest) }
}

/** A 429: nothing is left, and nobody goes until the service says, or until a growing pause is over. */
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
  const stated = retryAt ?? report?.resetBy ?? receivedAt + pauseMillis
  const agreed =
    retryAt === undefined && report !== undefined
      ? state.report?.agreed
      : backing(state, stated, receivedAt, report?.resetAround, before.report?.resetAround, claimed(before, receivedAt))
  const until = agreed === undefined ? Math.min(stated, receivedAt + maxUnbackedMillis) : stated
  const pausedUntil = Math.max(state.pausedUntil, until)
  return {
    ...state,
    // When `Retry-After` and the reset disagree, the one that is about this very refusal is right.
    report: state.report && {
      ...state.report,
      remaining: 0,
      ...(retryAt !== undefined && { resetBy: stated, askBy: agreed === undefined ? until : Number.POSITIVE_INFINITY })
    },
    pausedUntil,
    pauseAgreed: pausedUntil === until ? agreed : state.pauseAgreed,
    spread: spreadFrom(state, pausedUntil),
    refusalsWithoutRetryAfter: retryAt === undefined && report === undefined ? state.refusalsWithoutRetryAfter + 1 : 0
  }
}
