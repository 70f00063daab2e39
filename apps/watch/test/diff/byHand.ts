/** The diff fed by hand: every call is an observation, and returns the facts it proves. Time passes only in `pass`. */
import type { Node } from "@berth/core/domain/Node"
import { DateTime } from "effect"
import { defaultRules, diff, type Rules } from "../../src/diff/diff.ts"
import type { Fact } from "../../src/diff/Fact.ts"
import type { Exchange, Moment, Observation } from "../../src/diff/Observation.ts"
import { makeSnapshot } from "../../src/diff/Snapshot.ts"
import { nodeId } from "./aNode.ts"

/** A fact without nesting, its instants in milliseconds. */
const flat = ({ data, identity, ...fact }: Fact) => ({
  ...fact,
  ...identity,
  ...data,
  ...("observedBetween" in data && { between: data.observedBetween.map(DateTime.toEpochMillis) }),
  ...("since" in data && { sinceMillis: DateTime.toEpochMillis(data.since) })
})
export type FlatFact = ReturnType<typeof flat>

export const byHand = (rules: Rules = defaultRules) => {
  const { apply, snapshot } = makeSnapshot()
  let order = 0
  let millis = 1_000_000
  let sweep = 0
  const now = (): Moment => ({ order: ++order, atMillis: millis, monotonicMillis: millis })
  const exchange = (): Exchange => ({ asked: now(), answered: now() })
  const observe = (observation: Observation): ReadonlyArray<FlatFact> => {
    const { facts, ...change } = diff(snapshot, observation, rules)
    apply(change)
    return facts.map(flat)
  }
  const begin = () => {
    const asked = now()
    const number = ++sweep
    let listed = 0
    const extent = () => ({ asked, answered: now(), sweep: number, requests: 2, listed, repeated: 0 })
    return {
      page: (...nodes: ReadonlyArray<Node>) => {
        listed += nodes.length
        return observe({ _tag: "PageRead", ...exchange(), sweep: number, nodes })
      },
      end: () => observe({ _tag: "SweepCompleted", ...extent() }),
      fail: () => observe({ _tag: "SweepFailed", ...extent(), message: "The service failed." })
    }
  }
  return {
    snapshot,
    exchange,
    observe,
    /** Begins a sweep that is read page by page. */
    begin,
    /** A whole sweep of one page. */
    sweep: (...nodes: ReadonlyArray<Node>) => {
      const sweep = begin()
      return [...sweep.page(...nodes), ...sweep.end()]
    },
    finds: (node: Node) => observe({ _tag: "NodeFound", ...exchange(), node }),
    misses: (id: number) => observe({ _tag: "NodeMissing", ...exchange(), nodeId: nodeId(id) }),
    pass: (by: number) => {
      millis += by
      return millis
    },
    now: () => millis
  }
}
