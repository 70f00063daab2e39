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
import type { Peers } from "./AllowanceStore.ts"
import * as EvenRefill from "./EvenRefill.ts"
import * as Others from "./Others.ts"
import * as ServiceClock from "./ServiceClock.ts"
import * as View from "./View.ts"

export type { Observation, Sending } from "./View.ts"

export interface State {
  readonly clock: ServiceClock.ServiceClock | undefined
  readonly view: View.View | undefined
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
  readonly blindRefusals: number
  readonly evenRefill: EvenRefill.EvenRefill | undefined
  /** Whether the last refill came all at once. */
  readonly refillsAtOnce: boolean
  /** Longest time to a reset that is believed: the length of the window, if it has one. Undefined until seen. */
  readonly windowMillis: number | undefined
  /** While waiting requests leave after a refill: until when they are spread, and when the next may go. */
  readonly spread: { readonly until: number; readonly next: number } | undefined
  /** What others on the same key use, and where the present watch for them began. */
  readonly others: Others.Others
  readonly watch: Others.Watch | undefined
  /** Other clients that are known to share the allowance. */
  readonly peers: Peers
  /** Requests sent, and requests answered or given up, altogether. */
  readonly sent: number
  readonly settled: number
  /** Of these, the ones that were counted and of which no reply told what is left. */
  readonly untold: number
}

export const initial: State = {
  clock: undefined,
  view: undefined,
  underWay: 0,
  pausedUntil: 0,
  pauseAgreed: undefined,
  claim: undefined,
  steppedAt: Number.NEGATIVE_INFINITY,
  probing: false,
  silent: 0,
  blindRefusals: 0,
  evenRefill: undefined,
  refillsAtOnce: false,
  windowMillis: undefined,
  spread: undefined,
  ...Others.unwatched,
  peers: { count: 0, before: 0 },
  sent: 0,
  settled: 0,
  untold: 0
}

/** When a request may go. */
export type Verdict =
  | { readonly _tag: "Now" }
  /** Not before this instant. */
  | { readonly _tag: "At"; readonly instant: number }
  /** Not before a reply to a request under way has been seen. */
  | { readonly _tag: "AfterReply" }

const now: Verdict = { _tag: "Now" }
const afterReply: Verdict = { _tag: "AfterReply" }
const at = (instant: number): Verdict => ({ _tag: "At", instant })

/** Share of the allowance that may leave per second while waiting requests are spread after a refill. */
const spreadSharePerSecond = 0.04

/** How long after a refill requests are spread. */
const spreadMillis = 30_000

/** Share of what is left that may be under way at once: the nearer the end, the smaller the steps towards it. */
const shareUnderWay = 1 / 8

/** Of a smaller allowance than this nothing is kept for others who may not be there. */
const leastLimitToShare = 50

/** How long a blind 429 pauses everybody: this, doubled for each in a row, up to the cap. */
const blindPauseMillis = 1000
const blindPauseCapMillis = 60_000

/**
 * Wait for the next request after the one that went at a reset was lost: an outage must not cost a window. Longer where even
 * so many would be too many for the allowance.
 */
const untoldResetMillis = 60_000

/** Longest wait that rests on a single statement. */
const maxUnbackedMillis = 120_000

/** Two statements agree on an instant within this time: two seconds, and what headers are rounded by. */
const agreementMillis = 2000 + View.roundingMillis

/** A view that was told to others and comes back is no further off than this. */
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
const askBy = ({ steppedAt }: State, { receivedAt, sentAt }: View.SharedView, agreed: number | undefined): number =>
  sentAt < steppedAt ? steppedAt : agreed === undefined ? receivedAt + maxUnbackedMillis : Number.POSITIVE_INFINITY

/** Requests that came back since the view was made, as far as it is known how they do. */
const cameBack = ({ evenRefill, others, peers }: State, view: View.View, instant: number): number =>
  EvenRefill.isBelieved(evenRefill)
    ? Math.max(0, instant - view.receivedAt) / millisPerRequest({ others, peers }, evenRefill)
    : 0

