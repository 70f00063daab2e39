/**
 * The guard of an account: whether its list is believed, and so which missing nodes are gone. It trusts the list, or it has frozen: too many
 * nodes are missing at once, and no deletion is reported but of those that were missing for a whole hold. The reasons are in
 * decision 0134.
 *
 * | it | a complete sweep | a read that shows a missing node |
 * |---|---|---|
 * | trusts | freezes when many are missing; else each that is proved gone is | freezes when that node is of a sample, which stands for others |
 * | has frozen | holds those that were missing long enough; trusts again when no other is missing | all that its sample stands for count anew |
 */
import { areManyMissing } from "@berthkit/core/domain/Absence"
import type { NodeId } from "@berthkit/core/domain/Node"
import {
  type Absence,
  afterGap,
  type Batch,
  batchOf,
  deniedSinceMillis,
  doubt,
  graceOf,
  hold,
  isConfirmed,
  isExpectedToGo,
  isGone,
  isJoinable,
  joined,
  maxRead,
  widened
} from "./Absence.ts"
import type { Known } from "./Belief.ts"
import type { Draft } from "./Draft.ts"
import { gone, isStale, next, type NodeStep } from "./NodeMachine.ts"
import type { SweepCompleted } from "./Observation.ts"
import type { Rules, Snapshot } from "./Snapshot.ts"
import { isOpen } from "./Transition.ts"

/** Losses count together within this time, or within two sweeps if those are longer. */
const windowMillis = 300_000

const windowOf = ({ rules }: Draft): number => Math.max(windowMillis, 2 * rules.sweepMillis)

/** Takes in what a sighting told of the list. */
export const heed = (draft: Draft, id: NodeId, news: NodeStep["news"]): void => {
  switch (news) {
    case undefined:
      return
    case "refuted":
    case "found": {
      const { batches } = draft.evidence
      const batch = batches.find(({ sample, wider }) => sample.has(id) || wider.has(id))
      if (batch === undefined) return
      draft.note({ batches: batches.map((other) => (other === batch ? { ...batch, refuted: true } : other)) })
      if (news === "found") distrust(draft, batch)
      return
    }
    case "replaced":
      return confirm(draft, id)
    case "denied": {
      const isDeniedTwice = draft.absenceOf(id)?.confirmed !== null
      if (isDeniedTwice || draft.evidence.batches.some(({ wider }) => wider.has(id))) confirm(draft, id)
      return conclude(draft, id, null)
    }
  }
}

/** The list lacks many nodes of which one is there: none of them is believed to be gone before the hold is over. */
const distrust = (draft: Draft, { members }: Batch): void => {
  for (const id of members) draft.suspect(id, doubt)
  if (draft.standing.freeze !== null) return
  const missing = Array.from(draft.suspects()).length
  const expected = draft.snapshot.nodes.size
  const message = `The list lacks ${missing} of ${expected} nodes, but one of these still exists; no deletion is reported until the list can be trusted again.`
  freeze(draft, { trouble: "nodes-vanished", message, expected, missing })
}

/** No deletion is reported from now on. A doubt that was over a moment ago goes on. */
const freeze = (
  draft: Draft,
  found: {
    readonly trouble: Freeze["doubt"]
    readonly message: string
    readonly expected: number
    readonly missing: number
  }
): void => {
  const { settling } = draft.standing
  if (settling != null) return draft.change({ freeze: settling, settling: null })
  draft.change({ freeze: { doubt: found.trouble, sinceMillis: draft.now.atMillis } })
  draft.degrade(found)
}

/** A service that loses nodes and finds them again is one trouble: it is over when the list was trusted for so long. */
const settleMillis = 60_000

/** After a complete sweep: reports the end of a doubt once it has lasted. */
const settle = (draft: Draft): void => {
  const { evidence, now, standing } = draft
  if (standing.settling == null || now.monotonicMillis - evidence.trustedMonotonicMillis < settleMillis) return
  const { doubt, sinceMillis } = standing.settling
  draft.change({ settling: null })
  draft.recover(doubt, "plausible", sinceMillis)
}

/** A member of a sample is gone. */
const confirm = (draft: Draft, id: NodeId): void => {
  const isAwaited = ({ confirmed, sample, wider }: Batch) => (sample.has(id) || wider.has(id)) && !confirmed.has(id)
  const { batches } = draft.evidence
  if (!batches.some(isAwaited)) return
  draft.note({
    batches: batches.map((batch) =>
      isAwaited(batch) ? { ...batch, confirmed: new Set(batch.confirmed).add(id) } : batch
    )
  })
  widen(draft)
}

