/**
 * Decides which list request the poller sends next, and when: a page of a sweep or the end of the list. It also decides the intervals, the
 * pause after a failure, and when nodes in transition get reads of their own. Pure. `Poller.ts` sends the requests; `ReadQueue.ts` orders
 * the reads of nodes.
 *
 * The share is spent in this order (decision 0136 has the reasons):
 *
 * | | requests | gets |
 * |---|---|---|
 * | 1 | reads of nodes in doubt, which prove deletions | per hour, or per shorter window at the same rate: 170, but at most half of a small share and at least a tenth of a large one; more while 2 and 3 have all they need |
 * | 2 | reads of nodes in transition | at most 45 % of the share |
 * | 3 | the end of the list, and sweeps as often as promised or, if that is less, as set | if the share is too small, the intervals of 2 and 3 grow by one factor |
 * | 4 | images and plans | as soon as twenty requests are left, or after half an hour |
 * | 5 | sweeps more often than promised, as set | what 2 and 3 leave in the long run, minus the part that is kept for 1; sweeps that prove something may use that part, too |
 */
import { minAbsentLists, readsPerDeletion } from "@berthkit/core/absence/Absence"
import type { NodeId } from "@berthkit/core/domain/Node"
import { isSweepWanted, questionOf } from "../diff/ListGuard.ts"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { isPassing, soonestMillis, stuckAfterMillis } from "../diff/Transition.ts"
import { type Budget, perHourOf } from "./RequestShare.ts"
import type { End, Sweep } from "./Sweep.ts"

/** The state of the polling. */
export interface Polling {
  /** The running sweep; null between two sweeps. */
  readonly sweep: Sweep | null
  /** Number of sweeps started. */
  readonly sweeps: number
  /** The highest id in the last complete sweep, 0 for none; null if the list does not ascend. */
  readonly lastId: number | null
  /** When the last sweep began, on the monotonic clock, like all instants here. */
  readonly sweepBegunMillis: number
  /** When its last page was requested. */
  readonly pageMillis: number
  /** Where the list last ended; null if it does not ascend. */
  readonly end: End | null
  /** When the end was last requested. */
  readonly endMillis: number
  /** Whether the end must be requested again at once. */
  readonly isEndOpen: boolean
  /** Nothing is sent before this instant, because a request failed. */
  readonly quietUntilMillis: number
}

export const initialPolling: Polling = {
  sweep: null,
  sweeps: 0,
  lastId: null,
  sweepBegunMillis: -Infinity,
  pageMillis: -Infinity,
  end: null,
  endMillis: -Infinity,
  isEndOpen: false,
  quietUntilMillis: -Infinity
}

/** A request for the next page of a sweep, or for the end of the list, and when it is due. */
interface Due {
  readonly _tag: "page" | "end"
  readonly dueMillis: number
}

/** What the schedule depends on besides the nodes. */
export interface Plan {
  readonly rules: Rules
  /** The share. */
  readonly requestsPerHour: number
  /** The window of the rate limit, in which the share is counted. */
  readonly windowMillis: number
  /** The current instant, on the monotonic clock. */
  readonly nowMillis: number
  /** The shortest interval between requests that the share allows in the long run. */
  readonly paceMillis: number
  /** The same interval, with a reserve for reads of nodes in doubt. */
  readonly sparingPaceMillis: number
  /** How many requests may be sent at once if `perHour` requests an hour go on in the long run. */
  readonly spare: (perHour: number) => number
  /** Reads of nodes in doubt within the last hour, or the last window of the rate limit if that is shorter. */
  readonly doubtsSent: number
  /**
   * The configured interval of sweeps; null derives it from the promised latency. A shorter interval is kept as far as the share allows.
   */
  readonly sweepMillis: number | null
  /** The shortest interval at which a node in transition is read; null derives it. */
  readonly transitionMillis: number | null
}

/** Minimum pause before a sweep that would settle something; only the second sweep follows the first at once. */
const minSweepMillis = 2000

/** If the list has one page, the second request of a sweep is a proof. */
const isOnePage = ({ evidence, nodes }: Snapshot): boolean =>
  nodes.size < 100 && (evidence.swept?.usualRequests ?? 1) <= 2