/** Requests that are left to others and to peers. */
const keptFor = ({ evenRefill, others, peers }: State, view: View.View, instant: number): number => {
  if (Others.areThere(others)) return peers.count + Others.room(others, view, instant)
  // Whoever takes each request at the moment it comes back never notices somebody who finds nothing left.
  return peers.count + (EvenRefill.isBelieved(evenRefill) && view.limit >= leastLimitToShare ? 1 : 0)
}

/** How fast a bucket refills for us: others take their part of what comes back. */
const millisPerRequest = (state: Pick<State, "others" | "peers">, { atMost }: EvenRefill.EvenRefill) =>
  atMost * (1 + Math.max(state.peers.count, Others.areThere(state.others) ? 1 : 0))

/**
 * When the next request may go. `reserve` is what it has to leave for those before it in rank: a share of the allowance,
 * 0 to 1.
 */
export const admit = (state: State, instant: number, reserve: number): Verdict => {
  if (instant < state.pausedUntil) return at(state.pausedUntil)
  const { view } = state
  // With nothing known one request goes first, and the rest wait for what its reply says. As long as replies say nothing
  // there is nothing to keep within, and one more at a time may go; a 429 would end that.
  if (view === undefined) return state.underWay <= state.silent ? now : afterReply
  const spread = state.spread !== undefined && instant < state.spread.until ? state.spread.next : instant
  const kept = keptFor(state, view, instant)
  const left = Math.min(view.limit, Math.floor(view.remaining + cameBack(state, view, instant)))
  const usable = left - kept - held(state, view, instant, reserve)
  // Only what was told is certain: what we reckon came back since goes one by one.
  const step = Math.max(1, Math.ceil(((view.remaining - kept) * shareUnderWay) / (1 + state.peers.count)))
  if (Math.min(usable, step) > state.underWay) return spread > instant ? at(spread) : now
  if (usable > state.underWay) return afterReply
  const askAt = view.askBy + state.peers.before * probeStepMillis
  if (state.probing && instant >= askAt) return now
  const refill = EvenRefill.isBelieved(state.evenRefill)
    ? Math.max(
        instant + 1,
        Math.ceil(instant + (state.underWay + 1 - usable) * millisPerRequest(state, state.evenRefill))
      )
    : undefined
  const turn = Math.min(askAt, refill ?? view.resetBy + state.peers.before * stepMillis(state, view))
  if (instant >= turn) return state.underWay === 0 ? now : afterReply
  return refill === undefined && state.underWay > 0 && view.remaining > 0 ? afterReply : at(turn)
}

/** Requests a lower rank leaves to the higher ones. The share flows back when the window is about to refill as a whole. */
const held = (state: State, view: View.View, instant: number, reserve: number): number => {
  if (reserve <= 0) return 0
  const closing =
    state.refillsAtOnce && state.windowMillis !== undefined && view.resetAround - instant < state.windowMillis / 20
  return closing ? 0 : Math.max(1, Math.floor(view.limit * reserve))
}

/** What a request that goes now takes along. */
export const sending = ({ settled, untold }: State, instant: number): View.Sending => ({
  sentAt: instant,
  settledBefore: settled,
  untoldBefore: untold
})

/** A request has gone. */
export const sent = (state: State, instant: number): State => {
  const { spread, view } = state
  return {
    ...state,
    sent: state.sent + 1,
    underWay: state.underWay + 1,
    probing: false,
    spread:
      spread === undefined || view === undefined || instant >= spread.until
        ? undefined
        : {
            until: spread.until,
            next: Math.max(spread.next, instant) + stepMillis(state, view) * (1 + state.peers.count)
          }
  }
}

