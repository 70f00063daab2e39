/**
 * What the evidence lacks: the reads of single nodes that would decide something. When they are sent is up to the polling; which sweeps would
 * is in `ListGuard.ts`.
 */
import type { NodeId } from "@berthkit/core/domain/Node"
import { type Absence, graceOf, isScout, maxRead } from "./Absence.ts"
import type { Known } from "./Belief.ts"
import type { Rules, Snapshot } from "./Snapshot.ts"

/** A read of one node. */
export interface Question {
  readonly id: NodeId
  /** `transition`: it will change soon. The other kinds: what was seen of it is doubtful. */
  readonly kind: "transition" | "suspect" | "returned" | "impossible" | "census"
  /** When the answer begins to count, on the monotonic clock. */
  readonly dueMonotonicMillis: number
}

/** Pauses between reads of a node that lists lack, while reads show it or it has to stay missing for a hold. */
const maxHiddenPauseMillis = 300_000

/** Every read that would decide something; those of nodes in transition are always open. Of what stale lists show only some are read at a time. */
export const questions = (snapshot: Snapshot, rules: Rules): ReadonlyArray<Question> => {
  if (snapshot.standing.baselineMillis === null) {
    return Array.from(snapshot.evidence.census.doubtful, (id) => ({
      id,
      kind: "census",
      dueMonotonicMillis: -Infinity
    }))
  }
  const open: Array<Question> = []
  const stale: Array<Question> = []
  for (const id of snapshot.unsettled) {
    const known = snapshot.nodes.get(id)
    if (known === undefined) {
      const dueMonotonicMillis = snapshot.gone.get(id)?.returning?.notBeforeMonotonicMillis
      if (dueMonotonicMillis !== undefined) stale.push({ id, kind: "returned", dueMonotonicMillis })
      continue
    }
    const { absence, impossible, seen, sinceMonotonicMillis } = known
    if (absence !== null) {
      const dueMonotonicMillis = suspectDue(known, absence, snapshot, rules)
      if (dueMonotonicMillis !== null) open.push({ id, kind: "suspect", dueMonotonicMillis })
    } else if (sinceMonotonicMillis !== null) {
      open.push({ id, kind: "transition", dueMonotonicMillis: seen?.answered.monotonicMillis ?? -Infinity })
    }
    if (impossible !== null) {
      const dueMonotonicMillis = impossible.answered.monotonicMillis + rules.terminatingGraceMillis
      stale.push({ id, kind: "impossible", dueMonotonicMillis })
    }
  }
  if (stale.length <= maxRead) return [...open, ...stale]
  stale.sort((a, b) => a.dueMonotonicMillis - b.dueMonotonicMillis || a.id - b.id)
  return [...open, ...stale.slice(0, maxRead)]
}

/** When a read of a suspect would decide something; null when it would not. */
const suspectDue = (known: Known, absence: Absence, { evidence, standing }: Snapshot, rules: Rules): number | null => {
  const { id } = known.state.node
  const batch = evidence.batches.find(({ members }) => members.has(id))
  if (batch !== undefined && (batch.refuted || !(batch.sample.has(id) || batch.wider.has(id)))) return null
  const { confirmed, firstMissing, held } = absence
  if (firstMissing === null) return hiddenUntil(known, rules)
  const isOnHold = standing.freeze !== null && !held
  if (isOnHold && (confirmed !== null || batch !== undefined)) {
    // Nothing is concluded before the hold is over: of many a few show whether they are back.
    const isRead = batch === undefined || isScout(batch, id)
    return isRead ? (confirmed ?? firstMissing).answered.monotonicMillis + maxHiddenPauseMillis : null
  }
  if (confirmed !== null || batch?.confirmed.has(id) === true) return null
  return firstMissing.answered.monotonicMillis + graceOf(known.state.node, absence, rules)
}

/** The more often a read showed a node that the list lacks, the later is the next. */
const hiddenUntil = ({ hidden }: Known, { terminatingGraceMillis }: Rules): number => {
  if (hidden === null) return -Infinity
  const pause = Math.min(maxHiddenPauseMillis, terminatingGraceMillis * 2 ** Math.min(hidden.proofs, 20))
  return hidden.monotonicMillis + pause
}
