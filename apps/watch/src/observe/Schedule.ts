/**
 * What the poller requests of the list next, and when: the pages of sweeps and the end of the list; from which interval to which, how soon
 * after a failure, and from when on single nodes are read beside them. Pure. `Poller.ts` sends the requests; which of those nodes comes
 * first is in `ReadQueue.ts`.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import { sweepQuestion } from "../diff/ListGuard.ts"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { isPassing, soonestMillis, stuckAfterMillis } from "../diff/Transition.ts"
import type { End, Sweep } from "./Sweep.ts"

/** Where the polling is. */
export interface Polling {
  /** Under way; null between two sweeps. */
  readonly sweep: Sweep | null
  /** Sweeps begun. */
  readonly sweeps: number
  /** Nodes that the last complete sweep listed. */
  readonly listed: number
  /** When the last sweep began, on the monotonic clock, as all instants here. */
  readonly sweepBegunMillis: number
  /** When the last page of it was asked for. */
  readonly pageMillis: number
  /** Where the list ended last; null where it does not ascend. */
  readonly end: End | null
  /** When the end was asked for last. */
  readonly endMillis: number
  /** Whether the end has to be asked for again at once. */
  readonly isEndOpen: boolean
  /** Nothing is sent before, for a request failed. */
  readonly quietUntilMillis: number
}

