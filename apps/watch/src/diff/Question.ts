/**
 * What the evidence lacks: the reads and the sweeps that would decide something. When they are sent is up to the polling.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { type Batch, graceOf, isConfirmed, isScout, maxRead, type Suspicion } from "./Absence.ts"
import type { Evidence } from "./Evidence.ts"
import type { Rules } from "./Rules.ts"
import type { Snapshot } from "./Snapshot.ts"

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

/** Every read that would decide something; those of nodes in transition are always open. */
export const questions = (snapshot: Snapshot, rules: Rules): ReadonlyArray<Question> => {
  const { census } = snapshot.evidence
  if (snapshot.standing.baselineMillis === null) {
    return Array.from(census.doubtful, (id) => ({ id, kind: "census", dueMonotonicMillis: -Infinity }))
  }
  return [...aboutSuspects(snapshot, rules), ...aboutStale(snapshot, rules), ...aboutTransitions(snapshot)]
}

const aboutSuspects = (snapshot: Snapshot, rules: Rules): ReadonlyArray<Question> => {
  const { batches, suspicions } = snapshot.evidence
  const open: Array<Question> = []
  for (const [id, suspicion] of suspicions) {
    const batch = batches.find(({ members }) => members.has(id))
    const dueMonotonicMillis = suspectDue(id, suspicion, batch, snapshot, rules)
    if (dueMonotonicMillis !== null) open.push({ id, kind: "suspect", dueMonotonicMillis })
  }
  return open
}

/** When a read of a suspect would decide something; null when it would not. */
const suspectDue = (
  id: NodeId,
  suspicion: Suspicion,
  batch: Batch | undefined,
  { evidence, nodes, standing }: Snapshot,
  rules: Rules
): number | null => {
  const known = nodes.get(id)
  if (known === undefined) return null
  if (batch !== undefined && (batch.refuted || !(batch.sample.has(id) || batch.wider.has(id)))) return null
  const { confirmed, firstMissing, held } = suspicion
  if (firstMissing === null) return hiddenUntil(evidence, id, rules)
  const isOnHold = standing.freeze !== null && !held
  if (isOnHold && (confirmed !== null || batch !== undefined)) {
    // Nothing is concluded before the hold is over: of many a few show whether they are back.
    const isRead = batch === undefined || isScout(batch, id)
    return isRead ? (confirmed ?? firstMissing).answered.monotonicMillis + maxHiddenPauseMillis : null
  }
  if (confirmed !== null || batch?.confirmed.has(id) === true) return null
  return firstMissing.answered.monotonicMillis + graceOf(known, suspicion, rules)
}

/** The more often a read showed a node that the list lacks, the later is the next. */
const hiddenUntil = ({ hidden }: Evidence, id: NodeId, { terminatingGraceMillis }: Rules): number => {
  const proved = hidden.get(id)
  if (proved === undefined) return -Infinity
  const pause = Math.min(maxHiddenPauseMillis, terminatingGraceMillis * 2 ** Math.min(proved.proofs, 20))
  return proved.monotonicMillis + pause
}

/** Of what stale lists show only so many are read at a time. */
const aboutStale = ({ evidence }: Snapshot, { terminatingGraceMillis }: Rules): ReadonlyArray<Question> => {
  const returned = Array.from(evidence.returns, ([id, { notBeforeMonotonicMillis }]): Question => {
    return { id, kind: "returned", dueMonotonicMillis: notBeforeMonotonicMillis }
  })
  const impossible = Array.from(evidence.impossible, ([id, { answered }]): Question => {
    return { id, kind: "impossible", dueMonotonicMillis: answered.monotonicMillis + terminatingGraceMillis }
  })
  return [...returned, ...impossible]
    .sort((a, b) => a.dueMonotonicMillis - b.dueMonotonicMillis || a.id - b.id)
    .slice(0, maxRead)
}

const aboutTransitions = ({ evidence }: Snapshot): ReadonlyArray<Question> => {
  const open: Array<Question> = []
  for (const id of evidence.transitions.keys()) {
    if (evidence.suspicions.has(id)) continue
    open.push({
      id,
      kind: "transition",
      dueMonotonicMillis: evidence.seen.get(id)?.answered.monotonicMillis ?? -Infinity
    })
  }
  return open
}

/** When another complete sweep would decide something, on the monotonic clock; null when it would not. */
export const sweepQuestion = ({ evidence, standing }: Snapshot, rules: Rules): number | null => {
  if (standing.baselineMillis === null) return -Infinity
  let due: number | null = null
  const at = (monotonicMillis: number) => {
    due = Math.min(due ?? Infinity, monotonicMillis)
  }
  for (const [id, { confirmed, held, since }] of evidence.suspicions) {
    if (standing.freeze !== null && !held) continue
    if (confirmed !== null) {
      at(-Infinity)
      continue
    }
    const batch = evidence.batches.find(({ members }) => members.has(id))
    if (batch !== undefined && since !== null && isConfirmed(batch)) {
      at(since.monotonicMillis + rules.graceMillis)
    }
  }
  return due
}
