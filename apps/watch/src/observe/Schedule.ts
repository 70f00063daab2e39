/**
 * What the poller requests of the list next, and when: the pages of sweeps and the end of the list. Pure. `Poller.ts` sends the
 * requests; which single nodes are read beside them is in `ReadQueue.ts`.
 */
import { sweepQuestion } from "../diff/Question.ts"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { inLane, type Lane } from "./FastLane.ts"
import { type Intervals, intervalsOf } from "./Intervals.ts"
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
export interface Due {
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
