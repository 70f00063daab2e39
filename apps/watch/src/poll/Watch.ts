/**
 * What the daemon believes, and the one way to change it: an observation goes through the diff, the snapshot is changed
 * and what happened is told, all at once. A store makes this step a transaction.
 */
import { Effect } from "effect"
import { diff, type Rules } from "../diff/diff.ts"
import type { Fact } from "../diff/Fact.ts"
import type { Observation } from "../diff/Observation.ts"
import { makeSnapshot, type Snapshot } from "../diff/Snapshot.ts"
import type { Event } from "../events/Event.ts"
import { fromFact } from "../events/fromFact.ts"

export interface Watch {
  /** Never changed by a reader, but by every `observe`. */
  readonly snapshot: Snapshot
  /** Takes in what was seen, and tells what happened. Nothing can come between the two. */
  readonly observe: (observation: Observation) => Effect.Effect<ReadonlyArray<Fact>>
}

export interface WatchOptions {
  /** Name of the account in `source` and in the ids. */
  readonly account: string
  readonly rules: Rules
  readonly tell: (events: ReadonlyArray<Event>) => void
}

export const makeWatch = ({ account, rules, tell }: WatchOptions): Watch => {
  const { apply, snapshot } = makeSnapshot()
  let sequence = 0
  const observe = (observation: Observation) =>
    Effect.sync(() => {
      const { facts, ...change } = diff(snapshot, observation, rules)
      apply(change)
      if (facts.length > 0) tell(facts.map((fact) => fromFact(fact, account, ++sequence)))
      return facts
    })
  return { snapshot, observe }
}
