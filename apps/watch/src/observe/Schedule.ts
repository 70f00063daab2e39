/**
 * What the poller requests next beside the regular sweeps: nodes in transition change soon, and doubts wait for their proof.
 * Pure. `Poller.ts` sends the requests and runs the sweeps; what would prove something is in `diff/Question.ts`.
 */
import type { NodeId } from "@berth/core/domain/Node"
import type { Rules } from "../diff/Rules.ts"
import { type Question, questions, sweepQuestion } from "../diff/Question.ts"
import type { Snapshot } from "../diff/Snapshot.ts"

/** How often to poll. */
export interface Cadence {
  /** Minimum time between two polls of a node in transition. */
  readonly fastIntervalMillis: number
}

export interface Schedule {
  /** Nodes to poll one by one, the most urgent first. */
  readonly polls: ReadonlyArray<NodeId>
  /** Whether to read the list now, because that answers more for less. */
  readonly sweep: boolean
}

/**
 * The longer a node stays in transition, the less often it is polled: after ten seconds every second or so, after an hour
 * every six minutes, by when the sweeps come more often anyway.
 */
const intervalGrowth = 0.1

/** When a question is to be asked: a node in transition was just seen. */
const dueAt = ({ dueMonotonicMillis, id, kind }: Question, { evidence }: Snapshot, cadence: Cadence): number => {
  if (kind !== "transition") return dueMonotonicMillis
  const sinceMillis = evidence.transitions.get(id) ?? dueMonotonicMillis
  return dueMonotonicMillis + Math.max(cadence.fastIntervalMillis, intervalGrowth * (dueMonotonicMillis - sinceMillis))
}

/** What is due at `monotonicMillis`. */
export const schedule = (snapshot: Snapshot, monotonicMillis: number, rules: Rules, cadence: Cadence): Schedule => {
  const due = questions(snapshot, rules)
    .map((question) => ({ ...question, dueMonotonicMillis: dueAt(question, snapshot, cadence) }))
    .filter(({ dueMonotonicMillis }) => dueMonotonicMillis <= monotonicMillis)
    .sort((a, b) => a.dueMonotonicMillis - b.dueMonotonicMillis || a.id - b.id)
  // A sweep replaces the polls of many nodes in transition, unless its list is in doubt.
  const inTransition = due.filter(({ kind }) => kind === "transition").length
  const byList = snapshot.standing.freeze === null && inTransition > (snapshot.evidence.swept?.requests ?? 1)
  const sweepDue = sweepQuestion(snapshot, rules) ?? Infinity
  return {
    polls: due.filter(({ kind }) => !byList || kind !== "transition").map(({ id }) => id),
    sweep: byList || sweepDue <= monotonicMillis
  }
}

/** Whether there is anything to request beside the regular sweeps, now or later. */
export const isAnythingOpen = (snapshot: Snapshot, rules: Rules): boolean =>
  questions(snapshot, rules).length > 0 || sweepQuestion(snapshot, rules) !== null