/** More are read of the batches whose sample is confirmed, unless a freeze keeps them from being gone anyway. */
const widen = (draft: Draft): void => {
  const { batches, seed } = draft.evidence
  const isFrozen = draft.standing.freeze !== null
  const after = batches.map((batch) => (isFrozen && !batch.held ? batch : widened(batch, draft.absenceOf, seed)))
  if (after.some((batch, index) => batch !== batches[index])) draft.note({ batches: after })
}

/** The list was read to its end: what it lacks is missing, and with the reads of that, what is gone. */
export const swept = (draft: Draft, sweep: SweepCompleted): void => {
  for (const [id, shown] of draft.snapshot.nodes) {
    if (isStale(shown, draft)) continue
    const step = next(draft.known(id), id, { _tag: "Lacked" }, draft)
    if (step !== null) draft.put(id, step.after)
  }
  if (draft.standing.freeze === null) freezeIfMany(draft, sweep)
  else thaw(draft, draft.standing.freeze, sweep)
  settle(draft)
  formBatches(draft)
  for (const id of Array.from(draft.suspects(), ([id]) => id).sort((a, b) => a - b)) conclude(draft, id, sweep.sweep)
  const before = draft.evidence.swept
  if (before === null) return
  for (const [id, gone] of draft.returning())
    if (!isOpen(gone.returning, before.asked)) draft.put(id, { ...gone, returning: null })
}

/** A time without a complete sweep is one in which nothing was observed that a hold could count. */
export const restartHolds = (draft: Draft): void => {
  const silentMillis = draft.now.monotonicMillis - draft.evidence.completedMonotonicMillis
  if (silentMillis <= windowOf(draft)) return
  for (const [id, { since }] of draft.suspects()) {
    if (since !== null) draft.suspect(id, (absence) => afterGap(absence, draft.now))
  }
}

const freezeIfMany = (draft: Draft, sweep: SweepCompleted): void => {
  const { expected, missing } = countLost(draft)
  const lost = missing - sweep.nameless
  if (!areManyMissing(lost, expected)) return
  const trouble = sweep.listed === 0 ? "list-empty" : "nodes-vanished"
  const what =
    sweep.listed === 0
      ? `The list is empty, though ${expected} nodes were known`
      : `${missing} of ${expected} nodes are gone at once`
  const message = `${what}; no deletion is reported until the list can be trusted again.`
  freeze(draft, { trouble, message, expected, missing })
}

/** A missing node that was not expected to go, and was not missing for a whole hold. */
const isDoubted = ({ state }: Known, absence: Absence): boolean =>
  absence.sweeps > 0 && !absence.held && !isExpectedToGo(state.node, absence)

/** How many nodes are not expected to go, and how many of them are missing or were lost lately. */
const countLost = (draft: Draft): { readonly expected: number; readonly missing: number } => {
  const { evidence, now, snapshot } = draft
  const since = now.monotonicMillis - windowOf(draft)
  const losses = evidence.losses.filter((atMillis) => atMillis >= since)
  if (losses.length < evidence.losses.length) draft.note({ losses })
  let missing = losses.length
  for (const [, absence, known] of draft.suspects()) if (isDoubted(known, absence)) missing++
  // If all that counts was reported deleted already, no node is missing now, and there is nothing to wait for.
  if (missing === losses.length) return { expected: 0, missing: 0 }
  let expected = losses.length
  for (const [id, { state }] of snapshot.nodes) {
    const absence = draft.absenceOf(id)
    if (absence?.held !== true && !isExpectedToGo(state.node, absence)) expected++
  }
  return { expected, missing }
}

type Freeze = NonNullable<Draft["standing"]["freeze"]>

/** Each missing node is believed to be gone after its own hold. The freeze ends when no other is missing. */
const thaw = (draft: Draft, freeze: Freeze, { answered }: SweepCompleted): void => {
  const { batches } = draft.evidence
  const agreed = { asked: answered, answered }
  const denied = deniedSince(draft)
  let isHeld = draft.evidence.lostInFreeze
  let isAnyNew = false
  let remaining = 0
  for (const [id, absence, known] of draft.suspects()) {
    // List and reads agree since the later of its first sweep and its first 404.
    const since = Math.max(absence.since?.monotonicMillis ?? Infinity, denied.get(id) ?? Infinity)
    if (absence.held) isHeld = true
    else if (answered.monotonicMillis - since >= draft.rules.holdMillis) {
      isHeld = true
      isAnyNew = true
      const isSampled = absence.firstMissing !== null && batches.some(({ sample }) => sample.has(id))
      draft.suspect(id, (absence) => hold(absence, isSampled ? agreed : null))
    } else if (isDoubted(known, absence)) remaining++
  }
  if (isAnyNew) dissolveBatches(draft, denied)
  if (remaining > 0) return
  draft.note({ lostInFreeze: false, trustedMonotonicMillis: draft.now.monotonicMillis })
  draft.change({ freeze: null, ...(isHeld ? {} : { settling: freeze }) })
  if (isHeld) draft.recover(freeze.doubt, "persisted", freeze.sinceMillis)
}

