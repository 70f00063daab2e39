/**
 * A difference in the making: what one observation has proved so far. The rules read and write it; the snapshot itself stays as
 * it is.
 */
import type { Node, NodeId } from "@berth/core/domain/Node"
import { DateTime } from "effect"
import type { Evidence } from "./Evidence.ts"
import type { Ending, Fact, NodeFact, Trouble, WatchDegraded } from "./Fact.ts"
import type { NodeState } from "./NodeState.ts"
import type { Exchange, Observation } from "./Observation.ts"
import type { Rules } from "./Rules.ts"
import type { Change, Snapshot } from "./Snapshot.ts"
import type { Standing } from "./Standing.ts"

/** `[from, to]` in milliseconds since the epoch, both ends included. */
export type Between = readonly [fromMillis: number, toMillis: number]

/** The clock may have been set back between two answers. */
export const between = (fromMillis: number, toMillis: number): Between => [Math.min(fromMillis, toMillis), toMillis]

/** Maps of the evidence that are copied when a rule first writes to them. */
type Copied = "suspicions" | "hidden" | "returns" | "impossible" | "unstated" | "addresses"

export class Draft {
  readonly snapshot: Snapshot
  readonly exchange: Exchange
  readonly rules: Rules
  readonly facts: Array<Fact> = []
  readonly seen: Array<NodeId> = []
  readonly counted: Array<Node> = []
  standing: Standing
  evidence: Evidence
  readonly #nodes = new Map<NodeId, NodeState>()
  #baseline: ReadonlyArray<NodeState> = []
  readonly #copied = new Set<Copied>()

  constructor(snapshot: Snapshot, { answered, asked }: Observation, rules: Rules) {
    this.snapshot = snapshot
    this.exchange = { asked, answered }
    this.rules = rules
    this.standing = snapshot.standing
    this.evidence = snapshot.evidence
  }

  get now(): Exchange["answered"] {
    return this.exchange.answered
  }

  /** The node as it is believed to be now. */
  known(id: NodeId): NodeState | undefined {
    const written = this.#nodes.get(id)
    if (written !== undefined) return written.goneMillis === null ? written : undefined
    return this.snapshot.nodes.get(id)
  }

  write(state: NodeState): void {
    this.#nodes.set(state.node.id, state)
  }

  /** The nodes to begin with, of which none was written before. */
  writeBaseline(states: ReadonlyArray<NodeState>): void {
    this.#baseline = states
  }

  note(change: Partial<Evidence>): void {
    this.evidence = { ...this.evidence, ...change }
  }

  change(change: Partial<Standing>): void {
    this.standing = { ...this.standing, ...change }
  }

  /** One of the evidence's maps, to be written to. */
  writable<const Name extends Copied>(
    name: Name
  ): Map<NodeId, Evidence[Name] extends ReadonlyMap<NodeId, infer A> ? A : never> {
    if (!this.#copied.has(name)) {
      this.#copied.add(name)
      this.note({ [name]: new Map<NodeId, unknown>(this.evidence[name]) })
    }
    return this.evidence[name] as never
  }

  /** Drops an entry; a map without it is not copied. */
  drop(name: Copied, id: NodeId): void {
    if (this.evidence[name].has(id)) this.writable(name).delete(id)
  }

  get result(): Change & { readonly facts: ReadonlyArray<Fact> } {
    const { counted, evidence, exchange, facts, seen, standing } = this
    const nodes = this.#baseline.length > 0 ? this.#baseline : Array.from(this.#nodes.values())
    return { facts, nodes, standing, evidence, seen, exchange, counted }
  }

  /** The first fact after a gap is marked. */
  #mark(): { readonly afterGap?: true } {
    if (!this.evidence.afterGap) return {}
    this.note({ afterGap: false })
    return { afterGap: true }
  }

  /** Reports a fact about a node, of which `specific` is the type and the data that only this type has. */
  report(
    state: NodeState,
    [fromMillis, toMillis]: Between,
    sweep: number | null,
    specific: SpecificTo<NodeFact>,
    version = 0
  ): void {
    const { incarnation, life, node } = state
    const observedBetween = [DateTime.makeUnsafe(fromMillis), DateTime.makeUnsafe(toMillis)] as const
    this.facts.push({
      identity: { nodeId: node.id, incarnation, life, version },
      atMillis: toMillis,
      subject: `nodes/${node.id}`,
      type: specific.type,
      data: { ...specific.data, observedBetween, sweep, ...this.#mark() }
    } as NodeFact)
  }

  /** Reports the baseline of `count` nodes. */
  reportBaseline(count: number, [fromMillis, toMillis]: Between, sweep: number | null): void {
    const observedBetween = [DateTime.makeUnsafe(fromMillis), DateTime.makeUnsafe(toMillis)] as const
    this.facts.push({
      identity: { nodeId: null, incarnation: null, life: null, version: 0 },
      atMillis: toMillis,
      type: "berth.watch.baseline",
      data: { count, observedBetween, sweep, ...this.#mark() }
    })
  }

  /** Reports that a trouble began. The count of troubles is its version, for the clock may repeat an instant. */
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
    const identity = { nodeId: null, incarnation: null, life: null, version: this.standing.troubles }
    return { identity, atMillis: this.now.atMillis }
  }
}

/** The type of a fact about a node, and the data that only this type has. */
type SpecificTo<F> = F extends { readonly type: infer Type; readonly data: infer Data }
  ? { readonly type: Type; readonly data: Omit<Data, "observedBetween" | "sweep" | "afterGap"> }
  : never
