/**
 * The heart of the daemon: what an observation proves, given what is believed already. Pure: it reads the snapshot and
 * says what has happened and what to change, and does neither.
 *
 * Three rules hold everywhere. What is absent is suspected, never deleted on sight. An answer asked for before what is
 * known was answered changes nothing. Nothing is told that was not seen, so states in between stay unknown.
 */
import { DateTime } from "effect"
import type { Node, NodeId } from "@berth/core/domain/Node"
import { isKnown, type NodeStatus } from "@berth/core/domain/NodeStatus"
import { afterMissing, afterSweep, believe, type Grace, isExpectedToGo, proofOfDeath } from "./Absence.ts"
import type { Between, Degraded, Ending, Fact } from "./Fact.ts"
import { type Census, judge } from "./Freeze.ts"
import type { Exchange, Observation, SweepCompleted, SweepFailed } from "./Observation.ts"
import type { Buried, Change, Known, Snapshot, Standing } from "./Snapshot.ts"

/** How careful to be. */
export interface Rules extends Grace {
  /** How long a list too short to be believed has to stay so before it is. */
  readonly holdMillis: number
}

/** Nobody needs to hear within seconds of a node that vanished; everybody would regret a deletion that was none. */
export const defaultRules: Rules = { graceMillis: 5000, terminatingGraceMillis: 1000, holdMillis: 600_000 }

export interface Difference extends Change {
  /** What happened, in the order to tell it. */
  readonly facts: ReadonlyArray<Fact>
}

/** A difference in the making. */
class Draft {
  readonly facts: Array<Fact> = []
  readonly known: Array<Known> = []
  readonly buried: Array<Buried> = []
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
  const { buried, facts, known, standing } = draft
  return { facts, known, buried, standing }
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

/** The clock may have been set back between two answers. */
const between = (fromMillis: number, toMillis: number): Between => [Math.min(fromMillis, toMillis), toMillis]

/** Fields that one of the three record shapes leaves out (decision 8). */
const omissible = ["vcpus", "memoryMib", "diskGb", "plan", "image", "region", "backups", "locked"] as const

/** The node as it was seen now; what this answer leaves out is as an earlier one said. */
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
    // A missing node is alive: whoever believes the list has to begin again.
    draft.standing = { ...draft.standing, freeze: { ...freeze, heldFromUpMillis: seen.answered.upMillis } }
  }
  const after = completed(node, known)
  const changed = spelling(known.node.status) !== spelling(after.status)
  const told = changed && draft.standing.sweptMillis !== null
  if (told) {
    draft.facts.push({
      _tag: "StatusChanged",
      incarnation: known.incarnation,
      version: known.changes + 1,
      before: known.node,
      after,
      from: known.node.status,
      to: after.status,
      between: between(known.seen.asked.atMillis, seen.answered.atMillis),
      sweep
    })
  }
  draft.known.push({
    ...known,
    node: after,
    seen,
    statusSinceUpMillis: changed ? seen.answered.upMillis : known.statusSinceUpMillis,
    changes: told ? known.changes + 1 : known.changes,
    absence: null
  })
}

/** A node was there that is not known: new, or told deleted before. */
const met = (draft: Draft, node: Node, seen: Exchange, sweep: number | null): void => {
  const incarnation = incarnationOf(node)
  const grave = draft.snapshot.buried.get(node.id)
  if (grave !== undefined && seen.asked.order < grave.order) return
  const risen = grave?.incarnation === incarnation ? grave : undefined
  const known: Known = {
    node,
    incarnation,
    metOrder: seen.answered.order,
    seen,
    statusSinceUpMillis: seen.answered.upMillis,
    changes: risen?.changes ?? 0,
    lives: (risen?.lives ?? 0) + 1,
    absence: null
  }
  draft.known.push(known)
  const { sweptMillis } = draft.standing
  if (sweptMillis !== null) tellCreated(draft, known, between(sweptMillis, seen.answered.atMillis), sweep)
}

/** Another node has taken the id: the one known is gone, whatever the list says. */
const replaced = (draft: Draft, known: Known, node: Node, seen: Exchange, sweep: number | null): void => {
  const next: Known = {
    node,
    incarnation: incarnationOf(node),
    metOrder: seen.answered.order,
    seen,
    statusSinceUpMillis: seen.answered.upMillis,
    changes: 0,
    lives: 1,
    absence: null
  }
  draft.known.push(next)
  if (draft.standing.sweptMillis === null) return
  const when = between(known.seen.asked.atMillis, seen.answered.atMillis)
  tellDeleted(draft, known, when, sweep)
  tellCreated(draft, next, when, sweep)
}

/** A look at a node answered 404. */
const missed = (draft: Draft, nodeId: NodeId, look: Exchange, rules: Rules): void => {
  const known = draft.snapshot.nodes.get(nodeId)
  if (known === undefined || look.asked.order < known.seen.answered.order) return
  const suspect: Known = { ...known, absence: afterMissing(known, look, rules) }
  if (!buryIfGone(draft, suspect, null)) draft.known.push(suspect)
}

