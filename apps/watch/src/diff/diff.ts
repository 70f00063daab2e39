/**
 * The heart of the daemon: what an observation proves, given the snapshot. Pure: it returns what happened and what changes, and
 * does neither.
 *
 * Three rules hold everywhere. An absent node is suspected, never deleted on sight. A reply to a request from before the last
 * known reply changes nothing. Only samples are reported, so states in between stay unknown.
 */
import type { Node, NodeId } from "@berth/core/domain/Node"
import { afterMissing, graceOf } from "./Absence.ts"
import { afterCensusRead, afterCensusSweep, type Count, emptyCensus, isSameAccount } from "./Baseline.ts"
import { between, Draft } from "./Draft.ts"
import type { Fact } from "./Fact.ts"
import type { Observation, PageRead, SweepCompleted } from "./Observation.ts"
import { restartHolds } from "./Freeze.ts"
import { afterDenied } from "./Return.ts"
import type { Rules } from "./Rules.ts"
import { firstSeen, listedUnread, noteConfirmed, sighted } from "./Seen.ts"
import type { Change, Snapshot } from "./Snapshot.ts"
import { deleteIfGone, noteSwept, swept } from "./SweepEnd.ts"
import { afterAnswer, afterCompleteSweep, afterFailure, afterSilence } from "./Outage.ts"

export interface Difference extends Change {
  /** What happened, in the order to report it. */
  readonly facts: ReadonlyArray<Fact>
}

/** What `observation` proves beyond `snapshot`. */
export const diff = (snapshot: Snapshot, observation: Observation, rules: Rules): Difference => {
  const draft = new Draft(snapshot, observation, rules)
  if (observation._tag === "Paused") pause(draft)
  else if (observation._tag === "RequestFailed") afterFailure(draft, observation.message)
  else if (observation._tag === "TimePassed") afterSilence(draft)
  else {
    afterAnswer(draft)
    if (snapshot.standing.baselineMillis === null) count(draft, observation)
    else if (isOtherKey(draft)) compareAccounts(draft, observation)
    else interpret(draft, observation)
  }
  return draft.result
}

type Answer = Exclude<Observation, { readonly _tag: "RequestFailed" | "Paused" | "TimePassed" }>

/** A page may repeat a node; its first mention counts. One whose ids ascend repeats none. */
const distinct = (nodes: ReadonlyArray<Node>): Iterable<Node> => {
  if (nodes.every(({ id }, i) => i === 0 || nodes[i - 1]!.id < id)) return nodes
  const byId = new Map<NodeId, Node>()
  for (const node of nodes) if (!byId.has(node.id)) byId.set(node.id, node)
  return byId.values()
}

const interpret = (draft: Draft, answer: Answer): void => {
  switch (answer._tag) {
    case "PageRead":
      for (const node of distinct(answer.nodes)) sighted(draft, node, { _tag: "list", sweep: answer.sweep })
      for (const id of answer.unreadable) listedUnread(draft, id, answer.sweep)
      if (answer.isEnd) noteEnd(draft, answer)
      return
    case "NodeFound":
      return sighted(draft, answer.node, { _tag: "read" })
    case "NodeMissing":
      return missed(draft, answer.nodeId)
    case "SweepCompleted":
      restartHolds(draft)
      afterCompleteSweep(draft)
      swept(draft, answer)
      acceptAccount(draft)
  }
}

/** The list ended, and had no greater id. */
const noteEnd = (draft: Draft, { asked, nodes, unreadable }: PageRead): void => {
  const lastId = Math.max(draft.evidence.tail?.lastId ?? 0, ...nodes.map(({ id }) => id), ...unreadable)
  draft.note({ tail: { asked, lastId } })
}

/** The list is that of the account that is known. */
const acceptAccount = (draft: Draft): void => {
  const { fingerprint, stranger } = draft.standing
  const key = draft.evidence.fingerprint
  if (key !== null && key !== fingerprint) draft.change({ fingerprint: key })
  if (stranger === null) return
  draft.change({ stranger: null })
  draft.recover("other-account", "same-account", stranger.sinceMillis)
}

