/**
 * Decides what a sighting proves. A sighting is the part of one observation that is about one node. Pure: from the belief about the node
 * and a sighting, `next` computes the new belief, and the facts to report. `diff.ts` calls it; `ListGuard.ts` decides when a missing node
 * is gone.
 *
 * | it is | shown by a list | shown by a read | missing from a sweep | denied by a read |
 * |---|---|---|---|---|
 * | unknown | met | met | | |
 * | known | compared, no longer missing | compared; if it was missing, it is hidden | missing | missing and denied |
 * | gone | returning | returning; known when two reads agree | | its return is denied |
 *
 * Two rules hold in every cell. A reply to a request from before the last known reply changes nothing. If the service accepted the shown
 * node later than the known one, it is another node, and the known one is gone.
 */
import { afterDenial, afterList } from "@berthkit/core/absence/Absence"
import { createdMillisOf, type Node, type NodeId } from "@berthkit/core/domain/Node"
import { DateTime } from "effect"
import {
  compareIncarnation,
  completed,
  firstRead,
  firstState,
  type Gone,
  goneFrom,
  isChanged,
  isSame,
  isStatus,
  type Known,
  known,
  type NodeState,
  normal,
  ofSameShape,
  stated,
  withState
} from "./Belief.ts"
import { unexplained } from "./Cause.ts"
import { between, type Between, instantsOf, type NodeFact, reportedFields, type SpecificTo } from "./Fact.ts"
import type { PlanNames } from "./catalogue/PlanNames.ts"
import type { Exchange } from "./Observation.ts"
import type { Evidence, Rules, Standing } from "./Snapshot.ts"
import {
  afterDenied,
  afterFound,
  afterListed,
  canFollow,
  isPassing,
  type Lasted,
  stuckAfterMillis
} from "./Transition.ts"

export type Sighting =
  /** The node's record is on a page of the list. `sweep`: the number of the sweep, if the page belongs to one. */
  | { readonly _tag: "Listed"; readonly node: Node; readonly sweep: number | null }
  /** The node's record is on a page, but cannot be read. */
  | { readonly _tag: "ListedUnread"; readonly sweep: number | null }
  /** A read of the node returned its record. */
  | { readonly _tag: "Found"; readonly node: Node }
  /** A read of the node answered 404. */
  | { readonly _tag: "Denied" }
  /** The node was missing from a complete sweep. */
  | { readonly _tag: "Lacked" }

/** The facts other than the node on which a proof depends. */
export interface Circumstances {
  readonly exchange: Exchange
  readonly rules: Rules
  /** The names of plans in the catalogue. */
  readonly names: PlanNames
  readonly standing: Standing
  readonly evidence: Evidence
  /** Whether the id is greater than the ids of all nodes known before. */
  readonly isNewest: (id: NodeId) => boolean
}

/** The result of a sighting. */
export interface NodeStep {
  /** The new belief. */
  readonly after: Known | Gone
  readonly facts: ReadonlyArray<NodeFact>
  /** How long the node was in the status that it left. */
  readonly learned?: Lasted | undefined
}

/** What the sighting proves; null if it proves nothing. */
export const next = (
  before: Known | Gone | undefined,
  id: NodeId,
  sighting: Sighting,
  now: Circumstances
): NodeStep | null => {
  switch (sighting._tag) {
    case "Listed":
    case "Found":
      if (before === undefined) return met(sighting, now)
      return "state" in before ? shown(before, sighting, now) : returning(before, sighting, now)
    case "ListedUnread":
      return before !== undefined && "state" in before && !isStale(before, now) ? unread(before, now) : null
    case "Denied":
      if (before === undefined) return null
      return "state" in before ? denied(before, now) : deniedAgain(before, now)
    case "Lacked":
      return before !== undefined && "state" in before ? lacked(before, now) : null
  }
}

/**
 * Whether a reply has shown the node after this request was sent. This exchange may then be out of date about the node.
 */
export const isStale = ({ seen }: Known, { exchange }: Pick<Circumstances, "exchange">): boolean =>
  seen !== null && exchange.asked.order < seen.answered.order

type Shown = Extract<Sighting, { readonly _tag: "Listed" | "Found" }>

const sweepOf = (sighting: Sighting): number | null => ("sweep" in sighting ? sighting.sweep : null)

