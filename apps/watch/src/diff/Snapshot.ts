/**
 * What the daemon believes: every node it knows of, those that it has reported deleted, the standing of the account, and the evidence of
 * this process. `diff` reads it; `apply` is the only place where it changes, after a store has committed
 * the durable part of the difference.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { type Gone, goneFrom, type Known, known } from "./Belief.ts"
import { type Evidence, initialEvidence } from "./Evidence.ts"
import type { NodeState } from "./NodeState.ts"
import type { Exchange, Moment } from "./Observation.ts"
import type { Standing } from "./Standing.ts"

/** What is kept for good, as a store loads it. Nodes with `goneMillis` are tombstones. */
export interface Durable {
  readonly nodes: Iterable<NodeState>
  readonly standing: Standing
}

export interface Snapshot {
  readonly nodes: ReadonlyMap<NodeId, Known>
  readonly gone: ReadonlyMap<NodeId, Gone>
  /** Those of both of which a read may decide something, or that are in transition. */
  readonly unsettled: ReadonlySet<NodeId>
  readonly standing: Standing
  readonly evidence: Evidence
}

/** What an observation changes in the snapshot. */
export interface Change {
  /** Durable: the nodes to write, those that are gone included. None in a quiet sweep. */
  readonly nodes: ReadonlyArray<NodeState>
  /** What is believed of these now, but for when they were seen. */
  readonly beliefs: ReadonlyMap<NodeId, Known | Gone>
  /** Durable: the same object when nothing changed. */
  readonly standing: Standing
  /** Without the nodes added to its census. */
  readonly evidence: Evidence
  /** Nodes that the exchange showed. */
  readonly seen: ReadonlyArray<NodeId>
  readonly exchange: Exchange
  /** Nodes added to the census. */
  readonly counted: ReadonlyArray<Node>
}

/** The state of an account that was never watched. */
export const unwatched: Durable = {
  nodes: [],
  standing: {
    baselineMillis: null,
    sweptMillis: null,
    sweptServiceMillis: null,
    outage: null,
    freeze: null,
    stranger: null,
    troubles: 0,
    fingerprint: null
  }
}

/** In memory; a store keeps them as long as ids may come back. The oldest go first. */
const maxGone = 100_000

/** What only this process knows. */
export interface Process {
  /** Draws samples. */
  readonly seed: number
  /** Of the API key in use; null when keys are not compared. */
  readonly fingerprint: string | null
  readonly begun: Moment
}

/** After a restart a node counts as having been in its status for at most this long, whatever the wall clock shows. */
const maxStatusAgeMillis = 86_400_000

/** A large change is made in steps of this many nodes, so that others get a turn in between. */
const nodesPerStep = 5000

export interface ChangingSnapshot {
  readonly snapshot: Snapshot
  readonly apply: (change: Change) => void
  /** The same in steps. Between them the snapshot is neither the old one nor the new one. */
  readonly applying: (change: Change) => Generator<void>
}

/** A snapshot of what was kept for good, and the one way to change it. */
export const makeSnapshot = (durable: Durable, { begun, fingerprint, seed }: Process): ChangingSnapshot => {
  const nodes = new Map<NodeId, Seen>()
  const gone = new Map<NodeId, Gone>()
  const unsettled = new Set<NodeId>()

  const keep = (id: NodeId, belief: Known | Gone) => {
    if (isUnsettled(belief)) unsettled.add(id)
    else unsettled.delete(id)
    if ("state" in belief) {
      nodes.set(id, belief)
      gone.delete(id)
      return
    }
    nodes.delete(id)
    gone.set(id, belief)
  }
  for (const state of durable.nodes) {
    const age = Math.min(Math.max(0, begun.atMillis - state.statusSinceMillis), maxStatusAgeMillis)
    keep(state.node.id, state.goneMillis === null ? known(state, begun.monotonicMillis - age) : goneFrom(state))
  }

  const snapshot = {
    nodes,
    gone,
    unsettled,
    standing: durable.standing,
    evidence: { ...initialEvidence(seed, fingerprint, begun), afterGap: durable.standing.baselineMillis !== null }
  }
  function* applying({ beliefs, counted, evidence, exchange, seen, standing }: Change): Generator<void> {
    let count = 0
    for (const [id, belief] of beliefs) {
      keep(id, belief)
      if (++count % nodesPerStep === 0) yield
    }
    for (const id of seen) {
      const node = nodes.get(id)
      if (node !== undefined) node.seen = exchange
    }
    for (const id of gone.keys()) {
      if (gone.size <= maxGone) break
      gone.delete(id)
      unsettled.delete(id)
    }
    snapshot.standing = standing
    snapshot.evidence = evidence
    for (const node of counted) (evidence.census.current as Map<NodeId, Node>).set(node.id, node)
  }
  const apply = (change: Change) => {
    for (const _ of applying(change));
  }
  return { snapshot, apply, applying }
}

/** A quiet page changes nothing of its nodes but this, so it is no reason to copy them. */
type Seen = Omit<Known, "seen"> & { seen: Exchange | null }

const isUnsettled = (belief: Known | Gone): boolean =>
  "state" in belief
    ? belief.absence !== null ||
      belief.hidden !== null ||
      belief.impossible !== null ||
      belief.sinceMonotonicMillis !== null
    : belief.returning !== null
