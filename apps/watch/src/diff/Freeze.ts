/**
 * When a list is too short to be believed, and when it is believed after all. During a freeze no deletion is reported but of
 * nodes that were missing for the whole hold. The reasons are in `docs/decisions/0134-a-list-too-short-to-believe.md`.
 */
import type { NodeId } from "@berth/core/domain/Node"
import { afterGap, deniedSinceMillis, hold, isExpectedToGo, type Suspicion } from "./Absence.ts"
import type { Draft } from "./Draft.ts"
import type { SweepCompleted } from "./Observation.ts"

/** Fewer lost nodes than this are never many: each is proved gone by itself. */
const minMany = 3

/** Nor is a smaller share of the account. */
const minManyShare = 0.05

/** Losses count together within this time, or within two sweeps if those are longer. */
const windowMillis = 300_000

const windowOf = ({ rules }: Draft): number => Math.max(windowMillis, 2 * rules.sweepMillis)

/** Updates the freeze after a complete sweep, whose suspicions are noted already. */
export const updateFreeze = (draft: Draft, sweep: SweepCompleted): void => {
  const { standing } = draft
  if (standing.freeze !== null) return thaw(draft, sweep)
  const { expected, missing } = countLost(draft)
  const lost = missing - sweep.nameless
  const areMany = (lost >= minMany && lost >= expected * minManyShare) || (lost >= 2 && lost === expected)
  if (!areMany) return
  const doubt = sweep.listed === 0 ? "list-empty" : "nodes-vanished"
  const until = "no deletion is reported until the list is believed again."
  const message =
    sweep.listed === 0
      ? `The list is empty, though ${expected} nodes were known; ${until}`
      : `${missing} of ${expected} nodes are gone at once; ${until}`
  draft.change({ freeze: { doubt, sinceMillis: draft.now.atMillis } })
  draft.degrade({ trouble: doubt, message, expected, missing })
}

/** A missing node that was not expected to go, and was not missing for a whole hold. */
const isDoubted = (draft: Draft, id: NodeId, suspicion: Suspicion): boolean => {
  const known = draft.known(id)
  return known !== undefined && suspicion.sweeps > 0 && !suspicion.held && !isExpectedToGo(known, suspicion)
}

/** How many nodes are not expected to go, and how many of them are missing or were lost lately. */
const countLost = (draft: Draft): { readonly expected: number; readonly missing: number } => {
  const { evidence, now, snapshot } = draft
  const since = now.monotonicMillis - windowOf(draft)
  const losses = evidence.losses.filter(({ monotonicMillis }) => monotonicMillis >= since)
  if (losses.length < evidence.losses.length) draft.note({ losses })
  let missing = losses.length
  for (const [id, suspicion] of evidence.suspicions) if (isDoubted(draft, id, suspicion)) missing++
  // What was lost is lost: without another node that is missing there is nothing to wait for.
  if (missing === losses.length) return { expected: 0, missing: 0 }
  let expected = losses.length
  for (const [id, known] of snapshot.nodes) {
    const suspicion = evidence.suspicions.get(id)
    if (suspicion?.held !== true && !isExpectedToGo(known, suspicion)) expected++
  }
  return { expected, missing }
}

/** A time without a complete sweep in which nothing was observed that a hold could count. */
export const restartHolds = (draft: Draft): void => {
  const silentMillis = draft.now.monotonicMillis - draft.evidence.completedMonotonicMillis
  if (silentMillis <= windowOf(draft)) return
  for (const [id, suspicion] of draft.evidence.suspicions) {
    if (suspicion.since !== null) draft.writable("suspicions").set(id, afterGap(suspicion, draft.now))
  }
}

/** Each missing node is believed to be gone after its own hold. The freeze ends when no other is missing. */
const thaw = (draft: Draft, { answered }: SweepCompleted): void => {
  const { freeze } = draft.standing
  if (freeze === null) return
  const { batches } = draft.evidence
  const agreed = { asked: answered, answered }
  const denied = deniedSince(draft)
  let isHeld = false
  let isAnyNew = false
  let remaining = 0
  for (const [id, suspicion] of draft.evidence.suspicions) {
    // List and reads agree since the later of its first sweep and its first 404.
    const since = Math.max(suspicion.since?.monotonicMillis ?? Infinity, denied.get(id) ?? Infinity)
    if (suspicion.held) isHeld = true
    else if (answered.monotonicMillis - since >= draft.rules.holdMillis) {
      isHeld = true
      isAnyNew = true
      const isSampled = suspicion.firstMissing !== null && batches.some(({ sample }) => sample.has(id))
      draft.writable("suspicions").set(id, hold(suspicion, isSampled ? agreed : null))
    } else if (isDoubted(draft, id, suspicion)) remaining++
  }
  if (isAnyNew) dissolveBatches(draft, denied)
  if (remaining > 0) return
  draft.change({ freeze: null })
  draft.recover(freeze.doubt, isHeld ? "persisted" : "plausible", freeze.sinceMillis)
}

/** Since when reads deny each suspect. */
const deniedSince = ({ evidence: { batches, suspicions } }: Draft): ReadonlyMap<NodeId, number> => {
  const denied = new Map<NodeId, number>()
  for (const [id, suspicion] of suspicions) {
    const batch = batches.find(({ members }) => members.has(id))
    denied.set(id, deniedSinceMillis(id, suspicion, batch, suspicions))
  }
  return denied
}

/** Those that are held now are sampled anew, and the others, too; what the samples showed of these still counts. */
const dissolveBatches = (draft: Draft, denied: ReadonlyMap<NodeId, number>): void => {
  const { batches, suspicions } = draft.evidence
  if (batches.length === 0) return
  for (const { members } of batches) {
    for (const id of members) {
      const suspicion = suspicions.get(id)
      const sampledMillis = denied.get(id) ?? Infinity
      if (suspicion === undefined || sampledMillis === Infinity) continue
      draft.writable("suspicions").set(id, { ...suspicion, sampledMillis })
    }
  }
  draft.note({ batches: [] })
}