/** How nodes in transition are watched. */
export const laneOf = (snapshot: Snapshot, { end }: Polling): Lane =>
  isOnePage(snapshot) ? { _tag: "sweeps" } : { _tag: "reads", end }

/** The current intervals. */
export const intervalsNow = (polling: Polling, snapshot: Snapshot, plan: Plan): Intervals =>
  intervalsOf({
    ...plan,
    nodes: snapshot.nodes.size,
    pages: isOnePage(snapshot) ? 1 : (snapshot.evidence.swept?.usualRequests ?? 1),
    transitions: inLane(snapshot, plan.rules, laneOf(snapshot, polling), plan.nowMillis),
    proving: readsBesideSweeps(snapshot, plan)
  })

/** The reads that missing nodes still need if complete sweeps prove something, too; null if they do not. */
const readsBesideSweeps = ({ nodes, standing, unsettled }: Snapshot, { nowMillis, rules }: Plan): number | null => {
  let reads = 0
  let isProving = false
  for (const id of unsettled) {
    const known = nodes.get(id)
    if (known === undefined || known.absence === null || known.hidden !== null) continue
    const { absence } = known
    const question = questionOf(known, absence, standing, rules)
    if (question?._tag === "Read") reads += question.isFirst ? readsPerDeletion : 1
    else if (question !== null && question.dueMillis > nowMillis) continue
    isProving ||= question?._tag === "List" || absence.lists < minAbsentLists || !absence.isCounted
  }
  return isProving ? reads : null
}

/**
 * The planned duration of a sweep. The first sweep of a process still has to show how many pages there are: at least as many as
 * it has read.
 */
export const plannedSweepMillis = (polling: Polling, snapshot: Snapshot, plan: Plan): number => {
  const planned = intervalsNow(polling, snapshot, plan)
  const { sweep } = polling
  if (sweep === null || snapshot.evidence.swept !== null || sweep.requests <= 2) return planned.sweepMillis
  const nodes = Math.max(snapshot.nodes.size, sweep.listed.size)
  return intervalsOf({ ...plan, nodes, pages: sweep.requests, transitions: 0, proving: null }).sweepMillis
}

/** The request that is due first. */
export const nextDue = (polling: Polling, snapshot: Snapshot, plan: Plan): Due => {
  const intervals = intervalsNow(polling, snapshot, plan)
  const page = pageDue(polling, snapshot, plan, intervals)
  const end = endDue(polling, intervals)
  const first = end !== null && end.dueMillis <= page.dueMillis ? end : page
  return { ...first, dueMillis: Math.max(first.dueMillis, polling.quietUntilMillis) }
}

/** Before the baseline the pages follow each other at once. */
const pageDue = (polling: Polling, snapshot: Snapshot, { nowMillis, rules }: Plan, intervals: Intervals): Due => {
  const { pageMillis, sweep, sweepBegunMillis } = polling
  if (sweep !== null) {
    const pause = snapshot.standing.baselineMillis === null ? 0 : intervals.pageMillis
    return { _tag: "page", dueMillis: pageMillis + pause }
  }
  const pause = polling.sweeps < 2 ? 0 : minSweepMillis
  const wanted = isSweepWanted(snapshot, rules, nowMillis) ? sweepBegunMillis + pause : Infinity
  // Sweeps of many pages follow each other, even the first one that is not read at once.
  const planned =
    intervals.tailMillis === null ? sweepBegunMillis + intervals.sweepMillis : pageMillis + intervals.pageMillis
  return { _tag: "page", dueMillis: Math.min(planned, wanted) }
}

const endDue = ({ end, endMillis, isEndOpen }: Polling, { tailMillis }: Intervals): Due | null =>
  end === null || tailMillis === null
    ? null
    : { _tag: "end", dueMillis: isEndOpen ? endMillis : endMillis + tailMillis }

/** The lane: how nodes in transition are watched besides sweeps, with more sweeps or with a read for each. */
export type Lane = { readonly _tag: "sweeps" } | { readonly _tag: "reads"; readonly end: End | null }

