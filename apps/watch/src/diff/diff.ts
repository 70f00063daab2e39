/**
 * The core of the daemon: decides what an observation proves, given the snapshot. Pure: it returns facts and changes,
 * and neither reports nor stores anything. The last functions of the file decide, from failed requests, whether the
 * service is down.
 *
 * Three rules hold everywhere. A missing node is first a suspect, and never counts as deleted at once. A reply changes
 * nothing about a node if its request was sent before the last reply about that node. Polling only takes samples, so
 * states between two samples stay unknown.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { afterCensusRead, afterCensusSweep, type Count, emptyCensus, isSameAccount } from "./Baseline.ts"
import { firstState } from "./Belief.ts"
import { Draft } from "./Draft.ts"
import { between, type Fact } from "./Fact.ts"
import { noPlanNames, type PlanNames } from "./catalogue/PlanNames.ts"
import { conclude as concludeAbsence, restartHolds, swept } from "./ListGuard.ts"
import { next, type Sighting } from "./NodeMachine.ts"
import type { Observation, PageRead, SweepCompleted } from "./Observation.ts"
import type { Change, Rules, Snapshot } from "./Snapshot.ts"

export interface Difference extends Change {
  /** The facts, in the order in which they are reported. */
  readonly facts: ReadonlyArray<Fact>
}

/** What `observation` proves beyond `snapshot`. `names`: the names of plans in the catalogue. */
export const diff = (
  snapshot: Snapshot,
  observation: Observation,
  rules: Rules,
  names: PlanNames = noPlanNames
): Difference => {
  const draft = new Draft(snapshot, observation, rules, names)
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

/**
 * The nodes of a page, each once: a page may repeat a node, and then the first record counts. A page with ascending ids has no
 * repeated nodes.
 */
const distinct = (nodes: ReadonlyArray<Node>): Iterable<Node> => {
  if (nodes.every(({ id }, i) => i === 0 || nodes[i - 1]!.id < id)) return nodes
  const byId = new Map<NodeId, Node>()
  for (const node of nodes) if (!byId.has(node.id)) byId.set(node.id, node)
  return byId.values()
}

/** What a sighting of one node proves. */
const sighted = (draft: Draft, id: NodeId, sighting: Sighting): void => {
  const before = draft.belief(id)
  const step = next(before, id, sighting, draft)
  if (step === null) return
  if (step.after !== before) draft.put(id, step.after)
  if (sighting._tag !== "Denied" && "state" in step.after) draft.seen.push(id)
  draft.report(step)
  if (sighting._tag === "Denied") concludeAbsence(draft, id, null)
}

const interpret = (draft: Draft, answer: Answer): void => {
  switch (answer._tag) {
    case "PageRead": {
      const { sweep } = answer
      for (const node of distinct(answer.nodes)) sighted(draft, node.id, { _tag: "Listed", node, sweep })
      for (const id of answer.unreadable) sighted(draft, id, { _tag: "ListedUnread", sweep })
      if (answer.isEnd) noteEnd(draft, answer)
      return
    }
    case "NodeFound":
      return sighted(draft, answer.node.id, { _tag: "Found", node: answer.node })
    case "NodeMissing":
      return sighted(draft, answer.nodeId, { _tag: "Denied" })
    case "SweepCompleted":
      restartHolds(draft)
      afterCompleteSweep(draft)
      // If the sweep began before the baseline, it proves nothing about nodes that were on its first pages.
      if (answer.asked.order >= draft.evidence.baselineOrder) {
        swept(draft, answer)
        noteSwept(draft, answer)
      }
      acceptAccount(draft)
  }
}

/** The time of the last complete sweep is written at most this often, so that a quiet account writes little. */
const minWriteMillis = 60_000

/** Records a complete sweep. A node that appears later, and is unknown, is new. */
const noteSwept = (draft: Draft, { answered, asked, requests, sweep: number }: SweepCompleted): void => {
  const usualRequests = Math.min(requests, draft.evidence.swept?.requests ?? requests)
  draft.note({ swept: { asked, answered, number, requests, usualRequests } })
  const { sweptMillis } = draft.standing
  const sinceMillis = asked.atMillis - (sweptMillis ?? -Infinity)
  if (sinceMillis >= 0 && sinceMillis < minWriteMillis) return
  draft.change({ sweptMillis: asked.atMillis, sweptServiceMillis: asked.serviceMillis })
}

/** Records where the list ended: no node had a greater id. */
const noteEnd = (draft: Draft, { asked, nodes, unreadable }: PageRead): void => {
  const lastId = Math.max(draft.evidence.tail?.lastId ?? 0, ...nodes.map(({ id }) => id), ...unreadable)
  draft.note({ tail: { asked, lastId } })
}

/** Notes that the list belongs to the known account. */
const acceptAccount = (draft: Draft): void => {
  const { fingerprint, stranger } = draft.standing
  const key = draft.evidence.fingerprint
  if (key !== null && key !== fingerprint) draft.change({ fingerprint: key })
  if (stranger === null) return
  draft.change({ stranger: null })
  draft.recover("other-account", "same-account", stranger.sinceMillis)
}

/** Before the baseline, checks the list: nothing is believed until two lists agree. */
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

/** Sets the baseline if the list is believed; otherwise keeps the state of the check. */
const conclude = (draft: Draft, counted: Count): void => {
  if ("census" in counted) return draft.note({ census: counted.census })
  const { evidence, now } = draft
  // If a single read completes the baseline, the nodes were last seen by the sweep before it.
  const seenMillis = (evidence.swept?.asked ?? now).atMillis
  // Versions start at the current time, because an account may be watched again with a new store, and must not repeat versions
  // of the old store.
  draft.begin(Array.from(counted.nodes.values(), (node) => firstState(node, draft.exchange, now.atMillis, seenMillis)))
  draft.note({ census: emptyCensus(), baselineOrder: now.order })
  draft.change({ baselineMillis: now.atMillis, fingerprint: evidence.fingerprint })
  const fromMillis = (evidence.census.asked ?? evidence.swept?.asked ?? now).atMillis
  draft.reportBaseline(counted.nodes.size, between(fromMillis, now.atMillis), evidence.swept?.number ?? null)
}

/** Whether the API key differs from the one that read the nodes. */
const isOtherKey = ({ evidence, standing }: Draft): boolean =>
  evidence.fingerprint !== null && standing.fingerprint !== null && evidence.fingerprint !== standing.fingerprint

/** With another key nothing is believed until a whole list has shown that it belongs to the same account. */
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
  const message = `The API key, project or location has changed: the list has none of the ${expected} known nodes but ${sweep.listed} others, and no event reports them.`
  draft.degrade({ trouble: "other-account", message, expected, missing: expected })
}