/** Time between two requests of whomever while they are spread. A window shorter than a minute is spread over this part of itself. */
const stepMillis = (state: State, view: View.View): number => {
  const gentle = 1000 / spreadSharePerSecond
  const window = state.windowMillis ?? gentle
  return Math.min(gentle, Math.max(1, window * 0.42)) / view.limit
}

/** What other clients say: how many they are, until when nobody may go, and what they saw last. */
export interface SharedKnowledge {
  readonly peers: Peers
  readonly pausedUntil?: number
  readonly pauseAgreed?: number | undefined
  /** When they said so. */
  readonly writtenAt?: number
  /** Whether the wall clock has stepped since. */
  readonly stepped?: boolean | undefined
  readonly clock?: ServiceClock.ServiceClock | undefined
  readonly view?: View.SharedView | undefined
}

/** Takes over what others say. Their view counts where its request went after the reply that ours is of. */
export const shared = (state: State, theirs: SharedKnowledge, instant: number): State => {
  const { clock, pauseAgreed, pausedUntil = 0, peers, stepped, view, writtenAt = instant } = theirs
  const statements = [state.claim?.instant, state.view?.resetAround]
  const agreed = backing(state, pausedUntil, instant, pauseAgreed, ...statements)
  const until = agreed === undefined ? Math.min(pausedUntil, writtenAt + maxUnbackedMillis) : pausedUntil
  const isNewer =
    view !== undefined &&
    view.receivedAt <= instant &&
    (state.view === undefined ? state.underWay === 0 : view.sentAt >= state.view.receivedAt)
  return {
    ...state,
    peers,
    ...(until > state.pausedUntil && { pausedUntil: until, pauseAgreed: agreed }),
    probing: state.probing && !(isNewer && view.sentAt >= state.steppedAt),
    clock: state.clock ?? clock,
    ...(isNewer
      ? { view: takenOver(state, view, statements, stepped === true ? instant : undefined) }
      : view && confirmed(state, view))
  }
}

/** Theirs may be the second statement that a view of ours wants for. It is none where it is ours, come back. */
const confirmed = (state: State, theirs: View.SharedView): Partial<State> | undefined => {
  const { view } = state
  const apartMillis = View.isRelative(theirs.resetSeconds) ? agreementMillis : echoMillis
  return view !== undefined &&
    view.agreed === undefined &&
    Math.abs(view.resetAround - theirs.resetAround) <= agreementMillis &&
    Math.abs(view.receivedAt - theirs.receivedAt) > apartMillis
    ? {
        view: { ...view, agreed: theirs.resetAround, askBy: askBy(state, view, theirs.resetAround) },
        windowMillis: longest(state, theirs)
      }
    : undefined
}

/** Theirs as a view of ours, which is asked about at an instant where that is given. */
const takenOver = (
  state: State,
  view: View.SharedView,
  statements: ReadonlyArray<number | undefined>,
  asked: number | undefined
): View.View => {
  const { receivedAt, resetAround, resetBy } = view
  // What a refusal made of it is a statement of its own.
  const agreed =
    resetBy - resetAround > maxUnbackedMillis
      ? undefined
      : backing(state, resetAround, receivedAt, view.agreed, ...statements)
  return {
    ...view,
    agreed,
    askBy: asked ?? askBy(state, view, agreed),
    settledBefore: state.settled,
    sentBy: state.sent,
    untoldBy: state.untold
  }
}

/** The wall clock has stepped against the monotonic one: the computer may have slept, and the allowance refilled. */
export const stepped = (state: State, instant: number): State => ({
  ...state,
  steppedAt: instant,
  probing: true,
  view: state.view && { ...state.view, askBy: instant }
})

/** A request ended without a reply: it may have been counted, so it is. */
export const lost = (state: State, instant: number): State => untold(unsent(state), instant)

/** A request was counted, and no reply told what is left. */
const untold = (state: State, instant: number): State => ({
  ...state,
  untold: state.untold + 1,
  view: state.view && lessOne(state, state.view, instant)
})

