/**
 * The heart of the daemon: what an observation proves, given the snapshot. Pure: it returns what happened and what changes, and
 * does neither.
 *
 * Three rules hold everywhere. An absent node is suspected, never deleted on sight. A reply to a request from before the last
 * known reply changes nothing. Only samples are reported, so states in between stay unknown.
 */
import { DateTime, Struct } from "effect"
import { Node, type NodeId, noneWhenNull } from "@berth/core/domain/Node"
import { isKnown, type NodeStatus } from "@berth/core/domain/NodeStatus"
import { afterMissing, afterSweep, believe, confirmedGone, type Grace, isExpectedToGo } from "./Absence.ts"
import type { Ending, Fact, Trouble, WatchDegraded } from "./Fact.ts"
import { type Census, stepFreeze } from "./Freeze.ts"
import type { Exchange, Observation, SweepCompleted, SweepFailed } from "./Observation.ts"
import type { Change, Known, Snapshot, Standing, Tombstone } from "./Snapshot.ts"

/** How careful to be. */
export interface Rules extends Grace {
  /** How long a list too short to be believed has to stay so before it is. */
  readonly holdMillis: number
}

/** A late report of a node that vanished harms less than a false report of a deletion. */
export const defaultRules: Rules = { graceMillis: 5000, terminatingGraceMillis: 1000, holdMillis: 600_000 }

export interface Difference extends Change {
  /** What happened, in the order to report it. */
  readonly facts: ReadonlyArray<Fact>
}

/** A difference in the making. */
class Draft {
  readonly facts: Array<Fact> = []
  readonly known: Array<Known> = []
  readonly tombstones: Array<Tombstone> = []
  standing: Standing
  readonly snapshot: Snapshot
  constructor(snapshot: Snapshot) {
    this.snapshot = snapshot
    this.standing = snapshot.standing
  }
}

/** What `observation` proves beyond `snapshot`. */
export const diff = (snapshot: Snapshot, observation: Observation, rules: Rules): Difference => {
  const draft = new Draft(snapshot)
  switch (observation._tag) {
    case "PageRead":
      for (const node of distinct(observation.nodes)) sighted(draft, node, observation, observation.sweep)
      break
    case "NodeFound":
      sighted(draft, observation.node, observation, null)
      break
    case "NodeMissing":
      missed(draft, observation.nodeId, observation, rules)
      break
    case "SweepCompleted":
      swept(draft, observation, rules)
      break
    case "SweepFailed":
      sweepFailed(draft, observation)
      break
  }
  const { facts, known, standing, tombstones } = draft
  return { facts, known, tombstones, standing }
}

/** A page may repeat a node; its first mention counts. */
const distinct = (nodes: ReadonlyArray<Node>): Iterable<Node> => {
  const byId = new Map<NodeId, Node>()
  for (const node of nodes) if (!byId.has(node.id)) byId.set(node.id, node)
  return byId.values()
}

/** Two answers may write one creation with and without fractions of a second. */
const incarnationOf = (node: Node): number => Math.floor(DateTime.toEpochMillis(node.createdAt) / 1000)

const isSameIncarnation = (known: Known, node: Node): boolean =>
  Math.abs(DateTime.toEpochMillis(known.node.createdAt) - DateTime.toEpochMillis(node.createdAt)) < 1000

/** Spelling does not make another status (decision 10). */
const spelling = (status: NodeStatus): string =>
  isKnown(status) ? status : `unknown:${status.unknown.toLowerCase().replace(/[\s_-]/g, "")}`

/** `[from, to]` in milliseconds since the epoch, both ends included. */
type Between = readonly [fromMillis: number, toMillis: number]

/** The clock may have been set back between two answers. */
const between = (fromMillis: number, toMillis: number): Between => [Math.min(fromMillis, toMillis), toMillis]

/** Fields whose null may only mean that one of the three record shapes leaves them out (decision 8). */
const omissible = Struct.keys(Struct.omit(Node.fields, noneWhenNull))

/** The node as it was seen now, with the fields that this record lacks taken from an earlier one. */
const completed = (node: Node, { node: earlier }: Known): Node => {
  const omitted = omissible.filter((field) => node[field] === null && earlier[field] !== null)
  if (omitted.length === 0) return node
  return { ...node, ...Object.fromEntries(omitted.map((field) => [field, earlier[field]])) }
}

