/**
 * What the evidence lacks: the reads and the sweeps that would decide something. When they are sent is up to the polling.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { type Batch, graceOf, isConfirmed, maxRead } from "./Absence.ts"
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

const isUnsampled = (id: NodeId, batches: ReadonlyArray<Batch>): boolean =>
  batches.some(({ members, refuted, sample }) => members.has(id) && (refuted || !sample.has(id)))

const aboutSuspects = ({ evidence, nodes, standing }: Snapshot, rules: Rules): ReadonlyArray<Question> => {
  const open: Array<Question> = []
  for (const [id, suspicion] of evidence.suspicions) {
    const known = nodes.get(id)
    if (known === undefined || isUnsampled(id, evidence.batches)) continue
    const { confirmed, firstMissing, held } = suspicion
    const isOnHold = standing.freeze !== null && !held
    if (confirmed !== null && !isOnHold) continue
    const dueMonotonicMillis =
      confirmed !== null
        ? confirmed.answered.monotonicMillis + maxHiddenPauseMillis
        : firstMissing === null
          ? hiddenUntil(evidence, id, rules)
          : firstMissing.answered.monotonicMillis + graceOf(known, suspicion, rules)
    open.push({ id, kind: "suspect", dueMonotonicMillis })
  }
  return open
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