const lessOne = (state: State, known: View.View, instant: number): View.View => {
  const { evenRefill, windowMillis = 0 } = state
  const next = instant + Math.max(untoldResetMillis, windowMillis / known.limit)
  // It may be the one that was to ask.
  const view = instant < known.askBy ? known : { ...known, askBy: next }
  if (view.remaining >= 1) return { ...view, remaining: view.remaining - 1 }
  // It was one that had come back since: as many less have come back by now.
  if (EvenRefill.isBelieved(evenRefill)) {
    return { ...view, receivedAt: view.receivedAt + millisPerRequest(state, evenRefill) }
  }
  // It was the one that went at the reset. In a window that slides it may have been the only one that had come back: the
  // others do within the time they were sent in.
  const allBack = view.receivedAt + windowMillis + View.roundingMillis + View.clockMillis
  return { ...view, resetBy: Math.max(view.resetBy, instant < allBack ? Math.min(allBack, next) : next) }
}

/** A request ended before it was sent (its connection was refused, its caller gave up first). */
export const unsent = (state: State): State => ({
  ...state,
  underWay: Math.max(0, state.underWay - 1),
  settled: state.settled + 1
})

/** A reply has come. */
export const received = (state: State, observation: View.Observation): State => {
  const { date, receivedAt, sentAt } = observation
  const clock = date === null ? state.clock : ServiceClock.observe(state.clock, { sentAt, receivedAt, date })
  const landed = { ...state, clock, underWay: Math.max(0, state.underWay - 1), settled: state.settled + 1 }
  const view = View.from(observation, clock ?? ServiceClock.assumed(observation.wallAheadMillis), state)
  const isSilent = view === undefined && !observation.refused
  const heard = { ...landed, silent: isSilent ? state.silent + (observation.fault ? 0 : 1) : 0 }
  const instant = retryAtOf(observation) ?? view?.resetAround
  const isOld = state.claim === undefined || claimed(state, receivedAt) !== undefined
  const claim = isOld && instant !== undefined ? { instant, saidAt: receivedAt } : state.claim
  const seen = { ...(view === undefined ? untold(heard, receivedAt) : withView(heard, view, observation)), claim }
  // Where we believed that there was something left, and know of all that became of ours, somebody else took it.
  const isTheirs = state.view !== undefined && state.view.untoldBy === state.untold
  const believed = isTheirs ? { ...seen, ...Others.oneMore(seen) } : seen
  return observation.refused ? refused(believed, observation, view, state) : { ...seen, blindRefusals: 0 }
}

/** When the `Retry-After` of a reply is over. */
const retryAtOf = ({ receivedAt, retryAfterMillis }: View.Observation): number | undefined =>
  retryAfterMillis === null ? undefined : receivedAt + Math.min(retryAfterMillis, View.longestWindowMillis)

/** Takes a view over, unless it is older than the one there is. */
const withView = (state: State, view: View.View, observation: View.Observation): State => {
  const { untoldBefore } = observation
  // It may not have counted what was under way together with its own request, and of which no reply told.
  const remaining = Math.max(0, view.remaining - (state.untold - untoldBefore))
  const { view: known } = state
  if (known === undefined) return told(state, view, remaining, false, observation)
  const later = view.sentAt >= known.receivedAt
  // Replies that crossed each other: within one stretch the smallest number is the truth, and a later reset is newer.
  if (!later && view.resetSeconds < known.resetSeconds) return state
  // It holds as of the last of them: what came back between them is in it.
  if (!later && view.resetSeconds === known.resetSeconds && remaining >= known.remaining) {
    const agreed = known.agreed ?? agreeing(state, view, observation)
    const asked = Math.max(known.askBy, askBy(state, view, agreed))
    return { ...state, view: { ...known, agreed, askBy: asked, receivedAt: view.receivedAt } }
  }
  const refilled = later && view.sentAt >= known.resetBy
  const spread =
    refilled || known.remaining - keptFor(state, known, view.sentAt) <= state.underWay + 1
      ? spreadFrom(state, view.receivedAt)
      : state.spread
  const next = told(state, view, remaining, refilled, observation)
  const sameStretch = view.resetSeconds === known.resetSeconds || EvenRefill.isBelieved(next.evenRefill)
  // Whatever came back meanwhile, a drop beyond our own requests is of others.
  const back = state.watch === undefined ? 0 : refilledSince(state.watch.view, next.evenRefill, view)
  return { ...next, spread, ...Others.watched(state, view, back, refilled || !sameStretch) }
}

