/**
 * What the daemon believes: every node it knows of, tombstones of those it has reported deleted, the standing of the account,
 * and the evidence of this process. `diff` reads it; `apply` is the only place where it changes, after a store has committed
 * the durable part of the difference.
 */
import type { Node, NodeId } from "@berth/core/domain/Node"
import { DateTime } from "effect"
import { type Evidence, initialEvidence } from "./Evidence.ts"
import { isPassing, type NodeState } from "./NodeState.ts"
import type { Exchange, Moment } from "./Observation.ts"
import type { Standing } from "./Standing.ts"

/** A node that was reported deleted: what is kept of it in memory. */
export interface Tombstone {
  readonly createdMillis: number
  readonly life: number
  readonly version: number
}

/** What is kept for good, as a store loads it. Nodes with `goneMillis` are tombstones. */
export interface Durable {
  readonly nodes: Iterable<NodeState>
  readonly standing: Standing
}

export interface Snapshot {
  readonly nodes: ReadonlyMap<NodeId, NodeState>
  readonly tombstones: ReadonlyMap<NodeId, Tombstone>
  readonly standing: Standing
  readonly evidence: Evidence
}

/** What an observation changes in the snapshot. */
export interface Change {
  /** Durable: the nodes to write, those that are gone included. None in a quiet sweep. */
  readonly nodes: ReadonlyArray<NodeState>
  /** Durable: the same object when nothing changed. */
  readonly standing: Standing
  /** All evidence but what is added to it below. */
  readonly evidence: Evidence
  /** Nodes that the exchange showed. */
  readonly seen: ReadonlyArray<NodeId>
  readonly exchange: Exchange
  /** Nodes added to the census. */
  readonly counted: ReadonlyArray<Node>
}

/** Of an account that was never watched. */
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
const maxTombstones = 100_000

const tombstoneOf = ({ life, node, version }: NodeState): Tombstone => ({
  createdMillis: DateTime.toEpochMillis(node.createdAt),
  life,
  version
})

/** What one process knows of its own. */
export interface Process {
  /** Draws samples. */
  readonly seed: number
  /** Of the API key in use; null when keys are not compared. */
  readonly fingerprint: string | null
  readonly begun: Moment
}

/** After a restart it counts as having been in its status for at most so long, whatever the wall clock shows. */
const maxStatusAgeMillis = 86_400_000

/** From one step to the next of a change so large that others need a turn meanwhile. */
const nodesPerStep = 5000

export interface ChangingSnapshot {
  readonly snapshot: Snapshot
  readonly apply: (change: Change) => void
  /** The same in steps. Between them the snapshot is none of either. */
  readonly applying: (change: Change) => Generator<void>
}

/** A snapshot of what was kept for good, and the one way to change it. */
export const makeSnapshot = (durable: Durable, { begun, fingerprint, seed }: Process): ChangingSnapshot => {
  const nodes = new Map<NodeId, NodeState>()
  const tombstones = new Map<NodeId, Tombstone>()
  const seen = new Map<NodeId, Exchange>()
  const transitions = new Map<NodeId, number>()

  const keep = (state: NodeState, sinceMonotonicMillis: number) => {
    const { id } = state.node
    const before = nodes.get(id)
    if (state.goneMillis === null) {
      nodes.set(id, state)
      tombstones.delete(id)
    } else {
      nodes.delete(id)
      seen.delete(id)
      tombstones.delete(id)
      tombstones.set(id, tombstoneOf(state))
    }
    if (state.goneMillis !== null || !isPassing(state.node.status)) transitions.delete(id)
    else if (before?.statusSinceMillis !== state.statusSinceMillis || before.node.status !== state.node.status) {
      transitions.set(id, sinceMonotonicMillis)
    }
  }
  for (const state of durable.nodes) {
    const age = Math.min(Math.max(0, begun.atMillis - state.statusSinceMillis), maxStatusAgeMillis)
    keep(state, begun.monotonicMillis - age)
  }

  const snapshot = {
    nodes,
    tombstones,
    standing: durable.standing,
    evidence: {
      ...initialEvidence(seed, fingerprint, begun),
      afterGap: durable.standing.baselineMillis !== null,
      seen,
      transitions
    }
  }
  function* applying(change: Change): Generator<void> {
    let count = 0
    for (const state of change.nodes) {
      keep(state, change.exchange.answered.monotonicMillis)
      if (++count % nodesPerStep === 0) yield
    }
    for (const id of change.seen) seen.set(id, change.exchange)
    for (const id of tombstones.keys()) {
      if (tombstones.size <= maxTombstones) break
      tombstones.delete(id)
    }
    snapshot.standing = change.standing
    snapshot.evidence = { ...change.evidence, seen, transitions }
    for (const node of change.counted) (change.evidence.census.current as Map<NodeId, Node>).set(node.id, node)
  }
  const apply = (change: Change) => {
    for (const _ of applying(change));
  }
  return { snapshot, apply, applying }
}