/** The list was read to its end. */
const swept = (draft: Draft, sweep: SweepCompleted, rules: Rules): void => {
  const { outage } = draft.standing
  if (outage !== null) {
    draft.facts.push({
      _tag: "Recovered",
      trouble: "sweep-failed",
      ending: "reachable",
      sinceMillis: outage.sinceMillis,
      atMillis: sweep.answered.atMillis,
      sweep: sweep.sweep
    })
  }
  const isFirst = draft.standing.sweptMillis === null
  if (isFirst) tellBaseline(draft, sweep)

  const suspects: Array<Known> = []
  const census = { listed: sweep.listed, expected: 0, missing: 0, missingConfirmed: true }
  for (const known of draft.snapshot.nodes.values()) {
    // Also a look during the sweep counts: who was seen since it began is not absent.
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

  const ended = judgeList(draft, census, sweep, rules)
  for (const suspect of suspects) {
    const { absence } = suspect
    const settled = ended === "persisted" && absence?.unlisted ? { ...suspect, absence: believe(absence) } : suspect
    if (!buryIfGone(draft, settled, sweep.sweep)) draft.known.push(isFirst ? fromBaseline(settled, sweep) : settled)
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
 * its changes apart from those that an earlier run has told.
 */
const fromBaseline = (known: Known, sweep: SweepCompleted): Known => ({ ...known, changes: sweep.answered.atMillis })

/** Freezes deletions or lets them go on; says how a freeze ended. */
const judgeList = (draft: Draft, census: Census, sweep: SweepCompleted, rules: Rules): Ending | null => {
  const before = draft.standing.freeze
  const { ended, freeze } = judge(before, census, sweep.answered, rules.holdMillis)
  draft.standing = { ...draft.standing, freeze }
  if (before === null && freeze !== null) {
    const { trouble } = freeze
    const message =
      trouble === "list-empty"
        ? `The list is empty, though ${census.expected} nodes were known; no deletion is told until that is settled.`
        : `${census.missing} of ${census.expected} nodes are gone at once; no deletion is told until that is settled.`
    tellDegraded(draft, { trouble, message, expected: census.expected, missing: census.missing }, sweep)
  }
  if (before !== null && ended !== null) {
    draft.facts.push({
      _tag: "Recovered",
      trouble: before.trouble,
      ending: ended,
      sinceMillis: before.sinceMillis,
      atMillis: sweep.answered.atMillis,
      sweep: sweep.sweep
    })
  }
  return ended
}

/** The list could not be read to its end: what its pages showed was taken in already, what they lacked says nothing. */
const sweepFailed = (draft: Draft, sweep: SweepFailed): void => {
  if (draft.standing.outage !== null) return
  draft.standing = { ...draft.standing, outage: { sinceMillis: sweep.answered.atMillis } }
  const expected = draft.snapshot.nodes.size
  tellDegraded(draft, { trouble: "sweep-failed", message: sweep.message, expected, missing: 0 }, sweep)
}

/** Tells a node deleted when the evidence suffices and no freeze holds it back. */
const buryIfGone = (draft: Draft, suspect: Known, sweep: number | null): boolean => {
  const proof = proofOfDeath(suspect)
  if (proof === null || draft.standing.freeze !== null || draft.standing.sweptMillis === null) return false
  draft.buried.push({
    nodeId: suspect.node.id,
    incarnation: suspect.incarnation,
    order: proof.answered.order,
    changes: suspect.changes,
    lives: suspect.lives
  })
  tellDeleted(draft, suspect, between(suspect.seen.asked.atMillis, proof.answered.atMillis), sweep)
  return true
}

const tellBaseline = (draft: Draft, sweep: SweepCompleted): void => {
  draft.facts.push({
    _tag: "Baseline",
    nodes: Array.from(draft.snapshot.nodes.values(), ({ node }) => node),
    between: between(sweep.asked.atMillis, sweep.answered.atMillis),
    sweep: sweep.sweep
  })
}

const tellDegraded = (
  draft: Draft,
  what: Pick<Degraded, "trouble" | "message" | "expected" | "missing">,
  sweep: SweepCompleted | SweepFailed
): void => {
  draft.facts.push({ _tag: "Degraded", ...what, sinceMillis: sweep.answered.atMillis, sweep: sweep.sweep })
}

const tellCreated = (draft: Draft, known: Known, when: Between, sweep: number | null): void => {
  const { incarnation, lives, node } = known
  draft.facts.push({ _tag: "Created", incarnation, version: lives, after: node, between: when, sweep })
}

const tellDeleted = (draft: Draft, known: Known, when: Between, sweep: number | null): void => {
  const { incarnation, lives, node } = known
  draft.facts.push({ _tag: "Deleted", incarnation, version: lives, before: node, between: when, sweep })
}