/**
 * When a node in transition starts to get requests besides sweeps, on the monotonic clock; `Infinity` if never. This is not before such
 * nodes usually change, as this process has measured. If each node takes its own read, two kinds of node need none. The page with the end
 * of the list shows its nodes anyway. A terminating node can only disappear, which two complete sweeps prove, and those take longer than
 * all reads; a single read shows in time that it is stuck.
 */
export const laneOpensMillis = (id: NodeId, { evidence, nodes }: Snapshot, rules: Rules, lane: Lane): number => {
  const known = nodes.get(id)
  // Nodes in doubt have reads of their own.
  if (known === undefined || known.absence !== null) return Infinity
  const { sinceMonotonicMillis: since, state } = known
  const { status } = state.node
  if (since === null || !isPassing(status)) return Infinity
  if (lane._tag === "reads") {
    if (lane.end !== null && id >= lane.end.firstId) return Infinity
    if (status === "terminate") {
      return state.stuck ? Infinity : since + stuckAfterMillis(evidence.durations, status, rules)
    }
  }
  return since + soonestMillis(evidence.durations, status)
}

/** How many nodes the lane currently covers. Stuck nodes do not count, because they will hardly change soon. */
const inLane = (snapshot: Snapshot, rules: Rules, lane: Lane, nowMillis: number): number => {
  let count = 0
  for (const id of snapshot.unsettled) {
    if (snapshot.nodes.get(id)?.state.stuck !== true && laneOpensMillis(id, snapshot, rules, lane) <= nowMillis) count++
  }
  return count
}

/**
 * The pauses between two requests of each kind, in milliseconds, derived from the latency that is promised for an account of
 * this size. Decision 0136 has the arithmetic.
 */
interface Intervals {
  /** From the start of one sweep to the start of the next. */
  readonly sweepMillis: number
  /** Between two pages of a sweep. */
  readonly pageMillis: number
  /** Between two reads of the end of the list; null if sweeps are enough. */
  readonly tailMillis: number | null
  /** Between two reads of a node in transition; null if sweeps are enough. */
  readonly transitionMillis: number | null
  /** Requests per hour for these intervals, without additional sweeps beyond the promise. */
  readonly perHour: number
}

/** What the intervals depend on. */
interface Load extends Omit<Plan, "rules" | "nowMillis"> {
  readonly nodes: number
  /** Requests per sweep. */
  readonly pages: number
  /** Nodes in transition that are worth their own requests. */
  readonly transitions: number
  /** The reads that missing nodes still need if complete sweeps prove something, too; null if they do not. */
  readonly proving: number | null
}

/** The promise includes the duration of a request, so the interval is shorter than the promise. */
const margin = 0.95

/** For new nodes the interval is shorter still, because the service's clock is known only to the second. */
const newMargin = 0.9

/** The promise for an account of one page: for all nodes, and for nodes in transition. */
const onePage = { allMillis: 10_000 * newMargin, transitionMillis: 5000 * margin }

/**
 * The promises for up to 3000 nodes, and for more: for new nodes, for nodes in transition, and for all others through the rate of pages.
 */
const manyPages = { tailMillis: 10_000 * newMargin, transitionMillis: 60_000 * margin, pagesPerHour: 150 }
const veryManyPages = { tailMillis: 15_000 * newMargin, transitionMillis: 120_000 * margin, pagesPerHour: 360 }
const maxMany = 3000

/** Every tenth sweep of one page takes a second request. */
const proofs = 1.1

/** Nodes in transition get at most this part of the requests. */
const maxTransitionShare = 0.45

/** Additional sweeps spend the requests that are left for them within this part of the window. */
const burst = 0.05

/** How many reads of nodes in doubt fit into any hour, and how many of them fit into the margins of the promises. */
const maxProofReads = 170
const marginReads = 57

/** Reads of nodes in doubt get at least this part of a large share, and at most that part of a small one. */
const doubtShare = { min: 0.1, max: 0.5 }

/** How many of those reads any hour has room for. */
const doubtsPerHour = (requestsPerHour: number): number =>
  Math.max(doubtShare.min * requestsPerHour, Math.min(maxProofReads, doubtShare.max * requestsPerHour))