/** What came back between two views, at least. */
const refilledSince = (first: View.View, evenRefill: State["evenRefill"], view: View.View): number =>
  EvenRefill.isBelieved(evenRefill) ? Math.floor((view.receivedAt - first.receivedAt) / evenRefill.atMost) : 0

/** What backs the reset of a reply. */
const agreeing = (state: State, { receivedAt, resetAround }: View.View, observation: View.Observation) =>
  backing(
    state,
    resetAround,
    receivedAt,
    View.isRelative(observation.reset) ? undefined : state.view?.resetAround,
    claimed(state, receivedAt),
    retryAtOf(observation)
  )

/** Takes over a view, of which so much is certain to remain, and what it tells of how the allowance refills. */
const told = (state: State, view: View.View, remaining: number, refilled: boolean, observation: View.Observation) => {
  const { resetAround } = view
  const evenRefill = EvenRefill.noted(state.evenRefill, view)
  // A bucket that refills evenly has shown so by several replies.
  const agreed = EvenRefill.isBelieved(evenRefill) ? resetAround : agreeing(state, view, observation)
  return {
    ...state,
    view: { ...view, remaining, agreed, askBy: askBy(state, view, agreed) },
    evenRefill,
    refillsAtOnce: refilled ? view.remaining >= view.limit * 0.9 - state.underWay : state.refillsAtOnce,
    windowMillis: agreed === undefined ? state.windowMillis : longest(state, view)
  }
}

/** The window is as long as a reset that is believed was ever away, also when the reply that it is believed for spoke of it first. */
const longest = ({ view: known, windowMillis = 0 }: State, { resetAround, sentAt }: View.SharedView): number =>
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
  const latest = instant + (state.view === undefined ? 0 : stepMillis(state, state.view) * (1 + state.peers.count))
  return { until: instant + spreadMillis, next: Math.min(Math.max(next, instant), latest) }
}

/** A 429: nothing is left, and nobody goes until the service says, or until a growing pause is over. */
const refused = (state: State, observation: View.Observation, view: View.View | undefined, before: State): State => {
  const { receivedAt } = observation
  const retryAt = retryAtOf(observation)
  const blindMillis = Math.min(blindPauseCapMillis, blindPauseMillis * 2 ** state.blindRefusals)
  const stated = retryAt ?? view?.resetBy ?? receivedAt + blindMillis
  const agreed =
    retryAt === undefined && view !== undefined
      ? state.view?.agreed
      : backing(state, stated, receivedAt, view?.resetAround, before.view?.resetAround, claimed(before, receivedAt))
  const until = agreed === undefined ? Math.min(stated, receivedAt + maxUnbackedMillis) : stated
  const pausedUntil = Math.max(state.pausedUntil, until)
  return {
    ...state,
    // When `Retry-After` and the reset disagree, the one that is about this very refusal is right.
    view: state.view && {
      ...state.view,
      remaining: 0,
      ...(retryAt !== undefined && { resetBy: stated, askBy: agreed === undefined ? until : Number.POSITIVE_INFINITY })
    },
    pausedUntil,
    pauseAgreed: pausedUntil === until ? agreed : state.pauseAgreed,
    spread: spreadFrom(state, pausedUntil),
    blindRefusals: retryAt === undefined && view === undefined ? state.blindRefusals + 1 : 0
  }
}
