/**
 * What it proves that a reply shows a node: that it is there, how it is, and where it was not known, that it is new.
 */
import { Node, type NodeId, noneWhenNull } from "@berth/core/domain/Node"
import { isKnown, type NodeStatus } from "@berth/core/domain/NodeStatus"
import { DateTime, Struct } from "effect"
import { type Batch, doubt, widened } from "./Absence.ts"
import { ofSameShape } from "./Addresses.ts"
import { between, type Between, type Draft } from "./Draft.ts"
import { reportedFields } from "./Fact.ts"
import { compareIncarnation, incarnationOf, isPassing, type NodeState } from "./NodeState.ts"
import type { Exchange } from "./Observation.ts"
import { afterFound, afterListed, canFollow } from "./Return.ts"
import type { Tombstone } from "./Snapshot.ts"
import { isStatus, isUnread, stated } from "./Stated.ts"
import { learnDuration, stuckAfterMillis } from "./Transition.ts"

/** Where a node was seen: on a page of a sweep, or in a read of its own. */
export type Source = { readonly _tag: "list"; readonly sweep: number | null } | { readonly _tag: "read" }

const sweepOf = (source: Source): number | null => (source._tag === "list" ? source.sweep : null)

/** A node was shown. */
export const sighted = (draft: Draft, node: Node, source: Source): void => {
  const known = draft.known(node.id)
  if (known === undefined) return unknownSighted(draft, node, source)
  const seen = draft.evidence.seen.get(node.id)
  if (seen !== undefined && draft.exchange.asked.order < seen.answered.order) return
  switch (compareIncarnation(node, DateTime.toEpochMillis(known.node.createdAt))) {
    case "older":
      return
    case "newer":
      return replaced(draft, known, node, source)
    case "same":
      alive(draft, known, source)
      return compared(draft, known, node, source)
  }
}

/** The record of a node is on a page, and cannot be read. */
export const listedUnread = (draft: Draft, id: NodeId, sweep: number | null): void => {
  const known = draft.known(id)
  const seen = draft.evidence.seen.get(id)
  if (known === undefined || (seen !== undefined && draft.exchange.asked.order < seen.answered.order)) return
  alive(draft, known, { _tag: "list", sweep })
  noteUnstated(draft, known)
}

/** Its id is there. It may have changed since it was last seen as it is known, or another node may have the id. */
const noteUnstated = (draft: Draft, believed: NodeState): void => {
  const { id } = believed.node
  const fromMillis = seenFromMillis(draft, believed)
  if (!draft.evidence.unstated.has(id)) draft.writable("unstated").set(id, fromMillis)
  // A restart ends the evidence, and a listed node counts as seen by every sweep.
  const state = draft.known(id) ?? believed
  if (state.listed || state !== believed) draft.write({ ...state, listed: false, seenMillis: fromMillis })
}

/** A node that is not known: new, or reported deleted before. */
const unknownSighted = (draft: Draft, node: Node, source: Source): void => {
  const tombstone = draft.snapshot.tombstones.get(node.id)
  if (tombstone === undefined) return met(draft, node, source)
  switch (compareIncarnation(node, tombstone.createdMillis)) {
    case "older":
      return
    case "newer":
      return met(draft, node, source)
    case "same":
      return returning(draft, node, tombstone, source)
  }
}

/** The state of a node when a reply first shows it, which may be from as early as the request for it. */
export const firstSeen = (
  node: Node,
  { asked, answered }: Exchange,
  version = 0,
  seenMillis = asked.atMillis
): NodeState => ({
  node,
  incarnation: incarnationOf(node),
  life: 1,
  version,
  seenMillis,
  listed: true,
  statusSinceMillis: answered.atMillis,
  stuck: false,
  goneMillis: null
})

/** A node appeared for the first time. */
const met = (draft: Draft, node: Node, source: Source): void => {
  const state = { ...firstSeen(node, draft.exchange), listed: source._tag === "list" }
  draft.write(state)
  draft.seen.push(node.id)
  draft.drop("returns", node.id)
  reportNew(draft, state, source)
}

/** The service's clock is shown to the second. */
const clockStepMillis = 1000

/** It is one clock or another of the service. */
const clockToleranceMillis = 2000

