/**
 * Feeds the diff by hand: every call is an observation, and returns the facts that it proves. Time passes only in `pass`. The first two
 * sweeps set the baseline, unless a test begins before it.
 */
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { DateTime } from "effect"
import { noPlanNames } from "../../src/diff/catalogue/PlanNames.ts"
import { diff } from "../../src/diff/diff.ts"
import { defaultRules, makeSnapshot, type Rules, unwatched } from "../../src/diff/Snapshot.ts"
import type { Fact } from "../../src/diff/Fact.ts"
import type { NodeState } from "../../src/diff/Belief.ts"
import type { Exchange, Moment, Observation } from "../../src/diff/Observation.ts"
import { nodeId } from "./aNode.ts"

/** A fact without nesting, and with its instants in milliseconds. */
const flat = ({ data, identity, ...fact }: Fact) => ({
  ...fact,
  ...identity,
  ...data,
  ...("observedBetween" in data && { between: data.observedBetween.map(DateTime.toEpochMillis) }),
  ...("since" in data && { sinceMillis: DateTime.toEpochMillis(data.since) })
})
export type FlatFact = ReturnType<typeof flat>

/** Later than any `createdAt` of a test that does not name one. */
const beginMillis = 1_000_000

/** Sweeps that are planned this rarely are never late. */
const patientRules: Rules = { ...defaultRules, sweepMillis: 3_600_000 }

export const byHand = (rules: Rules = patientRules) => {
  let names = noPlanNames
  let order = 0
  let millis = beginMillis
  let stepMillis = 0
  let sweep = 0
  let written = 0
  let fingerprint: string | null = "key"
  const rows = new Map<NodeId, NodeState>()
  let standing = unwatched.standing
  const now = (): Moment => ({
    order: ++order,
    atMillis: millis + stepMillis,
    monotonicMillis: millis,
    serviceMillis: millis
  })
  const load = () => makeSnapshot({ nodes: rows.values(), standing }, { fingerprint, begun: now() })
  let { apply, snapshot } = load()
  const exchange = (): Exchange => ({ asked: now(), answered: now() })
  const observe = (observation: Observation): ReadonlyArray<FlatFact> => {
    const { facts, ...change } = diff(snapshot, observation, rules, names)
    apply(change)
    for (const state of change.nodes) rows.set(state.node.id, state)
    written += change.nodes.length + (change.standing === standing ? 0 : 1)
    standing = change.standing
    return facts.map(flat)
  }
  const begin = () => {
    const asked = now()
    const number = ++sweep
    let listed = 0
    return {
      page: (...nodes: ReadonlyArray<Node>) => {
        listed += nodes.length
        return observe({ _tag: "PageRead", ...exchange(), sweep: number, isEnd: false, nodes, unreadable: [] })
      },
      unreadable: (...ids: ReadonlyArray<number>) =>
        observe({
          _tag: "PageRead",
          ...exchange(),
          sweep: number,
          isEnd: false,
          nodes: [],
          unreadable: ids.map(nodeId)
        }),
      end: (nameless = 0, requests = 2) =>
        observe({ _tag: "SweepCompleted", asked, answered: now(), sweep: number, requests, listed, nameless })
    }
  }
  const whole = (...nodes: ReadonlyArray<Node>) => {
    const sweep = begin()
    return [...sweep.page(...nodes), ...sweep.end()]
  }
  return {
    get snapshot() {
      return snapshot
    },
    get standing() {
      return standing
    },
    /** The evidence that nodes are gone. */
    absences: () =>
      new Map(
        Array.from(snapshot.nodes).flatMap(([id, { absence }]) => (absence === null ? [] : [[id, absence] as const]))
      ),
    /** Nodes that were reported deleted and shown since. */
    returning: () => Array.from(snapshot.gone.values()).filter(({ returning }) => returning !== null),
    /** The number of rows that were written so far, including the row of the account. */
    written: () => written,
    exchange,
    observe,
    /** Reads the catalogue. */
    readsPlans: (read: typeof names) => void (names = read),
    /** Begins a sweep that is read page by page. */
    begin,
    /** A whole sweep of one page. */
    sweep: whole,
    /** The two sweeps of the baseline. */
    baseline: (...nodes: ReadonlyArray<Node>) => {
      whole(...nodes)
      return whole(...nodes)
    },
    /** A single read of the last page of the list. */
    tail: (...nodes: ReadonlyArray<Node>) =>
      observe({ _tag: "PageRead", ...exchange(), sweep: null, isEnd: true, nodes, unreadable: [] }),
    finds: (node: Node) => observe({ _tag: "NodeFound", ...exchange(), node }),
    misses: (id: number) => observe({ _tag: "NodeMissing", ...exchange(), nodeId: nodeId(id) }),
    fails: () => observe({ _tag: "RequestFailed", ...exchange(), message: "The service failed." }),
    /** Time passes without an answer. */
    waits: () => observe({ _tag: "TimePassed", ...exchange() }),
    pauses: (by: number) => {
      const asked = now()
      millis += by
      return observe({ _tag: "Paused", asked, answered: now() })
    },
    /** Kills the process, and starts another one from what was written; perhaps with another key, or without comparing keys. */
    restart: (key = fingerprint) => {
      fingerprint = key
      ;({ apply, snapshot } = load())
    },
    pass: (by: number) => {
      millis += by
      return millis
    },
    /** Sets the wall clock. */
    step: (by: number) => void (stepMillis += by),
    now: () => millis
  }
}

export type ByHand = ReturnType<typeof byHand>

export const types = (facts: ReadonlyArray<FlatFact>) => facts.map(({ type }) => type.replace("berth.", ""))

/** Reads each of the nodes twice, a grace apart; both reads answer 404. */
export const denyTwice = (watch: ByHand, ids: ReadonlyArray<number>, graceMillis = 60_000) => {
  const first = ids.flatMap((id) => watch.misses(id))
  watch.pass(graceMillis)
  return [...first, ...ids.flatMap((id) => watch.misses(id))]
}
