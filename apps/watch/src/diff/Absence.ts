/**
 * The evidence that nodes are gone. A node that is not listed is only a suspect: a paged list is not a snapshot, and the service may
 * hide nodes from its list, or answer 404 for nodes that exist. Two complete sweeps and two reads, a grace apart, have to agree; of many
 * suspects at once only some are read, and what a sample of them shows holds for all. The reasons are in decision 0133.
 *
 * | what comes | what it does to the evidence |
 * |---|---|
 * | a complete sweep that lacks the node | the node is a suspect; after two in a row the lists agree |
 * | a read that answers 404 | the first one begins the grace |
 * | a read that answers 404, asked for a grace later | the reads agree |
 * | lists and reads agree | the node is gone |
 * | the node, in a list or a read | all evidence goes |
 */
import { isConfirming, minAbsentLists } from "@berthkit/core/domain/Absence"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import type { Exchange, Moment } from "./Observation.ts"

/** The evidence that a node is gone, since it was last seen. Seeing it once more discards all of it. */
export interface Absence {
  /** End of the first complete sweep that lacked it, for that may have begun long before; null when none did. */
  readonly since: Moment | null
  /** Begin of the newest one. */
  readonly last: Moment | null
  /** How many complete sweeps in a row lacked it. */
  readonly sweeps: number
  /** The first read that answered 404. */
  readonly firstMissing: Exchange | null
  /** The newest read that answered 404, at least the grace after the first. */
  readonly confirmed: Exchange | null
  /** When a read of it first answered 404, on the monotonic clock, whatever became of its batch since; null when none did. For the hold alone. */
  readonly deniedMillis: number | null
  /** When a sample that stood for it first answered 404, on the monotonic clock; null when none did, or that sample still stands for it. */
  readonly sampledMillis: number | null
  /** Whether it was missing for the whole hold of a freeze: then it starts no other one. */
  readonly held: boolean
  /** Whether one of its batch proved alive: then having been seen terminating does not make it expected to go. */
  readonly doubted: boolean
}

export const noAbsence: Absence = {
  since: null,
  last: null,
  sweeps: 0,
  firstMissing: null,
  confirmed: null,
  deniedMillis: null,
  sampledMillis: null,
  held: false,
  doubted: false
}

/** How long after the first 404 the second may be requested. */
export interface Grace {
  /** For a node that was not seen terminating: how long it has to answer 404 before it is gone. */
  readonly graceMillis: number
  /** For a node last seen terminating: not longer. */
  readonly terminatingGraceMillis: number
}

/** A node seen terminating is expected to disappear, unless its absence was refuted. */
export const isExpectedToGo = ({ status }: Node, absence: Absence | null): boolean =>
  status === "terminate" && absence?.doubted !== true

/** How long a node has to answer 404. */
export const graceOf = (node: Node, absence: Absence | null, grace: Grace): number =>
  isExpectedToGo(node, absence) ? grace.terminatingGraceMillis : grace.graceMillis

/** A complete sweep lacked the node. */
export const afterSweep = (before: Absence, { answered, asked }: Exchange): Absence => ({
  ...before,
  since: before.since ?? answered,
  last: asked,
  sweeps: before.sweeps + 1
})

/** A read of the node answered 404. */
export const afterMissing = (absence: Absence, read: Exchange, graceMillis: number): Absence => {
  const before = { ...absence, deniedMillis: absence.deniedMillis ?? read.answered.monotonicMillis }
  const { confirmed, firstMissing } = before
  if (confirmed !== null) return { ...before, confirmed: read }
  if (firstMissing === null) return { ...before, firstMissing: read }
  return isConfirming(firstMissing.answered.monotonicMillis, read.asked.monotonicMillis, graceMillis)
    ? { ...before, confirmed: read }
    : before
}

/** Nothing was observed for a while: its hold begins anew. */
export const afterGap = (absence: Absence, now: Moment): Absence => ({ ...absence, since: now })

/**
 * It was missing for the whole hold. It has to answer 404 anew, because old answers may be as wrong as the list was. Twice; or once,
 * a grace after the hold, if it was read for many and list and reads `agreed` about them all the time.
 */
export const hold = (absence: Absence, agreed: Exchange | null): Absence => ({
  ...absence,
  firstMissing: agreed,
  confirmed: null,
  sampledMillis: null,
  held: true
})

/**
 * One of its batch proved alive: what reads denied counts anew, but for the hold, which a list that lacks others now and then would put off
 * for ever.
 */
export const doubt = (absence: Absence): Absence => ({
  ...absence,
  firstMissing: null,
  confirmed: null,
  sampledMillis: null,
  held: false,
  doubted: true
})

/** The evidence that a node is gone; null for one that is there. */
type AbsenceOf = (id: NodeId) => Absence | null

/** Many suspects at once, of which only some are read. */
export interface Batch {
  readonly members: ReadonlySet<NodeId>
  /** Whether they were missing for the whole hold of a freeze. */
  readonly held: boolean
  /** Members that have to answer 404 twice, in the order in which they were drawn. */
  readonly sample: ReadonlySet<NodeId>
  /** Members that have to answer 404 once, after all of the sample did so twice. */
  readonly wider: ReadonlySet<NodeId>
  /** Those of both that did. */
  readonly confirmed: ReadonlySet<NodeId>
  /** Whether one of the sample proved alive: no other is read, and none is gone, before the next sweep. */
  readonly refuted: boolean
}

