/**
 * Decides which list request the poller sends next, and when. The request is a page of a sweep (a read of the whole list), or
 * the end of the list. It also decides the intervals, the pause after a failure, and when nodes in transition get reads of
 * their own. Pure. `Poller.ts` sends the requests; `ReadQueue.ts` orders the reads of nodes.
 *
 * The share is spent in this order (decision 0136 has the reasons):
 *
 * | | requests | gets |
 * |---|---|---|
 * | 1 | reads of nodes in doubt, which prove deletions | per hour, or per shorter window at the same rate: 170 reads, but no more than half of a small share, and at least a tenth of a large one; more while 2 and 3 do not need their requests |
 * | 2 | reads of nodes in transition | at most 45 % of the share |
 * | 3 | the end of the list, and sweeps at the promised interval, or at the configured one if that is longer | if the share is too small, the intervals of 2 and 3 grow by one factor |
 * | 4 | images and plans | as soon as twenty requests are left, or after half an hour |
 * | 5 | sweeps at a configured interval that is shorter than the promised one | what 2 and 3 leave on average, minus the reserve for 1; sweeps that prove something may also use the reserve |
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
  /** When the last page of a sweep was requested. */
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

/** The values on which the schedule depends, apart from the nodes. */
export interface Plan {
  readonly rules: Rules
  /** The share, in requests per hour. */
  readonly requestsPerHour: number
  /** The window of the rate limit, in which the share is counted. */
  readonly windowMillis: number
  /** The current instant, on the monotonic clock. */
  readonly nowMillis: number
  /** The shortest interval between requests that the share can sustain indefinitely. */
  readonly paceMillis: number
  /** The same interval as `paceMillis`, but with a reserve for reads of nodes in doubt. */
  readonly sparingPaceMillis: number
  /** The largest burst that is possible on top of a steady `perHour` requests an hour. */
  readonly spare: (perHour: number) => number
  /** Number of reads of nodes in doubt within the last hour, or within the last window of the rate limit if that is shorter. */
  readonly doubtsSent: number
  /**
   * The configured interval of sweeps. If null, it is derived from the promised latency. The daemon keeps a configured
   * interval that is shorter than the derived one as far as the share allows.
   */
  readonly sweepMillis: number | null
  /** The shortest interval at which a node in transition is read. If null, it is derived. */
  readonly transitionMillis: number | null
}

/**
 * Minimum time between the starts of two sweeps if the second one would settle a doubt. There is one exception: the second sweep
 * of a process follows the first at once.
 */
const minSweepMillis = 2000

/** Whether the list has one page. A sweep of such a list may take a second request, which proves that the list ended. */
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

/**
 * Number of reads that missing nodes still need, if complete sweeps also prove something about them; null if sweeps prove
 * nothing.
 */
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
 * The planned interval of sweeps. During the first sweep of a process the number of pages is not known yet; it is at least the
 * number of pages read so far.
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

/** When the next page is due. Before the baseline, pages follow each other at once. */
const pageDue = (polling: Polling, snapshot: Snapshot, { nowMillis, rules }: Plan, intervals: Intervals): Due => {
  const { pageMillis, sweep, sweepBegunMillis } = polling
  if (sweep !== null) {
    const pause = snapshot.standing.baselineMillis === null ? 0 : intervals.pageMillis
    return { _tag: "page", dueMillis: pageMillis + pause }
  }
  const pause = polling.sweeps < 2 ? 0 : minSweepMillis
  const wanted = isSweepWanted(snapshot, rules, nowMillis) ? sweepBegunMillis + pause : Infinity
  // If the list has many pages, the usual pause between pages also separates the last page of a sweep from the first page of
  // the next sweep.
  const planned =
    intervals.tailMillis === null ? sweepBegunMillis + intervals.sweepMillis : pageMillis + intervals.pageMillis
  return { _tag: "page", dueMillis: Math.min(planned, wanted) }
}

const endDue = ({ end, endMillis, isEndOpen }: Polling, { tailMillis }: Intervals): Due | null =>
  end === null || tailMillis === null
    ? null
    : { _tag: "end", dueMillis: isEndOpen ? endMillis : endMillis + tailMillis }

/**
 * The lane: how nodes in transition get additional requests, either with more frequent sweeps, or with a read for each node.
 */
export type Lane = { readonly _tag: "sweeps" } | { readonly _tag: "reads"; readonly end: End | null }

/**
 * When a node in transition starts to get additional requests, on the monotonic clock; `Infinity` if never. This is no
 * earlier than such nodes usually change, as measured by this process. If each node takes its own read, two kinds of
 * nodes need none. Nodes on the page with the end of the list are read often anyway. Terminating nodes can only
 * disappear, which only complete sweeps prove, so such a node gets a single read only when it may be stuck.
 */
