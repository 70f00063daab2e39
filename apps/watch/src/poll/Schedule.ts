/**
 * What the poller requests next beside the regular sweeps: nodes in transition change soon, and suspects wait for their proof.
 * Pure. `Poller.ts` sends the requests and runs the sweeps.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { graceOf, isExpectedToGo } from "../diff/Absence.ts"
import type { Rules } from "../diff/diff.ts"
import type { Known, Snapshot } from "../diff/Snapshot.ts"

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

/** Of the nodes missing from a list too short to be believed, so many are polled: one alive proves it wrong. */
const maxSampled = 3

/**
 * The longer a node stays in transition, the less often it is polled: after ten seconds every second or so, after an hour
 * every six minutes, by when the sweeps come more often anyway.
 */
const intervalGrowth = 0.1

const transitionDue = (known: Known, { fastIntervalMillis }: Cadence): number => {
  const seenMillis = known.seen.answered.monotonicMillis
  return seenMillis + Math.max(fastIntervalMillis, intervalGrowth * (seenMillis - known.statusSinceMonotonicMillis))
}

/** A poll that a node waits for. `shifted`: one sweep lacked it, probably because items moved between its pages. */
interface Poll {
  readonly id: NodeId
  readonly kind: "transition" | "shifted" | "suspect"
  readonly dueMonotonicMillis: number
}

/** The poll that a node waits for; null when it waits for something else. */
const pollOf = (known: Known, rules: Rules, cadence: Cadence): Poll | null => {
  const { absence, node } = known
  if (absence === null) return { id: node.id, kind: "transition", dueMonotonicMillis: transitionDue(known, cadence) }
  if (absence.confirmed !== null) return null
  if (absence.firstMissing !== null) {
    const dueMonotonicMillis = absence.firstMissing.answered.monotonicMillis + graceOf(known, rules)
    return { id: node.id, kind: "suspect", dueMonotonicMillis }
  }
  return { id: node.id, kind: absence.sweeps === 1 ? "shifted" : "suspect", dueMonotonicMillis: -Infinity }
}

/** The last nodes of a small account have answered 404: one more empty list proves that they are gone. */
const awaitsOneMoreSweep = (snapshot: Snapshot, pending: ReadonlyArray<Known>): boolean =>
  snapshot.standing.freeze?.many === false &&
  pending.every((known) => known.absence === null || isExpectedToGo(known) || known.absence.confirmed !== null)

/** What is due at `monotonicMillis`. */
export const schedule = (snapshot: Snapshot, monotonicMillis: number, rules: Rules, cadence: Cadence): Schedule => {
  const pending = Array.from(snapshot.pending, (id) => snapshot.nodes.get(id)).filter((known) => known !== undefined)
  const polls = pending
    .map((known) => pollOf(known, rules, cadence))
    .filter((poll) => poll !== null)
    .sort((a, b) => a.dueMonotonicMillis - b.dueMonotonicMillis || a.id - b.id)
  const { freeze, sweepRequests } = snapshot.standing
  const isListDoubted = freeze?.many === true
  const due = (isListDoubted ? withSample(polls) : polls).filter((poll) => poll.dueMonotonicMillis <= monotonicMillis)

  const kinds = { transition: 0, shifted: 0, suspect: 0 }
  for (const { kind } of due) kinds[kind]++
  // A sweep replaces all polls of these two kinds, unless its list is in doubt.
  const byList = (["transition", "shifted"] as const).filter((kind) => !isListDoubted && kinds[kind] > sweepRequests)
  return {
    polls: due.filter(({ kind }) => !byList.some((replaced) => replaced === kind)).map(({ id }) => id),
    sweep: byList.length > 0 || awaitsOneMoreSweep(snapshot, pending)
  }
}

/** Of the nodes missing from a list too short to be believed, the first few by id. */
const withSample = (polls: ReadonlyArray<Poll>): ReadonlyArray<Poll> => {
  const missing = polls.filter(({ kind }) => kind !== "transition").sort((a, b) => a.id - b.id)
  const sample = new Set(missing.slice(0, maxSampled))
  return polls.filter((poll) => poll.kind === "transition" || sample.has(poll))
}