/** A node was there. */
const sighted = (draft: Draft, node: Node, seen: Exchange, sweep: number | null): void => {
  const known = draft.snapshot.nodes.get(node.id)
  if (known === undefined) return met(draft, node, seen, sweep)
  if (seen.asked.order < known.seen.answered.order) return
  if (!isSameIncarnation(known, node)) return replaced(draft, known, node, seen, sweep)

  const { freeze } = draft.standing
  if (freeze !== null && known.absence?.unlisted) {
    // A missing node is alive, so the hold begins again.
    const heldFromMonotonicMillis = seen.answered.monotonicMillis
    draft.standing = { ...draft.standing, freeze: { ...freeze, heldFromMonotonicMillis } }
  }
  const changed = spelling(known.node.status) !== spelling(node.status)
  const reported = changed && draft.standing.sweptMillis !== null
  const next: Known = {
    ...known,
    node: completed(node, known),
    seen,
    statusSinceMonotonicMillis: changed ? seen.answered.monotonicMillis : known.statusSinceMonotonicMillis,
    changes: reported ? known.changes + 1 : known.changes,
    absence: null
  }
  draft.known.push(next)
  if (reported) {
    draft.facts.push(statusChanged(known, next, between(known.seen.asked.atMillis, seen.answered.atMillis), sweep))
  }
}

/** A node as it is first seen; `revived` is the tombstone of the same incarnation. */
const firstSeen = (node: Node, seen: Exchange, revived?: Tombstone): Known => ({
  node,
  incarnation: incarnationOf(node),
  metOrder: seen.answered.order,
  seen,
  statusSinceMonotonicMillis: seen.answered.monotonicMillis,
  changes: revived?.changes ?? 0,
  lives: (revived?.lives ?? 0) + 1,
  absence: null
})

/** A node was there that is not known: new, or reported deleted before. */
const met = (draft: Draft, node: Node, seen: Exchange, sweep: number | null): void => {
  const tombstone = draft.snapshot.tombstones.get(node.id)
  if (tombstone !== undefined && seen.asked.order < tombstone.order) return
  const known = firstSeen(node, seen, tombstone?.incarnation === incarnationOf(node) ? tombstone : undefined)
  draft.known.push(known)
  const { sweptMillis } = draft.standing
  if (sweptMillis !== null) draft.facts.push(created(known, between(sweptMillis, seen.answered.atMillis), sweep))
}

/** Another node has taken the id: the known one is gone, whatever the list shows. */
const replaced = (draft: Draft, known: Known, node: Node, seen: Exchange, sweep: number | null): void => {
  const next = firstSeen(node, seen)
  draft.known.push(next)
  if (draft.standing.sweptMillis === null) return
  const when = between(known.seen.asked.atMillis, seen.answered.atMillis)
  draft.facts.push(deleted(known, when, sweep), created(next, when, sweep))
}

/** A read of a node answered 404. */
const missed = (draft: Draft, nodeId: NodeId, read: Exchange, rules: Rules): void => {
  const known = draft.snapshot.nodes.get(nodeId)
  if (known === undefined || read.asked.order < known.seen.answered.order) return
  const suspect: Known = { ...known, absence: afterMissing(known, read, rules) }
  if (!deleteIfGone(draft, suspect, null)) draft.known.push(suspect)
}

/** The list was read to its end. */
const swept = (draft: Draft, sweep: SweepCompleted, rules: Rules): void => {
  const { outage } = draft.standing
  if (outage !== null) draft.facts.push(recovered("sweep-failed", "reachable", outage.sinceMillis, sweep))
  const isFirst = draft.standing.sweptMillis === null
  if (isFirst) draft.facts.push(baseline(draft.snapshot, sweep))

  const suspects: Array<Known> = []
  const census = { listed: sweep.listed, expected: 0, missing: 0, missingConfirmed: true }
  for (const known of draft.snapshot.nodes.values()) {
    // A read during the sweep counts too: a node that was seen since the sweep began is not absent.
    const absent = known.seen.answered.order < sweep.asked.order
    const doubted = !isExpectedToGo(known) && known.absence?.believed !== true
    if (doubted && known.metOrder < sweep.asked.order) census.expected++
    if (absent) {
      suspects.push({ ...known, absence: afterSweep(known.absence, sweep.asked) })
      if (doubted) {
        census.missing++
        const confirmedOrder = known.absence?.confirmed?.answered.order ?? Infinity
        if (confirmedOrder > sweep.asked.order) census.missingConfirmed = false
      }
    } else if (isFirst) {
      draft.known.push(fromBaseline(known, sweep))
    } else if (known.absence !== null) {
      suspects.push(known)
    }
  }

  const ended = updateFreeze(draft, census, sweep, rules)
  for (const { absence, ...known } of suspects) {
    const suspect = { ...known, absence: ended === "persisted" && absence?.unlisted ? believe(absence) : absence }
    if (!deleteIfGone(draft, suspect, sweep.sweep)) draft.known.push(isFirst ? fromBaseline(suspect, sweep) : suspect)
  }
  draft.standing = {
    ...draft.standing,
    outage: null,
    sweptMillis: sweep.asked.atMillis,
    sweepRequests: sweep.requests
  }
}

/**
 * How many versions a node of the baseline had before is unknown. Counting on from the present instant keeps the ids of
 * its changes apart from those that an earlier run has published.
 */
