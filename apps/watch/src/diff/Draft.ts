/**
 * A difference under construction: the facts that one observation has proved so far. The rules read and write the draft; the snapshot
 * itself does not change.
 */
import type { Absence } from "@berthkit/core/absence/Absence"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { DateTime } from "effect"
import { type Gone, type Known, known, type NodeState } from "./Belief.ts"
import type { Change, Evidence, Rules, Snapshot, Standing } from "./Snapshot.ts"
import {
  type Between,
  type Ending,
  type Fact,
  instantsOf,
  type NodeFact,
  ofAccount,
  type Trouble,
  type WatchDegraded
} from "./Fact.ts"
import type { PlanNames } from "./catalogue/PlanNames.ts"
import type { Circumstances, NodeStep } from "./NodeMachine.ts"
import type { Exchange, Observation } from "./Observation.ts"
import { learned, type Return } from "./Transition.ts"

export class Draft implements Circumstances {
  readonly snapshot: Snapshot
  readonly exchange: Exchange
  readonly rules: Rules
  readonly names: PlanNames
  readonly facts: Array<Fact> = []
  readonly seen: Array<NodeId> = []
  readonly counted: Array<Node> = []
  standing: Standing
  evidence: Evidence
  readonly #beliefs = new Map<NodeId, Known | Gone>()
  readonly #rows = new Map<NodeId, NodeState>()

  constructor(snapshot: Snapshot, { answered, asked }: Observation, rules: Rules, names: PlanNames) {
    this.snapshot = snapshot
    this.exchange = { asked, answered }
    this.rules = rules
    this.names = names
    this.standing = snapshot.standing
    this.evidence = snapshot.evidence
  }

  get now(): Exchange["answered"] {
    return this.exchange.answered
  }

  /** The current belief about a node. */
  belief(id: NodeId): Known | Gone | undefined {
    return this.#beliefs.get(id) ?? this.snapshot.nodes.get(id) ?? this.snapshot.gone.get(id)
  }

  isNewest(id: NodeId): boolean {
    const { gone, nodes } = this.snapshot
    for (const ids of [nodes.keys(), gone.keys()]) for (const known of ids) if (known >= id) return false
    return true
  }

  known(id: NodeId): Known | undefined {
    const belief = this.#beliefs.get(id)
    if (belief === undefined) return this.snapshot.nodes.get(id)
    return "state" in belief ? belief : undefined
  }

  /** All nodes that may be gone. */
  *suspects(): Iterable<readonly [id: NodeId, absence: Absence, known: Known]> {
    for (const id of this.#unsettled()) {
      const known = this.known(id)
      if (known !== undefined && known.absence !== null) yield [id, known.absence, known]
    }
  }

  /** Nodes that were reported deleted and have been seen since. */
  *returning(): Iterable<readonly [id: NodeId, gone: Gone & { readonly returning: Return }]> {
    for (const id of this.#unsettled()) {
      const belief = this.belief(id)
      if (belief !== undefined && "returning" in belief && belief.returning !== null)
        yield [id, { ...belief, returning: belief.returning }]
    }
  }

  *#unsettled(): Iterable<NodeId> {
    yield* this.snapshot.unsettled
    for (const id of this.#beliefs.keys()) if (!this.snapshot.unsettled.has(id)) yield id
  }

  put(id: NodeId, belief: Known | Gone): void {
    if ("state" in belief && belief.state !== this.known(id)?.state) this.#rows.set(id, belief.state)
    this.#beliefs.set(id, belief)
  }

  /** The node is gone: its row becomes its tombstone. */
  bury(state: NodeState, step: NodeStep): void {
    this.put(state.node.id, step.after)
    this.#rows.set(state.node.id, { ...state, goneMillis: this.now.atMillis })
    this.report(step)
  }

  /** Starts with the baseline nodes, none of which was known before. */
  begin(states: ReadonlyArray<NodeState>): void {
    for (const state of states) this.put(state.node.id, known(state, this.now.monotonicMillis))
  }

  note(change: Partial<Evidence>): void {
    this.evidence = { ...this.evidence, ...change }
  }

  change(change: Partial<Standing>): void {
    this.standing = { ...this.standing, ...change }
  }

  get result(): Change & { readonly facts: ReadonlyArray<Fact> } {
    const { counted, evidence, exchange, facts, seen, standing } = this
    return {
      facts,
      nodes: Array.from(this.#rows.values()),
      beliefs: this.#beliefs,
      standing,
      evidence,
      seen,
      exchange,
      counted
    }
  }

  /**
   * Marks a fact that may be about the last gap: a change that was possible before the gap ended, or a fact about the account before a sweep
   * that began after the gap is complete.
   */
  #mark(changedFrom?: DateTime.Utc): { readonly afterGap?: true } {
    const { baselineOrder, begun } = this.evidence
    if (this.standing.baselineMillis === null || baselineOrder > begun.order) return {}
    const { swept } = this.snapshot.evidence
    const isMarked =
      changedFrom === undefined
        ? swept === null || swept.asked.order < begun.order
        : DateTime.toEpochMillis(changedFrom) < begun.atMillis
    return isMarked ? { afterGap: true } : {}
  }

  /** Reports what a step proved about a node, and remembers how long the node was in its status. */
  report({ facts, learned: lasted }: Pick<NodeStep, "facts" | "learned">): void {
    for (const fact of facts) {
      this.facts.push({ ...fact, data: { ...fact.data, ...this.#mark(fact.data.observedBetween[0]) } } as NodeFact)
    }
    if (lasted !== undefined) this.note({ durations: learned(this.evidence.durations, lasted) })
  }

  /** Reports the baseline of `count` nodes. */
  reportBaseline(count: number, when: Between, sweep: number | null): void {
    this.facts.push({
      identity: ofAccount(0),
      atMillis: when[1],
      type: "berth.watch.baseline",
      data: { count, observedBetween: instantsOf(when), sweep, ...this.#mark() }
    })
  }

  /**
   * Reports that a trouble began. The version is the number of reports about troubles so far, because the clock may repeat an
   * instant.
   */
  degrade(what: Omit<(typeof WatchDegraded.Type)["data"], "sweep" | "afterGap">): void {
    this.change({ troubles: this.standing.troubles + 1 })
    this.facts.push({
      ...this.#aboutTrouble(),
      type: "berth.watch.degraded",
      data: { ...what, sweep: this.evidence.swept?.number ?? null, ...this.#mark() }
    })
  }

  /** Reports that a trouble ended. */
  recover(trouble: Trouble, ending: Ending, sinceMillis: number): void {
    this.change({ troubles: this.standing.troubles + 1 })
    const data = {
      trouble,
      ending,
      since: DateTime.makeUnsafe(sinceMillis),
      sweep: this.evidence.swept?.number ?? null
    }
    this.facts.push({ ...this.#aboutTrouble(), type: "berth.watch.recovered", data: { ...data, ...this.#mark() } })
  }

  #aboutTrouble() {
    return { identity: ofAccount(this.standing.troubles), atMillis: this.now.atMillis }
  }
}
