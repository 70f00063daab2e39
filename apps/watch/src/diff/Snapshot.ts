/**
 * The snapshot: every node that the daemon knows or has reported deleted, the standing (lasting state) of the account, the
 * evidence of this process, and the rules. `diff` reads the snapshot. Only `apply` changes it, after the store has committed
 * the durable part of a difference.
 */
import { type AbsenceRules, defaultAbsenceRules } from "@berthkit/core/absence/Absence"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Schema } from "effect"
import { type Census, emptyCensus } from "./Baseline.ts"
import { type Gone, goneFrom, type Known, known, type NodeState } from "./Belief.ts"
import type { Exchange, Moment } from "./Observation.ts"
import type { Durations, StuckLimits } from "./Transition.ts"

const millis = Schema.Int

/** Why the list is not believed. */
const Doubt = Schema.Literals(["nodes-vanished", "list-empty"])

/** The daemon's lasting knowledge about the account apart from its nodes: the columns of the account's row in the store. */
export const Standing = Schema.Struct({
  /** When the initial nodes were first known; null before. Nothing is reported about nodes before that. */
  baselineMillis: Schema.NullOr(millis),
  /**
   * When the last complete sweep began, on the daemon's wall clock. It may be an earlier sweep, at most a minute before the
   * last one.
   */
  sweptMillis: Schema.NullOr(millis),
  /** The same instant on the service's clock; null if its replies have no date. */
  sweptServiceMillis: Schema.NullOr(millis),
  /** Since when the list cannot be read; null while it can. */
  outage: Schema.NullOr(Schema.Struct({ sinceMillis: millis })),
  /** The freeze: since when no deletion is reported; null if deletions are reported. */
  freeze: Schema.NullOr(Schema.Struct({ doubt: Doubt, sinceMillis: millis })),
  /**
   * A doubt that has ended, but whose end is not reported yet. Deletions are reported. A doubt that follows soon counts
   * as the same doubt.
   */
  settling: Schema.NullOr(Schema.Struct({ doubt: Doubt, sinceMillis: millis })),
  /** Since when the list shows another account; null while it does not. */
  stranger: Schema.NullOr(Schema.Struct({ sinceMillis: millis })),
  /**
   * Number of reports about troubles so far. It serves as the version of those events, because clocks may repeat an instant.
   */
  troubles: Schema.Int,
  /** Fingerprint of the API key that read the nodes; null before the first sweep. */
  fingerprint: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Standing" })
export interface Standing extends Schema.Schema.Type<typeof Standing> {}

/** A complete sweep. */
interface Swept {
  readonly asked: Moment
  readonly answered: Moment
  readonly number: number
  readonly requests: number
  /**
   * The number of requests of this sweep or the previous one, whichever is smaller, because a sweep takes a few more if
   * the list moves meanwhile.
   */
  readonly usualRequests: number
}

/** The end of an ascending list. */
interface Tail {
  readonly asked: Moment
  readonly lastId: number
}

/**
 * Knowledge about the account that only this process has, such as instants on its own clock and the order of answers. It is lost with the
 * process, and the next process collects it again. Knowledge that must not be lost is in `NodeState` or `Standing`.
 */
export interface Evidence {
  /** Fingerprint of the API key in use; null if keys are not compared. */
  readonly fingerprint: string | null
  /** When observing started, or resumed after a pause. */
  readonly begun: Moment
  /** The last complete sweep of this process. */
  readonly swept: Swept | null
  /** The last page that was the end of the list; null before one was seen. */
  readonly tail: Tail | null
  /** How long nodes were in each transitional status, newest last. */
  readonly durations: Durations
  /** When the last sweep was completed, even if its nodes were not believed. */
  readonly completedMonotonicMillis: number
  /** Failed requests in a row. */
  readonly failures: number
  /** When the last request failed. */
  readonly failedMonotonicMillis: number
  /** When nodes were recently reported deleted without having been seen terminating, on the monotonic clock. */
  readonly losses: ReadonlyArray<number>
  /** When the list was last trusted again. */
  readonly trustedMonotonicMillis: number
  /** Whether a node was reported deleted during the current freeze. */
  readonly lostInFreeze: boolean
  /** `Moment.order` of the baseline; -1 without a baseline. A sweep that began before it did not look for all known nodes. */
  readonly baselineOrder: number
  /** The check of the list before its nodes are believed. */
  readonly census: Census
}

const initialEvidence = (fingerprint: string | null, begun: Moment): Evidence => ({
  fingerprint,
  begun,
  swept: null,
  tail: null,
  durations: { creating: [], created: [], terminate: [] },
  completedMonotonicMillis: -Infinity,
  failures: 0,
  failedMonotonicMillis: -Infinity,
  losses: [],
  // After a restart, a doubt has to settle again.
  trustedMonotonicMillis: begun.monotonicMillis,
  lostInFreeze: false,
  baselineOrder: -1,
  census: emptyCensus()
})

/** The part of a snapshot that the store keeps. Nodes with `goneMillis` are tombstones. */
export interface Durable {
  readonly nodes: Iterable<NodeState>
  readonly standing: Standing
}

export interface Snapshot {
  readonly nodes: ReadonlyMap<NodeId, Known>
  readonly gone: ReadonlyMap<NodeId, Gone>
  /** Nodes that are in transition, and existing or gone nodes about which a read may settle a doubt. */
  readonly unsettled: ReadonlySet<NodeId>
  readonly standing: Standing
  readonly evidence: Evidence
}

/** The changes of an observation to the snapshot. */
export interface Change {
  /** Durable: the nodes to write, including those that are gone. Empty after a sweep without changes. */
  readonly nodes: ReadonlyArray<NodeState>
  /** The new beliefs about nodes, except the time at which each was seen. */
  readonly beliefs: ReadonlyMap<NodeId, Known | Gone>
  /** Durable: the new standing; the same object if nothing changed. */
  readonly standing: Standing
  /** The new evidence, without the nodes added to its census. */
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
    settling: null,
    stranger: null,
    troubles: 0,
    fingerprint: null
  }
}

/**
 * Maximum number of tombstones in memory; the oldest are dropped first. The store keeps tombstones for as long as ids may be
 * reused.
 */
const maxGone = 100_000

/** The parts of the snapshot that come from the process. */
export interface Process {
  /** Fingerprint of the API key in use; null if keys are not compared. */
  readonly fingerprint: string | null
  readonly begun: Moment
}

/**
 * After a restart, the time for which a node has been in its status comes from the wall clock, and counts at most this much.
 */
const maxStatusAgeMillis = 86_400_000

/** A large change is made in steps of this many nodes, with other work in between. */
const nodesPerStep = 5000

export interface ChangingSnapshot {
  readonly snapshot: Snapshot
  readonly apply: (change: Change) => void
  /** Does the same in steps. Between two steps the snapshot is partly old and partly new. */
  readonly applying: (change: Change) => Generator<void>
}

/** Makes a snapshot of what the store has, and the only functions that change it. */
export const makeSnapshot = (durable: Durable, { begun, fingerprint }: Process): ChangingSnapshot => {
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
    evidence: initialEvidence(fingerprint, begun)
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

/** `seen` is mutable, because a page without news changes only this field, and the nodes need not be copied. */
type Seen = Omit<Known, "seen"> & { seen: Exchange | null }

const isUnsettled = (belief: Known | Gone): boolean =>
  "state" in belief
    ? belief.absence !== null ||
      belief.hidden !== null ||
      belief.impossible !== null ||
      belief.sinceMonotonicMillis !== null
    : belief.returning !== null

/** How much evidence the daemon needs before it believes an observation. */
export interface Rules extends AbsenceRules, StuckLimits {
  /** The planned interval from the start of one sweep to the start of the next. */
  readonly sweepMillis: number
}

/** The defaults are careful, because a late report of a deletion does less harm than a false one. */
export const defaultRules: Rules = {
  ...defaultAbsenceRules,
  sweepMillis: 30_000,
  minStuckMillis: 60_000,
  stuckMillis: { creating: 1_800_000, created: 1_800_000, terminate: 1_800_000 }
}