/** Makes a fact. `version` is the version of the state, except for facts that happen only once in a node's life. */
const fact = (
  { incarnation, life, node }: NodeState,
  when: Between,
  sweep: number | null,
  specific: SpecificTo<NodeFact>,
  version = 0
): NodeFact => {
  return {
    identity: { nodeId: node.id, incarnation, life, version },
    atMillis: when[1],
    subject: `nodes/${node.id}`,
    type: specific.type,
    data: { ...specific.data, observedBetween: instantsOf(when), sweep }
  } as NodeFact
}

/** The latest instant at which the node certainly existed in its known state. */
const seenFromMillis = ({ seen, state, unstatedMillis }: Known, { sweptMillis }: Standing): number =>
  unstatedMillis ??
  seen?.asked.atMillis ??
  (state.listed ? Math.max(state.seenMillis, sweptMillis ?? state.seenMillis) : state.seenMillis)

/** The service's clock is known only to the second. */
const clockStepMillis = 1000

/** The clocks of the service's machines may differ by this much. */
const clockToleranceMillis = 2000

/**
 * The step for an unknown node. The node is new if it was created after a list without it. If its record has no date, it is new
 * if its id is greater than all known ids, because ids ascend (assumption A11 in docs/interface/assumptions.md).
 */
const met = (sighting: Shown, now: Circumstances): NodeStep => {
  const { answered } = now.exchange
  const { node } = sighting
  const state = { ...firstState(node, now.exchange), listed: sighting._tag === "Listed" }
  const [fromMillis, serviceMillis] = lackedSince(now, node)
  const createdMillis = createdMillisOf(node)
  const age = createdMillis === null ? null : serviceMillis - createdMillis
  const isNew = age === null ? now.isNewest(node.id) : age <= clockToleranceMillis
  const slackMillis = isNew && age !== null ? Math.max(0, age + clockStepMillis) : 0
  const when = between(fromMillis - slackMillis, answered.atMillis)
  const type = isNew ? "berth.node.created" : "berth.node.discovered"
  const facts = [fact(state, when, sweepOf(sighting), { type, data: { before: null, after: node } })]
  const first = known(state, answered.monotonicMillis)
  return { after: sighting._tag === "Listed" ? first : firstRead(first), facts }
}

/** The last time at which an unknown node was certainly missing from the list, by the daemon's clock and by the service's. */
const lackedSince = (
  { evidence: { swept, tail }, exchange: { answered }, standing }: Circumstances,
  node: Node
): readonly [atMillis: number, serviceMillis: number] => {
  if (tail !== null && node.id > tail.lastId && tail.asked.order > (swept?.asked.order ?? 0)) {
    const serviceMillis = tail.asked.serviceMillis ?? tail.asked.atMillis
    // If the node existed when the end of the list was read, that read hid the node and proves nothing about it.
    if (serviceMillis - (createdMillisOf(node) ?? serviceMillis) <= clockToleranceMillis)
      return [tail.asked.atMillis, serviceMillis]
  }
  if (swept !== null) return [swept.asked.atMillis, swept.asked.serviceMillis ?? swept.asked.atMillis]
  const atMillis = standing.sweptMillis ?? answered.atMillis
  return [atMillis, standing.sweptServiceMillis ?? atMillis]
}

/** The step for a node that was reported deleted and is shown again. Stale lists and replies also show such nodes. */
const returning = (gone: Gone, sighting: Shown, now: Circumstances): NodeStep | null => {
  const { node } = sighting
  const incarnation = compareIncarnation(node, gone.createdMillis)
  if (incarnation === "older") return null
  if (incarnation === "newer") return met(sighting, now)
  const { exchange } = now
  const after =
    sighting._tag === "Listed"
      ? afterListed(gone.returning, node, exchange)
      : afterFound(gone.returning, node, exchange, now.rules.graceMillis)
  if (after !== "returned") return { after: { ...gone, returning: after }, facts: [] }
  const state = { ...firstState(node, exchange, gone.version), life: gone.life + 1, listed: false }
  const when = between(lackedSince(now, node)[0], exchange.answered.atMillis)
  return {
    after: firstRead(known(state, exchange.answered.monotonicMillis)),
    facts: [fact(state, when, null, { type: "berth.node.discovered", data: { before: null, after: node } })]
  }
}

/** A read answered 404 for a node that was reported deleted. */
const deniedAgain = (gone: Gone, { exchange, rules }: Circumstances): NodeStep | null =>
  gone.returning === null
    ? null
    : { after: { ...gone, returning: afterDenied(gone.returning, exchange, rules.graceMillis) }, facts: [] }