/** Reports a node that was not known. It is new if it was created since the list lacked it. */
const reportNew = (draft: Draft, state: NodeState, source: Source): void => {
  const after = state.node
  const [fromMillis, serviceMillis] = lackedSince(draft, after)
  const age = serviceMillis - DateTime.toEpochMillis(after.createdAt)
  const isNew = age <= clockToleranceMillis
  const slackMillis = isNew ? Math.max(0, age + clockStepMillis) : 0
  const when = between(fromMillis - slackMillis, draft.now.atMillis)
  const type = isNew ? "berth.node.created" : "berth.node.discovered"
  draft.report(state, when, sweepOf(source), { type, data: { before: null, after } })
}

/** Since when the list is known to have lacked a node that is not known, on the daemon's clock and on the service's. */
const lackedSince = (
  { evidence: { swept, tail }, now, standing }: Draft,
  { createdAt, id }: Node
): readonly [number, number] => {
  if (tail !== null && id > tail.lastId && tail.asked.order > (swept?.asked.order ?? 0)) {
    const serviceMillis = tail.asked.serviceMillis ?? tail.asked.atMillis
    // An end of the list that hid the node proves nothing about it.
    if (serviceMillis - DateTime.toEpochMillis(createdAt) <= clockToleranceMillis)
      return [tail.asked.atMillis, serviceMillis]
  }
  if (swept !== null) return [swept.asked.atMillis, swept.asked.serviceMillis ?? swept.asked.atMillis]
  const atMillis = standing.sweptMillis ?? now.atMillis
  return [atMillis, standing.sweptServiceMillis ?? atMillis]
}

/** Another node has taken the id: the known one is gone, whatever the list shows. */
const replaced = (draft: Draft, known: NodeState, node: Node, source: Source): void => {
  const when = between(seenFromMillis(draft, known), draft.now.atMillis)
  draft.report(known, when, sweepOf(source), { type: "berth.node.deleted", data: { before: known.node, after: null } })
  noteConfirmed(draft, node.id)
  forget(draft, node.id)
  met(draft, node, source)
}

/** A node that was reported deleted is shown: a stale list or reply does so, too. */
const returning = (draft: Draft, node: Node, tombstone: Tombstone, source: Source): void => {
  const before = draft.evidence.returns.get(node.id)
  const after =
    source._tag === "list"
      ? afterListed(before, node, draft.exchange)
      : afterFound(before, node, draft.exchange, draft.rules.graceMillis)
  if (after !== "returned") return void draft.writable("returns").set(node.id, after)
  const state: NodeState = {
    ...firstSeen(node, draft.exchange, tombstone.version),
    life: tombstone.life + 1,
    listed: false
  }
  draft.write(state)
  draft.seen.push(node.id)
  draft.drop("returns", node.id)
  const when = between(lackedSince(draft, node)[0], draft.now.atMillis)
  draft.report(state, when, null, { type: "berth.node.discovered", data: { before: null, after: node } })
}

/** The latest instant at which the node is known to have been there as it is known. */
export const seenFromMillis = ({ evidence, snapshot }: Draft, { listed, node, seenMillis }: NodeState): number => {
  const unstated = evidence.unstated.get(node.id)
  if (unstated !== undefined) return unstated
  const seen = evidence.seen.get(node.id)
  if (seen !== undefined) return seen.asked.atMillis
  return listed ? Math.max(seenMillis, snapshot.standing.sweptMillis ?? seenMillis) : seenMillis
}

/** Notes that a member of a sample is gone. */
export const noteConfirmed = (draft: Draft, id: NodeId): void => {
  const { batches } = draft.evidence
  const isOpen = ({ confirmed, sample, wider }: Batch) => (sample.has(id) || wider.has(id)) && !confirmed.has(id)
  if (!batches.some(isOpen)) return
  draft.note({
    batches: batches.map((batch) => (isOpen(batch) ? { ...batch, confirmed: new Set(batch.confirmed).add(id) } : batch))
  })
  widenBatches(draft)
}

