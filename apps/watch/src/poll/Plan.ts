/**
 * What to ask next beside the regular sweeps: nodes in transition change soon, and suspects wait for their proof. Pure.
 * Who asks, and when sweeps run, is in `Poller.ts`.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { graceOf, isExpectedToGo } from "../diff/Absence.ts"
import type { Rules } from "../diff/diff.ts"
import type { Known, Snapshot } from "../diff/Snapshot.ts"

/** How eagerly to ask. */
export interface Cadence {
  /** Shortest time between two looks at a node in transition. */
  readonly fastIntervalMillis: number
}

export interface Plan {
  /** Nodes to ask for one by one, the most urgent first. */
  readonly looks: ReadonlyArray<NodeId>
  /** Whether the list should be read now, because that answers more for less. */
  readonly sweep: boolean
}

/** Of the nodes missing from a list too short to be believed, so many are asked for: one alive proves it wrong. */
const canaries = 3

/**
 * The longer a node stays in transition, the less often it is asked for: after ten seconds every second or so, after an
 * hour every six minutes, by when the sweeps ask more often anyway.
 */
const patience = 0.1

const transitionDue = (known: Known, { fastIntervalMillis }: Cadence): number => {
  const seenUpMillis = known.seen.answered.upMillis
  return seenUpMillis + Math.max(fastIntervalMillis, patience * (seenUpMillis - known.statusSinceUpMillis))
}

/** What is open about a node. `shifted`: one sweep lacked it, most likely because items moved between its pages. */
interface Question {
  readonly id: NodeId
  readonly kind: "transition" | "shifted" | "suspect"
  readonly dueUpMillis: number
}

/** What is open about a node; null when it waits for something else than an answer. */
const questionOf = (known: Known, rules: Rules, cadence: Cadence): Question | null => {
  const { absence, node } = known
  if (absence === null) return { id: node.id, kind: "transition", dueUpMillis: transitionDue(known, cadence) }
  if (absence.confirmed !== null) return null
  if (absence.firstMissing !== null) {
    const dueUpMillis = absence.firstMissing.answered.upMillis + graceOf(known, rules)
    return { id: node.id, kind: "suspect", dueUpMillis }
  }
  return { id: node.id, kind: absence.sweeps === 1 ? "shifted" : "suspect", dueUpMillis: -Infinity }
}

/** The last nodes of a small account have answered 404: one more empty list settles that they are gone. */
const awaitsOneMoreSweep = (snapshot: Snapshot, unsettled: ReadonlyArray<Known>): boolean =>
  snapshot.standing.freeze?.many === false &&
  unsettled.every((known) => known.absence === null || isExpectedToGo(known) || known.absence.confirmed !== null)

/** What is due at `upMillis`. */
export const plan = (snapshot: Snapshot, upMillis: number, rules: Rules, cadence: Cadence): Plan => {
  const unsettled = Array.from(snapshot.unsettled, (id) => snapshot.nodes.get(id)).filter(
    (known) => known !== undefined
  )
  const questions = unsettled
    .map((known) => questionOf(known, rules, cadence))
    .filter((question) => question !== null)
    .sort((a, b) => a.dueUpMillis - b.dueUpMillis || a.id - b.id)
  const { freeze, sweepRequests } = snapshot.standing
  const held = freeze?.many === true
  const asked = held ? withCanaries(questions) : questions
  const due = asked.filter(({ dueUpMillis }) => dueUpMillis <= upMillis)

  const kinds = { transition: 0, shifted: 0, suspect: 0 }
  for (const { kind } of due) kinds[kind]++
  // A sweep answers all questions of these two kinds, unless its list is the very thing in doubt.
  const byList = (["transition", "shifted"] as const).filter((kind) => !held && kinds[kind] > sweepRequests)
  return {
    looks: due.filter(({ kind }) => !byList.some((answered) => answered === kind)).map(({ id }) => id),
    sweep: byList.length > 0 || awaitsOneMoreSweep(snapshot, unsettled)
  }
}

/** Of the nodes missing from a list too short to be believed, the first few by id. */
const withCanaries = (questions: ReadonlyArray<Question>): ReadonlyArray<Question> => {
  const missing = questions.filter(({ kind }) => kind !== "transition").sort((a, b) => a.id - b.id)
  const asked = new Set(missing.slice(0, canaries))
  return questions.filter((question) => question.kind === "transition" || asked.has(question))
}