export const initialPolling: Polling = {
  sweep: null,
  sweeps: 0,
  listed: 0,
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

/** What the schedule depends on beside the nodes. */
export interface Plan {
  readonly rules: Rules
  readonly requestsPerHour: number
  /** The present, on the monotonic clock. */
  readonly nowMillis: number
  /** The shortest interval of requests that the share has room for at present, for ever. */
  readonly paceMillis: number
  /** The same with a reserve for reads of nodes in doubt. */
  readonly sparingPaceMillis: number
  /** The shortest interval at which what is left of the share lasts for a while. */
  readonly burstPaceMillis: number
  /** The interval of sweeps; null derives it from the latency that is promised. */
  readonly sweepMillis: number | null
  /** How often nodes in transition are read at most; null derives it. */
  readonly transitionMillis: number | null
}

/** A sweep that would decide something begins so long after the one before; only the second follows the first at once. */
const minSweepMillis = 2000

/** The second request of a sweep of one page is a proof. */
const isOnePage = ({ evidence, nodes }: Snapshot): boolean =>
  nodes.size < 100 && (evidence.swept?.usualRequests ?? 1) <= 2

/** The way in which nodes in transition are seen. */
export const laneOf = (snapshot: Snapshot, { end }: Polling): Lane =>
  isOnePage(snapshot) ? { _tag: "sweeps" } : { _tag: "reads", end }

/** The intervals at present. */
export const intervalsNow = (polling: Polling, snapshot: Snapshot, plan: Plan): Intervals =>
  intervalsOf({
    ...plan,
    nodes: snapshot.nodes.size,
    pages: isOnePage(snapshot) ? 1 : (snapshot.evidence.swept?.usualRequests ?? 1),
    transitions: inLane(snapshot, plan.rules, laneOf(snapshot, polling), plan.nowMillis)
  })

/**
 * How long a sweep takes as planned. The first one of a process has to show how many pages there are: as many as it has read, at
 * least.
 */
export const plannedSweepMillis = (polling: Polling, snapshot: Snapshot, plan: Plan): number => {
  const planned = intervalsNow(polling, snapshot, plan)
  const { sweep } = polling
  if (sweep === null || snapshot.evidence.swept !== null || sweep.requests <= 2) return planned.sweepMillis
  const nodes = Math.max(snapshot.nodes.size, sweep.listed.size)
  return intervalsOf({ ...plan, nodes, pages: sweep.requests, transitions: 0 }).sweepMillis
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
const pageDue = (polling: Polling, snapshot: Snapshot, { rules }: Plan, intervals: Intervals): Due => {
  const { pageMillis, sweep, sweepBegunMillis } = polling
  if (sweep !== null) {
    const pause = snapshot.standing.baselineMillis === null ? 0 : intervals.pageMillis
    return { _tag: "page", dueMillis: pageMillis + pause }
  }
  const pause = polling.sweeps < 2 ? 0 : minSweepMillis
  const wanted = Math.max(sweepQuestion(snapshot, rules) ?? Infinity, sweepBegunMillis + pause)
  // Sweeps of many pages follow each other, also the first one that is not read at once.
  const planned =
    intervals.tailMillis === null ? sweepBegunMillis + intervals.sweepMillis : pageMillis + intervals.pageMillis
  return { _tag: "page", dueMillis: Math.min(planned, wanted) }
}

const endDue = ({ end, endMillis, isEndOpen }: Polling, { tailMillis }: Intervals): Due | null =>
  end === null || tailMillis === null
    ? null
    : { _tag: "end", dueMillis: isEndOpen ? endMillis : endMillis + tailMillis }

/** The way in which nodes in transition are seen beside sweeps: by more sweeps, or each by reads of its own. */
export type Lane = { readonly _tag: "sweeps" } | { readonly _tag: "reads"; readonly end: End | null }

/**
 * From when on a node in transition is worth more requests than sweeps take, on the monotonic clock; `Infinity` when it is not. Not before
 * such nodes change, as far as this process has seen them do so. Where each takes a read of its own there
 * are two that do not need one: a node that the page with the end of the list shows, and one that is terminating. It can only go, and
 * two complete sweeps prove that, which take longer than all reads; a single read shows in time that it is stuck.
 */
export const laneOpensMillis = (id: NodeId, { evidence, nodes }: Snapshot, rules: Rules, lane: Lane): number => {
  const known = nodes.get(id)
  // What is in doubt is read for that.
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

/** How many nodes take the lane at present. One that is stuck is not expected to change soon. */
const inLane = (snapshot: Snapshot, rules: Rules, lane: Lane, nowMillis: number): number => {
  let count = 0
  for (const id of snapshot.unsettled) {
    if (snapshot.nodes.get(id)?.state.stuck !== true && laneOpensMillis(id, snapshot, rules, lane) <= nowMillis) count++
  }
  return count
}

/**
 * How often each kind of request is sent, in milliseconds between two of them: derived from the latency that is promised for an account of
 * its size. The arithmetic is in decision 0136.
 */
interface Intervals {
  /** From the begin of one sweep to the begin of the next. */
  readonly sweepMillis: number
  /** Between two pages of a sweep. */
  readonly pageMillis: number
  /** Between two reads of the end of the list; null where sweeps suffice. */
  readonly tailMillis: number | null
  /** Between two reads of one node in transition; null where sweeps suffice. */
  readonly transitionMillis: number | null
  /** Requests an hour that these intervals take, without the sweeps of one page that go beyond what is promised for all nodes. */
  readonly perHour: number
}

/** What the intervals depend on. */
interface Load extends Omit<Plan, "rules" | "nowMillis"> {
  readonly nodes: number
  /** Requests that a sweep takes. */
  readonly pages: number
  /** Nodes in transition that are worth requests of their own. */
  readonly transitions: number
}

/** What is promised is a time between two samples, which the duration of a request adds to. */
const margin = 0.95

/** For new nodes the second does, too, to which the service's clock is known. */
const newMargin = 0.9

/** Promised for an account of one page: all nodes, and those in transition. */
const onePage = { allMillis: 10_000 * newMargin, transitionMillis: 5000 * margin }

/** Promised up to 3000 nodes, and above: new nodes, nodes in transition, and by the rate of pages all others. */
const manyPages = { tailMillis: 10_000 * newMargin, transitionMillis: 60_000 * margin, pagesPerHour: 150 }
const veryManyPages = { tailMillis: 15_000 * newMargin, transitionMillis: 120_000 * margin, pagesPerHour: 360 }
const maxMany = 3000

/** Every tenth sweep of one page takes a second request. */
const proofs = 1.1

/** Nodes in transition get at most this part of the requests. */
const maxTransitionShare = 0.45

const millisPerHour = 3_600_000

const intervalsOf = (load: Load): Intervals => (load.pages <= 1 ? ofOnePage(load) : ofPages(load))

/**
 * What goes beyond the promise for all nodes is sent while that can be kept for ever, and reads of nodes in doubt besides. An interval that
 * is set is kept as long as the share has room for it.
 */
const ofOnePage = (load: Load): Intervals => {
  const { burstPaceMillis, paceMillis, sparingPaceMillis, sweepMillis, transitionMillis, transitions } = load
  const burst = proofs * burstPaceMillis
  const all = sweepMillis === null ? Math.max(onePage.allMillis, proofs * paceMillis) : Math.max(sweepMillis, burst)
  const fast = transitionMillis === null ? onePage.transitionMillis : Math.max(transitionMillis, burst)
  const hasRoom = transitionMillis !== null || proofs * sparingPaceMillis <= all
  const isFast = transitions > 0 && fast < all && hasRoom
  return {
    sweepMillis: isFast ? fast : all,
    pageMillis: 0,
    tailMillis: null,
    transitionMillis: null,
    perHour: (proofs * millisPerHour) / all
  }
}

const ofPages = (load: Load): Intervals => {
  const { nodes, pages, paceMillis, requestsPerHour, sweepMillis, transitions } = load
  const promised = nodes <= maxMany ? manyPages : veryManyPages
  const transitionMillis = Math.max(
    load.transitionMillis ?? promised.transitionMillis,
    (transitions * millisPerHour) / (maxTransitionShare * requestsPerHour)
  )
  const sweepWanted = sweepMillis ?? (pages * millisPerHour) / promised.pagesPerHour
  const perHour =
    millisPerHour / promised.tailMillis +
    (transitions * millisPerHour) / transitionMillis +
    (pages * millisPerHour) / sweepWanted
  // What the requests do not suffice for is stretched, all kinds alike.
  const stretch = Math.max(1, (perHour * paceMillis) / millisPerHour)
  return {
    sweepMillis: sweepWanted * stretch,
    pageMillis: (sweepWanted * stretch) / pages,
    tailMillis: promised.tailMillis * stretch,
    transitionMillis: transitionMillis * stretch,
    perHour: perHour / stretch
  }
}

/** The pause after a failed request, and after many. */
const minBackoffMillis = 1000
const maxBackoffMillis = 60_000

/**
 * Milliseconds to wait after `failures` failures in a row: doubling from one second up to a minute, of which `chance`
 * (0 to 1) takes off up to half, so that several daemons do not send at the same time. Never less than the service asks for.
 */
export const backoffMillis = (failures: number, chance: number, retryAfterMillis: number | null): number => {
  const full = Math.min(maxBackoffMillis, minBackoffMillis * 2 ** Math.min(failures - 1, 30))
  return Math.max(full * (1 - chance / 2), retryAfterMillis ?? 0)
}