/** Since when reads deny each suspect. */
const deniedSince = (draft: Draft): ReadonlyMap<NodeId, number> => {
  const denied = new Map<NodeId, number>()
  for (const [id, absence] of draft.suspects()) {
    denied.set(id, deniedSinceMillis(id, absence, draft.batchOf(id), draft.absenceOf))
  }
  return denied
}

/** Those that are held now are sampled anew, and the others, too; what the samples showed of these still counts. */
const dissolveBatches = (draft: Draft, denied: ReadonlyMap<NodeId, number>): void => {
  const { batches } = draft.evidence
  if (batches.length === 0) return
  for (const { members } of batches) {
    for (const id of members) {
      const sampledMillis = denied.get(id) ?? Infinity
      if (sampledMillis < Infinity) draft.suspect(id, (absence) => ({ ...absence, sampledMillis }))
    }
  }
  draft.note({ batches: [] })
}

/** Many suspects that are in no batch yet join one or become one; those held by a freeze are apart from those that are not. */
const formBatches = (draft: Draft): void => {
  const { absenceOf, evidence } = draft
  const { seed } = evidence
  const batches = evidence.batches.filter(
    ({ members, refuted }) => !refuted && [...members].some((id) => absenceOf(id) !== null)
  )
  const single: Readonly<Record<"held" | "other", Array<NodeId>>> = { held: [], other: [] }
  for (const [id, { held, sweeps }] of draft.suspects()) {
    if (sweeps > 0 && !batches.some(({ members }) => members.has(id))) single[held ? "held" : "other"].push(id)
  }
  for (const [held, ids] of [
    [true, single.held],
    [false, single.other]
  ] as const) {
    if (ids.length <= maxRead) continue
    const at = batches.findIndex((batch) => batch.held === held && isJoinable(batch, absenceOf))
    if (at === -1) batches.push(batchOf(ids, absenceOf, seed, held))
    else batches[at] = joined(batches[at]!, ids, absenceOf, seed)
  }
  if (batches.length > 0 || evidence.batches.length > 0) draft.note({ batches })
  widen(draft)
}

/** Reports a node deleted when the evidence suffices and no freeze forbids it. `sweep` is the one that ends with it. */
const conclude = (draft: Draft, id: NodeId, sweep: number | null): void => {
  const known = draft.known(id)
  const absence = known?.absence ?? null
  if (known === undefined || absence === null) return
  if (draft.standing.freeze !== null && !absence.held) return
  const sweptOrder = (sweep === null ? draft.evidence.swept?.answered.order : draft.now.order) ?? -Infinity
  const grace = graceOf(known.state.node, absence, draft.rules)
  if (!isGone(absence, draft.batchOf(id), grace, sweptOrder)) return
  if (!absence.held && !isExpectedToGo(known.state.node, absence)) {
    draft.note({ losses: [...draft.evidence.losses, draft.now.monotonicMillis] })
  }
  if (draft.standing.freeze !== null) draft.note({ lostInFreeze: true })
  const step = gone(known, sweep, draft)
  draft.bury(known.state, step)
}

/** When another complete sweep would decide something, on the monotonic clock; null when it would not. */
export const sweepQuestion = ({ evidence, nodes, standing, unsettled }: Snapshot, rules: Rules): number | null => {
  if (standing.baselineMillis === null) return -Infinity
  let due: number | null = null
  const at = (monotonicMillis: number) => {
    due = Math.min(due ?? Infinity, monotonicMillis)
  }
  for (const id of unsettled) {
    const absence = nodes.get(id)?.absence ?? null
    if (absence === null || (standing.freeze !== null && !absence.held)) continue
    const batch = evidence.batches.find(({ members }) => members.has(id))
    if (absence.confirmed !== null) at(-Infinity)
    else if (batch !== undefined && absence.since !== null && isConfirmed(batch)) {
      at(absence.since.monotonicMillis + rules.graceMillis)
    }
  }
  return due
}
