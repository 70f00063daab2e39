/**
 * Decides which missing nodes are reported deleted, by the proofs of core's `Absence.ts`. If too many nodes are missing, the account is
 * frozen: deletions are reported only after the hold, which is how long the list must stay short before it is believed. Decision 0134 has
 * the reasons.
 *
 * | the account | after a complete list | event |
 * |---|---|---|
 * | trusted | freezes if many nodes are missing or were lost within `windowMillis` | degraded |
 * | frozen | is trusted again once no node is in doubt; it is settling, unless a deletion was reported in the freeze | recovered, if one was |
 * | settling (trusted, and the doubt is not reported as over) | freezes as the same doubt if many nodes are missing; is trusted after `settleMillis` | recovered, in the second case |
 *
 * A record without an id may belong to a missing node, so each such record leaves one missing node out of the count that freezes the
 * account. A frozen account stays frozen while any node is in doubt, whatever records the list has. After a time without a
 * complete list, the hold of each missing node begins again. `isSweepWanted` asks for an additional list only if no pending read proves
 * more.
 */
import {
  type Absence,
  absenceQuestion,
  type AbsenceQuestion,
  afterGap,
  type Count,
  isDoubted,
  isFrozenAfter
} from "@berthkit/core/absence/Absence"
import type { NodeId } from "@berthkit/core/domain/Node"
import { expectationOf, type Known } from "./Belief.ts"
import type { Draft } from "./Draft.ts"
import { gone, isStale, next } from "./NodeMachine.ts"
import type { SweepCompleted } from "./Observation.ts"
import type { Rules, Snapshot, Standing } from "./Snapshot.ts"
import { isOpen } from "./Transition.ts"

/** Nodes that were lost within this time count together. If two sweeps take longer, that time is used instead. */
const windowMillis = 300_000

const windowOf = ({ rules }: Draft): number => Math.max(windowMillis, 2 * rules.sweepMillis)

/** The read or sweep that would prove that a missing node is gone; null if that is proved already. */
export const questionOf = (
  { state }: Known,
  absence: Absence,
  { freeze }: Standing,
  rules: Rules
): AbsenceQuestion | null =>
  absenceQuestion(absence, { expectation: expectationOf(state.node), isFrozen: freeze !== null, rules })

/** The list was read to its end. Nodes that are not in it are missing, and further reads may prove that they are gone. */
export const swept = (draft: Draft, sweep: SweepCompleted): void => {
  for (const [id, shown] of draft.snapshot.nodes) {
    if (isStale(shown, draft)) continue
    const step = next(draft.known(id), id, { _tag: "Lacked" }, draft)
    if (step !== null) draft.put(id, step.after)
  }
  if (draft.standing.freeze === null) freezeIfMany(draft, sweep)
  else thawIfBelieved(draft, draft.standing.freeze)
  settle(draft)
  for (const id of Array.from(draft.suspects(), ([id]) => id).sort((a, b) => a - b)) conclude(draft, id, sweep.sweep)
  const before = draft.evidence.swept
  if (before === null) return
  for (const [id, gone] of draft.returning())
    if (!isOpen(gone.returning, before.asked)) draft.put(id, { ...gone, returning: null })
}

/**
 * Restarts the hold of missing nodes if there was no complete sweep for too long, because nothing was observed in that time.
 */
export const restartHolds = (draft: Draft): void => {
  const { now } = draft
  if (now.monotonicMillis - draft.evidence.completedMonotonicMillis <= windowOf(draft)) return
  for (const [id, absence, known] of draft.suspects()) {
    draft.put(id, { ...known, absence: afterGap(absence, now.monotonicMillis) })
  }
}

/** Counts the nodes that should stay: how many exist, how many are missing, and how many were lost recently. */
const count = (draft: Draft): Count => {
  const { evidence, now, snapshot } = draft
  const since = now.monotonicMillis - windowOf(draft)
  const losses = evidence.losses.filter((atMillis) => atMillis >= since)
  if (losses.length < evidence.losses.length) draft.note({ losses })
  let missing = 0
  for (const [, absence, { state }] of draft.suspects()) if (isDoubted(absence, expectationOf(state.node))) missing++
  let nodes = 0
  // If nothing is missing, the total does not matter.
  if (missing > 0) for (const { state } of snapshot.nodes.values()) if (expectationOf(state.node) === "stays") nodes++
  return { nodes, missing, lost: losses.length }
}