export const laneOpensMillis = (id: NodeId, { evidence, nodes }: Snapshot, rules: Rules, lane: Lane): number => {
  const known = nodes.get(id)
  // Nodes in doubt get other single reads.
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

/** How many nodes the lane currently covers. Stuck nodes do not count, because they are unlikely to change soon. */
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
  /** Interval from the start of one sweep to the start of the next. */
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

/** The values on which the intervals depend. */
interface Load extends Omit<Plan, "rules" | "nowMillis"> {
  readonly nodes: number
  /** Requests per sweep. */
  readonly pages: number
  /** Number of nodes in transition that get additional requests. */
  readonly transitions: number
  /**
   * Number of reads that missing nodes still need, if complete sweeps also prove something about them; null if sweeps prove
   * nothing.
   */
  readonly proving: number | null
}

/** Intervals are this fraction of the promised latency, because the latency includes the duration of a request. */
const margin = 0.95

/** The fraction for new nodes. It is smaller, because the service's clock is known only to the second. */
const newMargin = 0.9

/** The promise for an account of one page: for all nodes, and for nodes in transition. */
const onePage = { allMillis: 10_000 * newMargin, transitionMillis: 5000 * margin }

/**
 * The promises for accounts of up to 3000 nodes, and for larger ones. `tailMillis` is for new nodes, `transitionMillis` for
 * nodes in transition, and `pagesPerHour` for all others.
 */
const manyPages = { tailMillis: 10_000 * newMargin, transitionMillis: 60_000 * margin, pagesPerHour: 150 }
const veryManyPages = { tailMillis: 15_000 * newMargin, transitionMillis: 120_000 * margin, pagesPerHour: 360 }
const maxMany = 3000

/** Requests per sweep of one page: every tenth sweep takes a second request. */
const proofs = 1.1

/** Nodes in transition get at most this fraction of the requests. */
const maxTransitionShare = 0.45

/** Additional sweeps may spend all requests that are left for them within this fraction of the window. */
const burst = 0.05

/** The reserve for reads of nodes in doubt, per hour, and the number of them that the safety margins of the promised latencies absorb. */
const maxProofReads = 170
const marginReads = 57

/** The reserve for reads of nodes in doubt is at least the fraction `min` of a large share, and at most the fraction `max` of a small one. */
const doubtShare = { min: 0.1, max: 0.5 }

/** The reserve for reads of nodes in doubt, in reads per hour, for a share of this size. */
const doubtsPerHour = (requestsPerHour: number): number =>
  Math.max(doubtShare.min * requestsPerHour, Math.min(maxProofReads, doubtShare.max * requestsPerHour))

/**
 * The number of reads of nodes in doubt that may always be sent within an hour, or within the rate limit's window if that is shorter. A
 * shorter window gets a proportional number, because the reads of a whole hour in one window would displace promised requests.
 * More reads are sent while the list has all the requests that it needs.
 */
export const doubtBudget = (budget: Budget): Budget => {
  const windowMillis = Math.min(budget.windowMillis, millisPerHour)
  return { requests: Math.ceil((doubtsPerHour(perHourOf(budget)) * windowMillis) / millisPerHour), windowMillis }
}

const millisPerHour = 3_600_000

/** Maximum number of requests an hour that the promised latencies require for the end of the list and for sweeps. */
const maxPromised = millisPerHour / veryManyPages.tailMillis + veryManyPages.pagesPerHour

/**
 * The longest time that reads wait for room if this many nodes are deleted at once, without the pauses between the
 * reads of one node. Reads that do not fit into an hour (or a shorter window) next to the promised requests wait for
 * the next hour or window.
 */
export const proofsMillis = (deletions: number, budget: Budget): number => {
  const { requests, windowMillis } = doubtBudget(budget)
  const left = ((perHourOf(budget) - maxPromised) * windowMillis) / millisPerHour
  return Math.floor((readsPerDeletion * deletions) / Math.max(requests, left)) * windowMillis
}

/**
 * The number of requests per hour that are kept for reads of nodes in doubt, and that nothing else may use; at most half of a
 * small share.
 */
const keptPerHour = (requestsPerHour: number): number =>
  Math.max(
    Math.min(maxProofReads - marginReads, doubtShare.max * requestsPerHour),
    doubtShare.min * requestsPerHour - marginReads
  )

/**
 * The pace of the promised requests (`perHour` an hour). A share that is too small for them still keeps room
 * for reads of nodes in doubt.
 */
const paceFor = ({ paceMillis, requestsPerHour }: Load, perHour: number): number => {
  if (requestsPerHour >= perHour) return paceMillis
  return Math.max(paceMillis, millisPerHour / (requestsPerHour - keptPerHour(requestsPerHour)))
}

const intervalsOf = (load: Load): Intervals => (load.pages <= 1 ? ofOnePage(load) : ofPages(load))

/** Nodes that each page adds to a sweep, because pages overlap. */
const nodesPerPage = 87

/** How many requests additional sweeps leave for reads of nodes in doubt, per hour, or per window if that is shorter. */
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
    // This is the room left in the steady state, in which additional sweeps use requests as fast as the share refills.
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
 * The smallest number of nodes for which the share is too small for this interval; null if the share is large enough for every
 * account that Berth supports.
 */
export const stretchedFrom = (sweepMillis: number, budget: Budget): number | null => {
  for (let nodes = 0; nodes <= maxNodes; nodes = nodes === 0 ? 100 : nodes + nodesPerPage) {
    if (promisedSweepMillis(nodes, sweepMillis, budget) > sweepMillis + 1) return nodes
  }
  return null
}

const maxNodes = 100_000

/**
 * Requests an hour for additional sweeps, if a shorter interval is set. They get what the share has left after the promised requests
 * (`perHour`), and after the reserve for reads of nodes in doubt. If sweeps themselves prove something, they may also use what the reads
 * leave of that reserve.
 */
const extraPerHour = (load: Load, perHour: number): number => {
  const { doubtsSent, proving, spare, windowMillis } = load
  const kept = Math.min(proving ?? Infinity, Math.max(0, keptForDoubts(load) - doubtsSent))
  return (Math.max(0, spare(perHour) - kept) * millisPerHour) / (burst * windowMillis)
}

/**
 * The intervals if the list has one page. Nodes in transition are seen within 5 s, as long as the share can sustain the promise
 * about all nodes and the reads of nodes in doubt.
 */
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