/**
 * How many reads of nodes in doubt may always be sent within an hour, or within the rate limit's window if that is shorter. A shorter
 * window gets a proportional part, because a whole hour's reads in one window would displace what is promised. More reads are sent while
 * the list has all that it needs.
 */
export const doubtBudget = (budget: Budget): Budget => {
  const windowMillis = Math.min(budget.windowMillis, millisPerHour)
  return { requests: Math.ceil((doubtsPerHour(perHourOf(budget)) * windowMillis) / millisPerHour), windowMillis }
}

const millisPerHour = 3_600_000

/** The most requests an hour that the end of the list and sweeps take for what is promised. */
const maxPromised = millisPerHour / veryManyPages.tailMillis + veryManyPages.pagesPerHour

/**
 * The longest time that the reads for so many deletions at once wait for room, besides the pauses between the reads of one node. Reads that
 * do not fit into an hour, or a shorter window, next to what is promised wait for the next one.
 */
export const proofsMillis = (deletions: number, budget: Budget): number => {
  const { requests, windowMillis } = doubtBudget(budget)
  const left = ((perHourOf(budget) - maxPromised) * windowMillis) / millisPerHour
  return Math.floor((readsPerDeletion * deletions) / Math.max(requests, left)) * windowMillis
}

/** How many of an hour's reads of nodes in doubt nothing else may displace; for a small share half of it. */
const keptPerHour = (requestsPerHour: number): number =>
  Math.max(
    Math.min(maxProofReads - marginReads, doubtShare.max * requestsPerHour),
    doubtShare.min * requestsPerHour - marginReads
  )

/** The pace of what is promised, which takes `perHour` requests an hour. Even a share that is too small for that keeps room for proofs. */
const paceFor = ({ paceMillis, requestsPerHour }: Load, perHour: number): number => {
  if (requestsPerHour >= perHour) return paceMillis
  return Math.max(paceMillis, millisPerHour / (requestsPerHour - keptPerHour(requestsPerHour)))
}

const intervalsOf = (load: Load): Intervals => (load.pages <= 1 ? ofOnePage(load) : ofPages(load))

/** Nodes that each page adds to a sweep, because pages overlap. */
const nodesPerPage = 87

/** How many requests additional sweeps leave for reads of nodes in doubt within the window, or within an hour if that is shorter. */
const keptForDoubts = ({ requestsPerHour, windowMillis }: Pick<Load, "requestsPerHour" | "windowMillis">): number =>
  keptPerHour(requestsPerHour) * Math.min(1, windowMillis / millisPerHour)

/** The interval of sweeps that the share can sustain with this many nodes; `sweepMillis` as in `Plan`. */
export const promisedSweepMillis = (nodes: number, sweepMillis: number | null, budget: Budget): number => {
  const { windowMillis } = budget
  const requestsPerHour = perHourOf(budget)
  const paceMillis = millisPerHour / requestsPerHour
  return intervalsOf({
    nodes,
    pages: nodes < 100 ? 1 : Math.ceil(nodes / nodesPerPage),
    transitions: 0,
    proving: null,
    requestsPerHour,
    windowMillis,
    paceMillis,
    sparingPaceMillis: paceMillis,
    // In the long run, no more requests are sent than the share regains.
    spare: (perHour) => {
      const kept = keptForDoubts({ requestsPerHour, windowMillis })
      const left = ((requestsPerHour - perHour) * windowMillis) / millisPerHour - kept
      return kept + (left * burst) / (1 + burst)
    },
    doubtsSent: 0,
    sweepMillis,
    transitionMillis: null
  }).sweepMillis
}

/**
 * The smallest number of nodes for which the interval is too short for the share; null if it is long enough for every account that Berth
 * supports.
 */
export const stretchedFrom = (sweepMillis: number, budget: Budget): number | null => {
  for (let nodes = 0; nodes <= maxNodes; nodes = nodes === 0 ? 100 : nodes + nodesPerPage) {
    if (promisedSweepMillis(nodes, sweepMillis, budget) > sweepMillis + 1) return nodes
  }
  return null
}

