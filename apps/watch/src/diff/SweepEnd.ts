/**
 * What it proves that the list was read to its end: which nodes it lacks, and with the reads of those, which are gone.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { afterSweep, batchOf, graceOf, isGone, isExpectedToGo, isJoinable, joined, maxRead } from "./Absence.ts"
import { between, type Draft } from "./Draft.ts"
import { updateFreeze } from "./Freeze.ts"
import type { SweepCompleted } from "./Observation.ts"
import { isOpen } from "./Return.ts"
import { forget, seenFromMillis, widenBatches } from "./Seen.ts"
import { learnDuration } from "./Transition.ts"

/** The last complete sweep is written once in this time at most, so that a quiet account writes little. */
const minWriteMillis = 60_000

/** The list was read to its end. */
export const swept = (draft: Draft, sweep: SweepCompleted): void => {
  // Of its first pages nothing was believed yet: a node that only those have is neither missing nor new.
  if (sweep.asked.order < draft.evidence.baselineOrder) return
  suspectMissing(draft, sweep)
  updateFreeze(draft, sweep)
  formBatches(draft)
  for (const id of draft.evidence.suspicions.keys()) deleteIfGone(draft, id, sweep.sweep)
  const before = draft.evidence.swept
  if (before !== null) {
    for (const [id, entry] of draft.evidence.returns) if (!isOpen(entry, before.asked)) draft.drop("returns", id)
  }
  noteSwept(draft, sweep)
}

/** Notes the sweep, from which on a node that is not known is new. */
export const noteSwept = (draft: Draft, { answered, asked, requests, sweep: number }: SweepCompleted): void => {
  const usualRequests = Math.min(requests, draft.evidence.swept?.requests ?? requests)
  draft.note({ swept: { asked, answered, number, requests, usualRequests } })
  const { sweptMillis } = draft.standing
  const sinceMillis = asked.atMillis - (sweptMillis ?? -Infinity)
  if (sinceMillis >= 0 && sinceMillis < minWriteMillis) return
  draft.change({ sweptMillis: asked.atMillis, sweptServiceMillis: asked.serviceMillis })
}

/** A node that was not seen since the sweep began is missing; a read during the sweep counts too. */
const suspectMissing = (draft: Draft, sweep: SweepCompleted): void => {
  const { seen } = draft.evidence
  for (const [id, known] of draft.snapshot.nodes) {
    const order = seen.get(id)?.answered.order ?? -1
    if (order > sweep.asked.order) continue
    const suspicion = draft.evidence.suspicions.get(id)
    draft.writable("suspicions").set(id, afterSweep(suspicion, sweep))
    if (known.listed) draft.write({ ...known, listed: false, seenMillis: seenFromMillis(draft, known) })
  }
}

/** Many suspects that are in no batch yet join one or become one; those held by a freeze are apart from those that are not. */
const formBatches = (draft: Draft): void => {
  const { evidence } = draft
  const batches = evidence.batches.filter(
    ({ members, refuted }) => !refuted && [...members].some((id) => evidence.suspicions.has(id))
  )
  const single: Readonly<Record<"held" | "other", Array<NodeId>>> = { held: [], other: [] }
  for (const [id, { held, sweeps }] of evidence.suspicions) {
    if (sweeps > 0 && !batches.some(({ members }) => members.has(id))) single[held ? "held" : "other"].push(id)
  }
  for (const [held, ids] of [
    [true, single.held],
    [false, single.other]
  ] as const) {
    if (ids.length <= maxRead) continue
    const { seed, suspicions } = evidence
    const at = batches.findIndex((batch) => batch.held === held && isJoinable(batch, suspicions))
    if (at === -1) batches.push(batchOf(ids, suspicions, seed, held))
    else batches[at] = joined(batches[at]!, ids, suspicions, seed)
  }
  if (batches.length > 0 || evidence.batches.length > 0) draft.note({ batches })
  widenBatches(draft)
}

/** Reports a node deleted when the evidence suffices and no freeze forbids it. */
export const deleteIfGone = (draft: Draft, id: NodeId, sweep: number | null): void => {
  const known = draft.known(id)
  const suspicion = draft.evidence.suspicions.get(id)
  if (known === undefined || suspicion === undefined) return
  if (draft.standing.freeze !== null && !suspicion.held) return
  const batch = draft.evidence.batches.find(({ members }) => members.has(id))
  const sweptOrder = (sweep === null ? draft.evidence.swept?.answered.order : draft.now.order) ?? -Infinity
  if (!isGone(suspicion, batch, graceOf(known, suspicion, draft.rules), sweptOrder)) return
  const { atMillis } = draft.now
  const when = between(seenFromMillis(draft, known), atMillis)
  draft.report(known, when, sweep, { type: "berth.node.deleted", data: { before: known.node, after: null } })
  learnDuration(draft, known)
  draft.write({ ...known, goneMillis: atMillis })
  if (!suspicion.held && !isExpectedToGo(known, suspicion)) {
    const loss = { nodeId: id, monotonicMillis: draft.now.monotonicMillis }
    draft.note({ losses: [...draft.evidence.losses, loss] })
  }
  forget(draft, id)
}