/** More are read of the batches whose sample is confirmed, unless a freeze keeps them from being gone anyway. */
export const widenBatches = (draft: Draft): void => {
  const { batches, seed, suspicions } = draft.evidence
  const isFrozen = draft.standing.freeze !== null
  const after = batches.map((batch) => (isFrozen && !batch.held ? batch : widened(batch, suspicions, seed)))
  if (after.some((batch, index) => batch !== batches[index])) draft.note({ batches: after })
}

/** Discards what was suspected of a node. */
export const forget = (draft: Draft, id: NodeId): void => {
  draft.drop("suspicions", id)
  draft.drop("hidden", id)
  draft.drop("impossible", id)
  draft.drop("unstated", id)
  draft.drop("addresses", id)
}

/** The node is there: all evidence that it is gone was wrong. */
const alive = (draft: Draft, known: NodeState, source: Source): void => {
  const { id } = known.node
  const { evidence, now } = draft
  draft.seen.push(id)
  if (source._tag === "list") draft.drop("hidden", id)
  const suspicion = evidence.suspicions.get(id)
  if (suspicion === undefined) return
  draft.drop("suspicions", id)
  const batch = evidence.batches.find(({ sample, wider }) => sample.has(id) || wider.has(id))
  if (batch !== undefined) {
    draft.note({ batches: evidence.batches.map((other) => (other === batch ? { ...batch, refuted: true } : other)) })
  }
  if (source._tag === "list" || suspicion.sweeps === 0) return
  const proofs = (evidence.hidden.get(id)?.proofs ?? 0) + 1
  draft.writable("hidden").set(id, { proofs, monotonicMillis: now.monotonicMillis })
  if (batch !== undefined) distrust(draft, batch.members)
}

/** The list lacks many nodes of which one is there: none of them is believed to be gone before the hold is over. */
const distrust = (draft: Draft, members: ReadonlySet<NodeId>): void => {
  for (const id of members) {
    const suspicion = draft.evidence.suspicions.get(id)
    if (suspicion !== undefined) draft.writable("suspicions").set(id, doubt(suspicion))
  }
  if (draft.standing.freeze !== null) return
  const expected = draft.snapshot.nodes.size
  const missing = draft.evidence.suspicions.size
  draft.change({ freeze: { doubt: "nodes-vanished", sinceMillis: draft.now.atMillis } })
  const message = `The list lacks ${missing} of ${expected} nodes, of which one was read; no deletion is reported until the list is believed again.`
  draft.degrade({ trouble: "nodes-vanished", message, expected, missing })
}

/** Spelling does not make another status (decision 10). */
const spelling = (status: NodeStatus): string =>
  isKnown(status) ? status : `unknown:${status.unknown.toLowerCase().replace(/[\s_-]/g, "")}`

/** Fields whose null may only mean that one of the three record shapes leaves them out (decision 8). */
const omissible = Struct.keys(Struct.omit(Node.fields, noneWhenNull))

/** The node as it was seen now, with the fields that this record lacks taken from an earlier one. */
const completed = (node: Node, earlier: Node): Node => {
  const omitted = omissible.filter((field) => node[field] === null && earlier[field] !== null)
  // Fractions of the second may come and go; the incarnation stays.
  return {
    ...node,
    createdAt: earlier.createdAt,
    ...Object.fromEntries(omitted.map((field) => [field, earlier[field]]))
  }
}

/** Whether a field has another value; one that no record had before is only known now. */
const isChanged = (field: keyof Node, before: Node, after: Node): boolean =>
  before[field] !== after[field] &&
  (before[field] !== null || (noneWhenNull.some((name) => name === field) && !isUnread(before, field)))

const isUnchanged = (value: unknown, before: unknown): boolean => value === null || value === before

/** Whether the record has nothing new in any field that is kept; a field it lacks is unknown, not changed. */
const isSame = (node: Node, known: Node): boolean =>
  (node.status === known.status || spelling(node.status) === spelling(known.status)) &&
  node.name === known.name &&
  node.publicIp === known.publicIp &&
  node.privateIp === known.privateIp &&
  isUnchanged(node.plan, known.plan) &&
  isUnchanged(node.backups, known.backups) &&
  isUnchanged(node.locked, known.locked) &&
  isUnchanged(node.image, known.image) &&
  isUnchanged(node.vcpus, known.vcpus) &&
  isUnchanged(node.memoryMib, known.memoryMib) &&
  isUnchanged(node.diskGb, known.diskGb)