const maxNodes = 100_000

/**
 * Requests an hour for additional sweeps, if a shorter interval is set. They get what the share has left after `perHour`, which everything
 * promised takes in the long run, and after the part that is kept for proofs of deletions. Sweeps that prove something themselves may also
 * use as much of that part as the reads do not need.
 */
const extraPerHour = (load: Load, perHour: number): number => {
  const { doubtsSent, proving, spare, windowMillis } = load
  const kept = Math.min(proving ?? Infinity, Math.max(0, keptForDoubts(load) - doubtsSent))
  return (Math.max(0, spare(perHour) - kept) * millisPerHour) / (burst * windowMillis)
}

/** Nodes in transition are seen within 5 s as long as the share can sustain the promise about all nodes and the reads of nodes in doubt. */
const ofOnePage = (load: Load): Intervals => {
  const { sparingPaceMillis, sweepMillis, transitionMillis, transitions } = load
  const wanted = Math.max(onePage.allMillis, sweepMillis ?? 0)
  const promised = Math.max(wanted, proofs * paceFor(load, (proofs * millisPerHour) / wanted))
  const perHour = (proofs * millisPerHour) / promised
  const isExtra = Math.min(sweepMillis ?? Infinity, transitionMillis ?? Infinity) < promised
  const quickest = isExtra ? (proofs * millisPerHour) / (perHour + extraPerHour(load, perHour)) : promised
  const all = sweepMillis === null ? promised : Math.min(promised, Math.max(sweepMillis, quickest))
  const fast = transitionMillis === null ? onePage.transitionMillis : Math.max(transitionMillis, quickest)
  const hasRoom = transitionMillis !== null || proofs * sparingPaceMillis <= promised
  const isFast = transitions > 0 && fast < all && hasRoom
  return {
    sweepMillis: isFast ? fast : all,
    pageMillis: 0,
    tailMillis: null,
    transitionMillis: null,
    perHour
  }
}

const ofPages = (load: Load): Intervals => {
  const { nodes, pages, requestsPerHour, sweepMillis, transitions } = load
  const promised = nodes <= maxMany ? manyPages : veryManyPages
  const transitionMillis = Math.max(
    load.transitionMillis ?? promised.transitionMillis,
    (transitions * millisPerHour) / (maxTransitionShare * requestsPerHour)
  )
  const sweepPromised = Math.max((pages * millisPerHour) / promised.pagesPerHour, sweepMillis ?? 0)
  const pagesPerHour = (pages * millisPerHour) / sweepPromised
  const perHour = millisPerHour / promised.tailMillis + (transitions * millisPerHour) / transitionMillis + pagesPerHour
  // If the share is too small, all intervals grow by the same factor.
  const paceMillis = paceFor(load, millisPerHour / promised.tailMillis + pagesPerHour)
  const stretch = Math.max(1, (perHour * paceMillis) / millisPerHour)
  const planned = { sweep: sweepPromised * stretch, perHour: perHour / stretch }
  const sweep =
    sweepMillis === null || sweepMillis >= planned.sweep
      ? planned.sweep
      : Math.max(sweepMillis, (pages * millisPerHour) / (pagesPerHour / stretch + extraPerHour(load, planned.perHour)))
  return {
    sweepMillis: sweep,
    pageMillis: sweep / pages,
    tailMillis: promised.tailMillis * stretch,
    transitionMillis: transitionMillis * stretch,
    perHour: planned.perHour
  }
}

/** The pause after a failed request, and the maximum pause. */
const minBackoffMillis = 1000
const maxBackoffMillis = 60_000

/**
 * Milliseconds to wait after `failures` failures in a row: doubling from one second up to a minute, reduced by up to half by
 * `chance` (0 to 1), so that several daemons do not send at the same time. Never less than the service asks for.
 */
export const backoffMillis = (failures: number, chance: number, retryAfterMillis: number | null): number => {
  const full = Math.min(maxBackoffMillis, minBackoffMillis * 2 ** Math.min(failures - 1, 30))
  return Math.max(full * (1 - chance / 2), retryAfterMillis ?? 0)
}