/**
 * Freezes the account if many nodes are missing. A doubt that ended a moment ago continues, and no new doubt begins.
 */
const freezeIfMany = (draft: Draft, { listed, nameless }: SweepCompleted): void => {
  const { lost, missing, nodes } = count(draft)
  // Each record without an id may be a missing node, so each such record takes one missing node out of the count.
  if (!isFrozenAfter(false, { nodes, missing: missing - nameless, lost })) return
  const { settling } = draft.standing
  if (settling !== null) return draft.change({ freeze: settling, settling: null })
  const [expected, gone] = [nodes + lost, missing + lost]
  const trouble = listed === 0 ? "list-empty" : "nodes-vanished"
  const what =
    listed === 0
      ? `The list is empty, although ${expected} nodes were known`
      : `${gone} of ${expected} nodes are gone at once`
  draft.change({ freeze: { doubt: trouble, sinceMillis: draft.now.atMillis } })
  const message = `${what}; no deletion is reported until the list can be trusted again.`
  draft.degrade({ trouble, message, expected, missing: gone })
}

/** Ends the freeze once no node is in doubt. */
const thawIfBelieved = (draft: Draft, freeze: NonNullable<Standing["freeze"]>): void => {
  if (isFrozenAfter(true, count(draft))) return
  const { lostInFreeze } = draft.evidence
  draft.note({ lostInFreeze: false, trustedMonotonicMillis: draft.now.monotonicMillis })
  draft.change({ freeze: null, ...(lostInFreeze ? {} : { settling: freeze }) })
  if (lostInFreeze) draft.recover(freeze.doubt, "persisted", freeze.sinceMillis)
}

/**
 * A trouble is over once the list was trusted for this long. Otherwise a service that repeatedly loses and finds nodes
 * would cause many troubles.
 */
const settleMillis = 60_000

/** After a complete sweep: reports the end of a doubt once it has lasted. */
const settle = (draft: Draft): void => {
  const { evidence, now, standing } = draft
  if (standing.settling === null || now.monotonicMillis - evidence.trustedMonotonicMillis < settleMillis) return
  const { doubt, sinceMillis } = standing.settling
  draft.change({ settling: null })
  draft.recover(doubt, "plausible", sinceMillis)
}

/** Reports a node deleted once that is proved. `sweep` is the sweep that completes the proof. */
export const conclude = (draft: Draft, id: NodeId, sweep: number | null): void => {
  const known = draft.known(id)
  const absence = known?.absence ?? null
  if (known === undefined || absence === null) return
  if (questionOf(known, absence, draft.standing, draft.rules) !== null) return
  // Deletions that were believed only after a hold do not count as recent losses, because then later ones would freeze the
  // account again.
  if (draft.standing.freeze !== null) draft.note({ lostInFreeze: true })
  else if (isDoubted(absence, expectationOf(known.state.node))) {
    draft.note({ losses: [...draft.evidence.losses, draft.now.monotonicMillis] })
  }
  const step = gone(known, sweep, draft)
  draft.bury(known.state, step)
}

/**
 * Whether an additional sweep is worth its requests, because it would prove that a node is gone. The planned sweeps are
 * enough while a due single read proves more.
 */
export const isSweepWanted = (
  { nodes, standing, unsettled }: Snapshot,
  rules: Rules,
  nowMonotonicMillis: number
): boolean => {
  if (standing.baselineMillis === null) return true
  let isWanted = false
  for (const id of unsettled) {
    const known = nodes.get(id)
    if (known === undefined || known.absence === null || known.hidden !== null) continue
    const question = questionOf(known, known.absence, standing, rules)
    if (question === null || question.dueMillis > nowMonotonicMillis) continue
    if (question._tag === "List") isWanted = true
    else if (!question.isGuess) return false
  }
  return isWanted
}
