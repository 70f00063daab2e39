/**
 * Decides which single node is read next, and when. Reads run in parallel to the pages of the list, and never delay them, because a read
 * may hang or fail and the list must show changes in time. Pure. `Poller.ts` sends the reads; `diff/Question.ts` says which reads would
 * settle a doubt.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import type { Question } from "../diff/Question.ts"
import type { Rules, Snapshot } from "../diff/Snapshot.ts"
import { type Lane, laneOpensMillis } from "./Schedule.ts"

/** The state of the reads of single nodes. */
export interface Reads {
  /** Reads in progress. */
  readonly open: ReadonlySet<NodeId>
  /** Number of reads that failed since a page of the list was last answered. */
  readonly failures: number
  /** Nodes whose last read failed. */
  readonly failed: ReadonlyMap<NodeId, FailedRead>
}

/** The failed reads of one node. */
interface FailedRead {
  /** Number of failed reads in a row. */
  readonly times: number
  /** The node is not read again before this instant on the monotonic clock, even if a read would be useful. */
  readonly untilMillis: number
}

export const noReads: Reads = { open: new Set(), failures: 0, failed: new Map() }

/**
 * Maximum number of reads in progress plus reads that failed since a page of the list was last answered. If every read
 * fails, a page is read after every two reads, so the client's circuit breaker, which opens at four failures of five,
 * stays closed, and the list can be read.
 */
export const maxReadsAtRisk = 2

/** A read, and when it is due on the monotonic clock. */
export interface Read {
  readonly id: NodeId
  readonly kind: Question["kind"]
  readonly dueMillis: number
}

/** The facts on which the choice depends, apart from the nodes. */
export interface ReadPlan {
  readonly rules: Rules
  readonly lane: Lane
  /** The current instant on the monotonic clock. */
  readonly nowMillis: number
  /** How often a node in transition is read; null if sweeps are enough. */
  readonly transitionMillis: number | null
  /**
   * Whether the share has room for reads of nodes in doubt, and for those among them that will most likely show that the node
   * exists (guesses).
   */
  readonly hasRoomForDoubts: boolean
  readonly hasRoomForGuesses: boolean
}

/** The interval between reads of a stuck node is this many times as long. */
const stuckFactor = 5

/**
 * The order of reads, most valuable first: reads that everything else waits for, then reads that keep a promised
 * latency, then reads about changes that were seen but not reported yet.
 */
const ranks: Readonly<Record<Question["kind"], number>> = {
  census: 0,
  transition: 1,
  impossible: 2,
  returned: 3,
  confirm: 3,
  absent: 4,
  guess: 5
}

/** The rank of a node whose last read failed. */
const failedRank = 6

/** The most valuable read that is due. If none is due, the read that is due next; null if there is none. */
export const nextRead = (
  reads: Reads,
  questions: ReadonlyArray<Question>,
  snapshot: Snapshot,
  plan: ReadPlan
): Read | null => {
  if (reads.open.size + reads.failures >= maxReadsAtRisk) return null
  let best: { readonly read: Read; readonly rank: number } | null = null
  for (const question of questions) {
    const { id, kind } = question
    if (reads.open.has(id) || !hasRoom(kind, plan)) continue
    const failed = reads.failed.get(id)
    const dueMillis = Math.max(answerDue(question, snapshot, plan), failed?.untilMillis ?? -Infinity)
    if (dueMillis === Infinity) continue
    const isDue = dueMillis <= plan.nowMillis
    const rank = !isDue ? Infinity : failed !== undefined ? failedRank : ranks[kind]
    if (best === null || rank < best.rank || (rank === best.rank && dueMillis < best.read.dueMillis)) {
      best = { read: { id, kind, dueMillis }, rank }
    }
  }
  return best?.read ?? null
}

const hasRoom = (kind: Question["kind"], { hasRoomForDoubts, hasRoomForGuesses }: ReadPlan): boolean =>
  kind === "transition" || (kind === "guess" ? hasRoomForGuesses : hasRoomForDoubts)

/** When a node should be read. If the whole list fits on one page, nodes in transition need no single reads. */
const answerDue = (
  { dueMonotonicMillis, id, kind }: Question,
  snapshot: Snapshot,
  { lane, rules, transitionMillis }: ReadPlan
): number => {
  if (kind !== "transition") return dueMonotonicMillis
  if (transitionMillis === null) return Infinity
  const pause = (snapshot.nodes.get(id)?.state.stuck === true ? stuckFactor : 1) * transitionMillis
  return Math.max(dueMonotonicMillis + pause, laneOpensMillis(id, snapshot, rules, lane))
}

/** Pause before a node is read again after its read failed. It doubles with each failure. */
const pauseMillis = 1000

/** The first pause if the service answered, but the node's record cannot be used. */
const unreadablePauseMillis = 60_000
const maxPauseMillis = 300_000

/** A read starts. */
export const begun = (reads: Reads, id: NodeId): Reads => ({ ...reads, open: new Set(reads.open).add(id) })

/** A read has ended, in any way. */
export const over = (reads: Reads, id: NodeId): Reads => {
  const open = new Set(reads.open)
  open.delete(id)
  return { ...reads, open }
}

/** A read was answered. */
export const answered = (reads: Reads, id: NodeId): Reads => {
  if (!reads.failed.has(id)) return reads
  const failed = new Map(reads.failed)
  failed.delete(id)
  return { ...reads, failed }
}

/** A page of the list was answered. */
export const listAnswered = (reads: Reads): Reads => (reads.failures === 0 ? reads : { ...reads, failures: 0 })

/** A read failed. Only this node has to wait, because a single unreadable node must not delay other reads, and is no outage. */
export const failedAt = (
  reads: Reads,
  id: NodeId,
  atMillis: number,
  failure: { readonly isUnreadable: boolean; readonly retryAfterMillis: number | null }
): Reads => {
  const times = (reads.failed.get(id)?.times ?? 0) + 1
  const base = failure.isUnreadable ? unreadablePauseMillis : pauseMillis
  const pause = Math.min(maxPauseMillis, base * 2 ** Math.min(times - 1, 20))
  const untilMillis = atMillis + Math.max(pause, failure.retryAfterMillis ?? 0)
  const forgottenMillis = atMillis - 2 * maxPauseMillis
  const others = [...reads.failed].filter(([, read]) => read.untilMillis > forgottenMillis)
  return {
    ...reads,
    failures: reads.failures + (failure.isUnreadable ? 0 : 1),
    failed: new Map(others).set(id, { times, untilMillis })
  }
}