/** Nothing was observed for a while, so suspicions from before are discarded. */
const pause = (draft: Draft): void => {
  for (const id of draft.snapshot.unsettled) {
    const belief = draft.belief(id)!
    draft.put(
      id,
      "state" in belief ? { ...belief, absence: null, hidden: null, impossible: null } : { ...belief, returning: null }
    )
  }
  draft.note({ begun: draft.now, losses: [] })
}

/**
 * This many failed requests in a row are an outage: the list counts as unreadable. Its start and end are reported once each;
 * single failed requests are never reported.
 */
const maxFailures = 3

/** This long without a complete sweep is an outage, too; or two planned intervals, if they are longer. */
const minLateMillis = 60_000

/** An outage is over after a complete sweep, and no failed request for this long. */
const quietMillis = 60_000

/** A request failed. */
const afterFailure = (draft: Draft, message: string): void => {
  const { now } = draft
  draft.note({ failures: draft.evidence.failures + 1, failedMonotonicMillis: now.monotonicMillis })
  if (draft.evidence.failures >= maxFailures || isLate(draft)) degrade(draft, message)
}

/** A request was answered. */
const afterAnswer = (draft: Draft): void => {
  if (draft.evidence.failures > 0) draft.note({ failures: 0 })
  afterSilence(draft)
}

/** Time passed. There may have been no reply, because a request hangs, or the service asked for a long pause. */
const afterSilence = (draft: Draft): void => {
  if (isLate(draft)) degrade(draft, "No complete list was read for too long.")
}

const isLate = ({ evidence, now, rules }: Draft): boolean => {
  const since = Math.max(evidence.completedMonotonicMillis, evidence.begun.monotonicMillis)
  return now.monotonicMillis - since > Math.max(minLateMillis, 2 * rules.sweepMillis)
}

const degrade = (draft: Draft, message: string): void => {
  if (draft.standing.outage !== null) return
  draft.change({ outage: { sinceMillis: draft.now.atMillis } })
  draft.degrade({ trouble: "sweep-failed", message, expected: draft.snapshot.nodes.size, missing: 0 })
}

/** The list was read to its end. */
const afterCompleteSweep = (draft: Draft): void => {
  const { evidence, now, standing } = draft
  draft.note({ completedMonotonicMillis: now.monotonicMillis })
  if (standing.outage === null || now.monotonicMillis - evidence.failedMonotonicMillis < quietMillis) return
  draft.change({ outage: null })
  draft.recover("sweep-failed", "reachable", standing.outage.sinceMillis)
}