/** The step after the node was missing from a complete sweep. */
const lacked = (before: Known, now: Circumstances): NodeStep | null => {
  if (isStale(before, now)) return null
  const absence = afterList(before.absence, now.exchange.answered.monotonicMillis)
  const { state } = before
  const seenMillis = seenFromMillis(before, now.standing)
  return {
    after: { ...before, absence, state: state.listed ? { ...state, listed: false, seenMillis } : state },
    facts: []
  }
}

/** The step after a read of the node answered 404. */
const denied = (before: Known, now: Circumstances): NodeStep | null => {
  if (isStale(before, now)) return null
  const { answered, asked } = now.exchange
  const times = { askedMillis: asked.monotonicMillis, answeredMillis: answered.monotonicMillis }
  const absence = afterDenial(before.absence, times)
  return { after: { ...before, absence, hidden: null, impossible: null }, facts: [] }
}

/** The step after a record of the node was shown. */
const shown = (before: Known, sighting: Shown, now: Circumstances): NodeStep | null => {
  if (isStale(before, now)) return null
  switch (compareIncarnation(sighting.node, createdMillisOf(before.state.node))) {
    case "older":
      return null
    case "newer":
      return replaced(before, sighting, now)
    case "same":
      return compared(alive(before, sighting, now), sighting, now)
  }
}

/** The step after the node's record was listed but could not be read: the node exists. */
const unread = (before: Known, now: Circumstances): NodeStep => {
  const there = alive(before, { _tag: "ListedUnread", sweep: null }, now)
  return { after: noteUnstated(there, there, now), facts: [] }
}

/** The step if another node has the id now: the known node is gone, whatever the list shows. */
const replaced = (before: Known, sighting: Shown, now: Circumstances): NodeStep => {
  const when = between(seenFromMillis(before, now.standing), now.exchange.answered.atMillis)
  const data = { before: before.state.node, after: null, ...unexplained }
  const deleted = fact(before.state, when, sweepOf(sighting), { type: "berth.node.deleted", data })
  const { after, facts } = met(sighting, now)
  return { after, facts: [deleted, ...facts] }
}

/** The belief once the node is known to exist: all evidence that it is gone is discarded. */
const alive = (before: Known, { _tag }: Sighting, { exchange }: Circumstances): Known => {
  const { absence, hidden } = before
  const isRead = _tag === "Found"
  if (absence === null) return isRead || hidden === null ? before : { ...before, hidden: null }
  if (!isRead || absence.lists === 0) return { ...before, absence: null, hidden: isRead ? hidden : null }
  const { monotonicMillis } = exchange.answered
  return { ...before, absence: null, hidden: { proofs: (hidden?.proofs ?? 0) + 1, monotonicMillis } }
}

/**
 * Remembers when the node was last seen in its known state. Since then it may have changed, or another node may have its id.
 */
const noteUnstated = (before: Known, after: Known, { standing }: Circumstances): Known => {
  const unstatedMillis = seenFromMillis(before, standing)
  const { state } = after
  // Write this time to the row: a restart discards the evidence, and a listed node would then count as seen by every sweep.
  return state.listed || state !== before.state
    ? { ...after, unstatedMillis, state: { ...state, listed: false, seenMillis: unstatedMillis } }
    : { ...after, unstatedMillis }
}

/** Compares the record with the known node. */
const compared = (before: Known, sighting: Shown, now: Circumstances): NodeStep => {
  const { impossible, state } = before
  const shape = sighting._tag === "Listed" ? "list" : "read"
  const shown = ofSameShape(before.statements, sighting.node, state, shape, now.names)
  const { statements } = shown
  const there = statements === before.statements ? before : { ...before, statements }
  const node = stated(shown.node, state.node)
  if (!canFollow(state.node.status, node.status) && !isConfirmed(before, sighting, now)) {
    const doubted = { ...there, impossible: impossible ?? now.exchange }
    return { after: noteUnstated(before, doubted, now), facts: [] }
  }
  const possible = impossible === null ? there : { ...there, impossible: null }
  if (node !== shown.node) {
    const step = changed(before, possible, node, sighting, now)
    return { ...step, after: noteUnstated(before, step.after, now) }
  }
  const certain = possible.unstatedMillis === null ? possible : { ...possible, unstatedMillis: null }
  const isNewlyListed = !state.listed && shape === "list"
  const listed = isNewlyListed
    ? { ...certain, state: { ...state, listed: true, seenMillis: now.exchange.asked.atMillis } }
    : certain
  return changed(before, listed, node, sighting, now)
}