/** More suspects than this at once are read by sample, which is as large. */
export const maxRead = 20

/** With the wider sample so many are read: few nodes that only the list lacks, among many that are gone, are seldom in the first one. */
const maxSample = 60

/** Only a sweep after so many concludes from a batch. */
const minBatchSweeps = 3

/** So many of the sample are read again and again in a freeze. */
const maxScouts = 5

/**
 * Since when reads deny it, on the monotonic clock. A node that is not read itself goes by the first 404 of the sample, of which
 * none is there.
 */
export const deniedSinceMillis = (
  id: NodeId,
  { deniedMillis, sampledMillis }: Absence,
  batch: Batch | undefined,
  absenceOf: AbsenceOf
): number => {
  let first = Math.min(deniedMillis ?? Infinity, sampledMillis ?? Infinity)
  if (batch !== undefined && !batch.refuted && !batch.sample.has(id)) {
    for (const sampled of batch.sample) {
      first = Math.min(first, absenceOf(sampled)?.firstMissing?.answered.monotonicMillis ?? Infinity)
    }
  }
  return first
}

/** A draw of the process that depends on the node alone, so that a sample is the same whenever it is asked for. */
const draw = (seed: number, id: number): number => {
  let mixed = Math.imul(seed ^ id, 0x9e3779b1)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  return (mixed ^ (mixed >>> 13)) >>> 0
}

/** A batch of these suspects. */
export const batchOf = (suspects: ReadonlyArray<NodeId>, absenceOf: AbsenceOf, seed: number, held: boolean): Batch => {
  const sample = drawn(suspects, maxRead, seed)
  return {
    members: new Set(suspects),
    held,
    sample: new Set(sample),
    wider: new Set(),
    confirmed: new Set(confirmedOf(sample, absenceOf)),
    refuted: false
  }
}

const sweepsOf = ({ members }: Batch, absenceOf: AbsenceOf): number => {
  let most = 0
  for (const id of members) most = Math.max(most, absenceOf(id)?.sweeps ?? 0)
  return most
}

/** Whether others may join it: not once a sweep may conclude from it, which they would delay. */
export const isJoinable = (batch: Batch, absenceOf: AbsenceOf): boolean => sweepsOf(batch, absenceOf) < minBatchSweeps

/** The batch with more suspects, which a sweep that was under way when all of them went lacked later. What was read of the others counts. */
export const joined = (
  { held, members }: Batch,
  suspects: ReadonlyArray<NodeId>,
  absenceOf: AbsenceOf,
  seed: number
): Batch => batchOf([...members].filter((id) => absenceOf(id) !== null).concat(suspects), absenceOf, seed, held)

/** Whether it is one of those that are read again in a freeze. */
export const isScout = ({ sample }: Batch, id: NodeId): boolean => [...sample].slice(0, maxScouts).includes(id)

const drawn = (among: ReadonlyArray<NodeId>, count: number, seed: number): ReadonlyArray<NodeId> =>
  among.toSorted((a, b) => draw(seed, a) - draw(seed, b)).slice(0, count)

const confirmedOf = (ids: ReadonlyArray<NodeId>, absenceOf: AbsenceOf): ReadonlyArray<NodeId> =>
  ids.filter((id) => (absenceOf(id)?.confirmed ?? null) !== null)

/** Whether all that are read are known to be gone. */
export const isConfirmed = ({ confirmed, sample, wider }: Batch): boolean => confirmed.size === sample.size + wider.size

/** The batch with the wider sample, once all of the first one are confirmed and the next sweep may conclude: others may join before. */
export const widened = (batch: Batch, absenceOf: AbsenceOf, seed: number): Batch => {
  if (batch.wider.size > 0 || !isConfirmed(batch) || sweepsOf(batch, absenceOf) < minBatchSweeps - 1) return batch
  const others = [...batch.members].filter((id) => absenceOf(id) !== null && !batch.sample.has(id))
  const wider = drawn(others, maxSample - batch.sample.size, seed)
  if (wider.length === 0) return batch
  return {
    ...batch,
    wider: new Set(wider),
    confirmed: new Set([...batch.confirmed, ...confirmedOf(wider, absenceOf)])
  }
}

/**
 * Whether the node is known to be gone, of itself or by the sample of its batch. It is known from now on only: before, list and reads may each
 * have been wrong. The last complete sweep ended at `sweptOrder`. It must have ended after the first 404, because only the end of a sweep
 * shows how many nodes are missing together with this one.
 */
export const isGone = (
  { confirmed, firstMissing, last, since, sweeps }: Absence,
  batch: Batch | undefined,
  graceMillis: number,
  sweptOrder: number
): boolean => {
  if (sweeps < minAbsentLists || last === null || since === null) return false
  if (confirmed !== null && firstMissing !== null) return firstMissing.answered.order < sweptOrder
  if (batch === undefined || !isConfirmed(batch) || sweeps < minBatchSweeps) return false
  return last.monotonicMillis - since.monotonicMillis >= graceMillis
}
