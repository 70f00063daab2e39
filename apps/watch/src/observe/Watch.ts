/**
 * The snapshot, and the one way to change it: an observation goes through the diff, the snapshot changes and the events are
 * published, all at once. A store makes this step a transaction.
 */
import { Effect, Random } from "effect"
import { diff } from "../diff/diff.ts"
import type { Rules } from "../diff/Rules.ts"
import type { Fact } from "../diff/Fact.ts"
import type { Observation } from "../diff/Observation.ts"
import { makeSnapshot, type Snapshot, unwatched } from "../diff/Snapshot.ts"
import { type Event, toEvent } from "../events/Event.ts"
import type { Moments } from "./Moments.ts"

export interface Watch {
  /** Only `observe` changes it. */
  readonly snapshot: Snapshot
  /** Takes in an observation, and publishes what happened by the rules. Nothing can come between the two. */
  readonly observe: (observation: Observation, rules: Rules) => Effect.Effect<ReadonlyArray<Fact>>
}

export interface WatchOptions {
  /** Name of the account in `source` and in the ids. */
  readonly account: string
  readonly moments: Moments
  readonly publish: (events: ReadonlyArray<Event>) => void
}

const maxSeed = 2 ** 31

export const makeWatch = Effect.fnUntraced(function* ({ account, moments, publish }: WatchOptions) {
  const seed = yield* Random.nextIntBetween(0, maxSeed)
  const { apply, snapshot } = makeSnapshot(unwatched, { seed, fingerprint: null, begun: yield* moments.now })
  let sequence = 0
  const observe = (observation: Observation, rules: Rules) =>
    Effect.sync(() => {
      const { facts, ...change } = diff(snapshot, observation, rules)
      apply(change)
      if (facts.length > 0) publish(facts.map((fact) => toEvent(fact, account, ++sequence)))
      return facts
    })
  const watch: Watch = { snapshot, observe }
  return watch
})