/** A read of a node answered 404. */
const missed = (draft: Draft, id: NodeId): void => {
  const { evidence, exchange, rules } = draft
  const returning = evidence.returns.get(id)
  if (returning !== undefined) {
    draft.writable("returns").set(id, afterDenied(returning, exchange, rules.graceMillis))
    return
  }
  const known = draft.known(id)
  const seen = evidence.seen.get(id)
  if (known === undefined || (seen !== undefined && exchange.asked.order < seen.answered.order)) return
  const before = evidence.suspicions.get(id)
  const suspicion = afterMissing(before, exchange, graceOf(known, before, rules))
  if (suspicion === before) return
  draft.writable("suspicions").set(id, suspicion)
  draft.drop("hidden", id)
  draft.drop("impossible", id)
  if (suspicion.confirmed !== null || evidence.batches.some(({ wider }) => wider.has(id))) noteConfirmed(draft, id)
  deleteIfGone(draft, id, null)
}

/** Before the baseline nothing is believed: two lists have to agree. */
const count = (draft: Draft, answer: Answer): void => {
  const { evidence } = draft
  switch (answer._tag) {
    case "PageRead":
      if (answer.sweep !== null) draft.counted.push(...distinct(answer.nodes))
      return
    case "NodeFound":
      return conclude(draft, afterCensusRead(evidence.census, answer.node.id, answer.node))
    case "NodeMissing":
      return conclude(draft, afterCensusRead(evidence.census, answer.nodeId, null))
    case "SweepCompleted":
      afterCompleteSweep(draft)
      noteSwept(draft, answer)
      return conclude(draft, afterCensusSweep(evidence.census, answer.asked))
  }
}

/** The baseline, once its nodes are agreed. */
const conclude = (draft: Draft, counted: Count): void => {
  if ("census" in counted) return draft.note({ census: counted.census })
  const { evidence, now } = draft
  // A read may conclude what the sweep before it listed.
  const seenMillis = (evidence.swept?.asked ?? now).atMillis
  // Versions of an account that is watched anew do not repeat those of an earlier store.
  draft.writeBaseline(
    Array.from(counted.nodes.values(), (node) => firstSeen(node, draft.exchange, now.atMillis, seenMillis))
  )
  draft.note({ census: emptyCensus(), baselineOrder: now.order })
  draft.change({ baselineMillis: now.atMillis, fingerprint: evidence.fingerprint })
  const fromMillis = (evidence.census.asked ?? evidence.swept?.asked ?? now).atMillis
  draft.reportBaseline(counted.nodes.size, between(fromMillis, now.atMillis), evidence.swept?.number ?? null)
}

/** Whether the API key is another one than that with which the nodes were read. */
const isOtherKey = ({ evidence, standing }: Draft): boolean =>
  evidence.fingerprint !== null && standing.fingerprint !== null && evidence.fingerprint !== standing.fingerprint

/** With another key nothing is believed before a whole list has shown that it is for the same account. */
const compareAccounts = (draft: Draft, answer: Answer): void => {
  if (answer._tag === "PageRead" && answer.sweep !== null) draft.counted.push(...distinct(answer.nodes))
  if (answer._tag === "SweepCompleted") concludeAccount(draft, answer)
}

const concludeAccount = (draft: Draft, sweep: SweepCompleted): void => {
  const { evidence, snapshot, standing } = draft
  const { current } = evidence.census
  draft.note({ census: emptyCensus() })
  afterCompleteSweep(draft)
  if (isSameAccount(snapshot.nodes, current)) return acceptAccount(draft)
  if (standing.stranger !== null) return
  draft.change({ stranger: { sinceMillis: draft.now.atMillis } })
  const expected = snapshot.nodes.size
  const message = `The API key is another one, and the list has none of the ${expected} nodes that are known but ${sweep.listed} others; nothing is reported of them.`
  draft.degrade({ trouble: "other-account", message, expected, missing: expected })
}

/** Nothing was observed for a while: what was suspected before proves nothing about the time between. */
const pause = (draft: Draft): void =>
  draft.note({
    begun: draft.now,
    afterGap: draft.standing.baselineMillis !== null,
    suspicions: new Map(),
    batches: [],
    hidden: new Map(),
    losses: [],
    returns: new Map(),
    impossible: new Map()
  })