/** The record against the one that is believed. */
const compared = (draft: Draft, believed: NodeState, shown: Node, source: Source): void => {
  const { id } = shown
  const kept = draft.evidence.addresses.get(id)
  const { node: comparable, statements } = ofSameShape(kept, shown, believed, source._tag)
  if (statements !== undefined && statements !== kept) draft.writable("addresses").set(id, statements)
  const node = stated(comparable, believed.node)
  if (!canFollow(believed.node.status, node.status) && !isConfirmed(draft, id, source)) {
    return noteUnstated(draft, believed)
  }
  draft.drop("impossible", id)
  // Before what is known now is noted.
  const when = between(seenFromMillis(draft, believed), draft.now.atMillis)
  if (node !== comparable) {
    changed(draft, believed, node, source, when)
    return noteUnstated(draft, believed)
  }
  draft.drop("unstated", id)
  const isListed = believed.listed || source._tag === "list"
  const known = isListed === believed.listed ? believed : { ...believed, listed: true, seenMillis: askedMillis(draft) }
  if (known !== believed) draft.write(known)
  changed(draft, known, node, source, when)
}

const askedMillis = ({ exchange }: Draft): number => exchange.asked.atMillis

/** Reports what differs between what is known and what is shown, where anything does. */
const changed = (draft: Draft, known: NodeState, node: Node, source: Source, when: Between): void => {
  if (isSame(node, known.node)) return checkStuck(draft, known, source)
  const after = completed(node, known.node)
  const before = known.node
  let state: NodeState = { ...known, node: after, seenMillis: askedMillis(draft) }
  // One that no record stated before is only known now.
  if (!isStatus(before.status)) state = { ...state, statusSinceMillis: draft.now.atMillis }
  else if (spelling(before.status) !== spelling(after.status)) {
    learnDuration(draft, known)
    state = { ...state, version: state.version + 1, statusSinceMillis: draft.now.atMillis, stuck: false }
    const data = { from: before.status, to: after.status, before, after }
    draft.report(state, when, sweepOf(source), { type: "berth.node.status_changed", data }, state.version)
    if (known.stuck) reportStuck(draft, "berth.node.unstuck", state, known, source)
  }
  const fields = reportedFields.filter((field) => isChanged(field, before, after))
  if (fields.length > 0) {
    state = { ...state, version: state.version + 1 }
    const data = { fields, before, after }
    draft.report(state, when, sweepOf(source), { type: "berth.node.changed", data }, state.version)
  }
  draft.write(state)
}

/** A status that cannot follow needs a read that shows it a while after the first reply that did. */
const isConfirmed = (draft: Draft, id: NodeId, source: Source): boolean => {
  const first = draft.evidence.impossible.get(id)
  if (first === undefined) {
    draft.writable("impossible").set(id, draft.exchange)
    return false
  }
  const apart = draft.exchange.asked.monotonicMillis - first.answered.monotonicMillis
  return source._tag === "read" && apart >= draft.rules.terminatingGraceMillis
}

/** A node in transition that takes longer than such nodes do is stuck. */
const checkStuck = (draft: Draft, known: NodeState, source: Source): void => {
  const { status } = known.node
  if (known.stuck || !isPassing(status)) return
  const limit = stuckAfterMillis(draft.evidence.durations, status, draft.rules)
  const since = draft.evidence.transitions.get(known.node.id)
  if (since === undefined || draft.now.monotonicMillis - since <= limit) return
  const state = { ...known, stuck: true, version: known.version + 1 }
  draft.write(state)
  reportStuck(draft, "berth.node.stuck", state, known, source)
}

/** `was` is the state that the node was stuck in. */
const reportStuck = (
  draft: Draft,
  type: "berth.node.stuck" | "berth.node.unstuck",
  state: NodeState,
  was: NodeState,
  source: Source
): void => {
  const when: Between = between(seenFromMillis(draft, was), draft.now.atMillis)
  const since = DateTime.makeUnsafe(was.statusSinceMillis)
  const data = { status: was.node.status, since, after: state.node }
  draft.report(state, when, sweepOf(source), { type, data }, state.version)
}