/**
 * Whether a status that cannot follow the current one is believed: a read must show it some time after the first reply that
 * did.
 */
const isConfirmed = ({ impossible }: Known, { _tag }: Shown, { exchange, rules }: Circumstances): boolean =>
  impossible !== null &&
  _tag === "Found" &&
  exchange.asked.monotonicMillis - impossible.answered.monotonicMillis >= rules.terminatingGraceMillis

interface Compared extends NodeStep {
  readonly after: Known
}

/** Reports the differences between the known and the shown node, if any. `last` is the node as it was last seen. */
const changed = (last: Known, before: Known, node: Node, sighting: Shown, now: Circumstances): Compared => {
  const { state: was } = before
  if (isSame(node, was.node)) return stuck(before, sighting, now)
  const { answered, asked } = now.exchange
  const when = between(seenFromMillis(last, now.standing), answered.atMillis)
  const sweep = sweepOf(sighting)
  const after = completed(node, was.node)
  const facts: Array<NodeFact> = []
  let learned: Lasted | undefined
  let state: NodeState = { ...was, node: after, seenMillis: asked.atMillis }
  // If no record stated a status before, this status is newly known, and not a change.
  if (!isStatus(was.node.status)) state = { ...state, statusSinceMillis: answered.atMillis }
  else if (normal(was.node.status) !== normal(after.status)) {
    learned = lasted(before, now)
    state = { ...state, version: state.version + 1, statusSinceMillis: answered.atMillis, stuck: false }
    const data = { from: was.node.status, to: after.status, before: was.node, after }
    facts.push(fact(state, when, sweep, { type: "berth.node.status_changed", data }, state.version))
    if (was.stuck) facts.push(aboutStuck("berth.node.unstuck", state, last, sighting, now))
  }
  const fields = reportedFields.filter((field) => isChanged(field, was.node, after))
  if (fields.length > 0) {
    state = { ...state, version: state.version + 1 }
    const data = { fields, before: was.node, after }
    facts.push(fact(state, when, sweep, { type: "berth.node.changed", data }, state.version))
  }
  return { after: withState(before, state, answered), facts, learned }
}

/** How long a node was in the status that it leaves, if this process saw it enter. */
const lasted = (
  { sinceMonotonicMillis: since, state }: Known,
  { evidence, exchange, standing }: Circumstances
): Lasted | undefined => {
  const { status } = state.node
  if (!isPassing(status) || since === null || since <= evidence.begun.monotonicMillis) return undefined
  if (state.statusSinceMillis === standing.baselineMillis) return undefined
  return { status, millis: exchange.answered.monotonicMillis - since }
}

/** Reports that a node is stuck, if it has been in transition for longer than such nodes usually are. */
const stuck = (before: Known, sighting: Shown, now: Circumstances): Compared => {
  const { sinceMonotonicMillis: since, state: was } = before
  const { status } = was.node
  if (was.stuck || !isPassing(status) || since === null) return { after: before, facts: [] }
  const limit = stuckAfterMillis(now.evidence.durations, status, now.rules)
  if (now.exchange.answered.monotonicMillis - since <= limit) return { after: before, facts: [] }
  const state = { ...was, stuck: true, version: was.version + 1 }
  return { after: { ...before, state }, facts: [aboutStuck("berth.node.stuck", state, before, sighting, now)] }
}

/** A fact about the stuck node `was`: that it is stuck, or no longer is. */
const aboutStuck = (
  type: "berth.node.stuck" | "berth.node.unstuck",
  state: NodeState,
  was: Known,
  sighting: Shown,
  { exchange, standing }: Circumstances
): NodeFact => {
  const when = between(seenFromMillis(was, standing), exchange.answered.atMillis)
  const since = DateTime.makeUnsafe(was.state.statusSinceMillis)
  const data = { status: was.state.node.status, since, after: state.node }
  return fact(state, when, sweepOf(sighting), { type, data }, state.version)
}

/**
 * The step once `ListGuard.ts` has concluded that the node is gone. `sweep`: the number of the sweep that completed the proof;
 * null if a read did.
 */
export const gone = (before: Known, sweep: number | null, now: Circumstances): NodeStep & { readonly after: Gone } => {
  const { atMillis } = now.exchange.answered
  const { state } = before
  const when = between(seenFromMillis(before, now.standing), atMillis)
  const data = { before: state.node, after: null, ...unexplained }
  return {
    after: goneFrom(state),
    facts: [fact(state, when, sweep, { type: "berth.node.deleted", data })],
    learned: lasted(before, now)
  }
}