const fromBaseline = (known: Known, sweep: SweepCompleted): Known => ({ ...known, changes: sweep.answered.atMillis })

/** Freezes deletions or permits them again; returns how a freeze ended. */
const updateFreeze = (draft: Draft, census: Census, sweep: SweepCompleted, rules: Rules): Ending | null => {
  const before = draft.standing.freeze
  const { ended, freeze } = stepFreeze(before, census, sweep.answered, rules.holdMillis)
  draft.standing = { ...draft.standing, freeze }
  if (before === null && freeze !== null) {
    const { expected, missing } = census
    const message =
      freeze.trouble === "list-empty"
        ? `The list is empty, though ${expected} nodes were known; no deletion is reported until the list is believed again.`
        : `${missing} of ${expected} nodes are gone at once; no deletion is reported until the list is believed again.`
    draft.facts.push(degraded({ trouble: freeze.trouble, message, expected, missing }, sweep))
  }
  if (before !== null && ended !== null) {
    draft.facts.push(recovered(before.trouble, ended, before.sinceMillis, sweep))
  }
  return ended
}

/** The list could not be read to its end: its pages were taken in already, and missing nodes mean nothing. */
const sweepFailed = (draft: Draft, sweep: SweepFailed): void => {
  if (draft.standing.outage !== null) return
  draft.standing = { ...draft.standing, outage: { sinceMillis: sweep.answered.atMillis } }
  const expected = draft.snapshot.nodes.size
  draft.facts.push(degraded({ trouble: "sweep-failed", message: sweep.message, expected, missing: 0 }, sweep))
}

/** Reports a node deleted when the evidence suffices and no freeze forbids it. */
const deleteIfGone = (draft: Draft, suspect: Known, sweep: number | null): boolean => {
  const proof = confirmedGone(suspect)
  if (proof === null || draft.standing.freeze !== null || draft.standing.sweptMillis === null) return false
  const { changes, incarnation, lives, node, seen } = suspect
  draft.tombstones.push({ nodeId: node.id, incarnation, order: proof.answered.order, changes, lives })
  draft.facts.push(deleted(suspect, between(seen.asked.atMillis, proof.answered.atMillis), sweep))
  return true
}

const observedBetween = ([from, to]: Between) => [DateTime.makeUnsafe(from), DateTime.makeUnsafe(to)] as const

/** The head of a fact about a node, and the part of its data that every such fact has. */
const aboutNode = ({ incarnation, node: { id } }: Known, version: number, when: Between, sweep: number | null) => ({
  head: { identity: { nodeId: id, incarnation, version }, atMillis: when[1], subject: `nodes/${id}` },
  observed: { observedBetween: observedBetween(when), sweep }
})

const created = (known: Known, when: Between, sweep: number | null): Fact => {
  const { head, observed } = aboutNode(known, known.lives, when, sweep)
  return { ...head, type: "berth.node.created", data: { before: null, after: known.node, ...observed } }
}

const statusChanged = (known: Known, next: Known, when: Between, sweep: number | null): Fact => {
  const { head, observed } = aboutNode(known, next.changes, when, sweep)
  const [before, after] = [known.node, next.node]
  const data = { from: before.status, to: after.status, before, after, ...observed }
  return { ...head, type: "berth.node.status_changed", data }
}

const deleted = (known: Known, when: Between, sweep: number | null): Fact => {
  const { head, observed } = aboutNode(known, known.lives, when, sweep)
  return { ...head, type: "berth.node.deleted", data: { before: known.node, after: null, ...observed } }
}

const aboutAccount = (version: string, atMillis: number) => ({
  identity: { nodeId: null, incarnation: null, version },
  atMillis
})

const baseline = ({ nodes }: Snapshot, { answered, asked, sweep }: SweepCompleted): Fact => {
  const when = between(asked.atMillis, answered.atMillis)
  const data = {
    nodes: Array.from(nodes.values(), ({ node }) => node),
    observedBetween: observedBetween(when),
    sweep
  }
  return { ...aboutAccount(String(answered.atMillis), answered.atMillis), type: "berth.watch.baseline", data }
}

const degraded = (
  what: Omit<(typeof WatchDegraded.Type)["data"], "sweep">,
  { answered: { atMillis }, sweep }: SweepCompleted | SweepFailed
): Fact => ({
  ...aboutAccount(`${what.trouble}@${atMillis}`, atMillis),
  type: "berth.watch.degraded",
  data: { ...what, sweep }
})

const recovered = (
  trouble: Trouble,
  ending: Ending,
  sinceMillis: number,
  { answered, sweep }: SweepCompleted
): Fact => ({
  ...aboutAccount(`${trouble}@${sinceMillis}`, answered.atMillis),
  type: "berth.watch.recovered",
  data: { trouble, ending, since: DateTime.makeUnsafe(sinceMillis), sweep }
})
