/**
 * `berth-watch once`: one sweep, printed as one baseline event.
 */
import { Effect } from "effect"
import { Nodes } from "@berth/core/client/Nodes"
import { defaultRules } from "../diff/diff.ts"
import { Stdout } from "../deliver/Stdout.ts"
import { type Event, toLine } from "../events/Event.ts"
import { makeMoments } from "../poll/Moments.ts"
import { sweep } from "../poll/Sweep.ts"
import { makeWatch } from "../poll/Watch.ts"
import { endedBy, fromBerthError } from "../process/CommandFailed.ts"

/** Sweeps once and writes the baseline; nothing is written unless the whole list was read. */
export const once = Effect.fn("once")(function* (account: string) {
  const nodes = yield* Nodes
  const { write } = yield* Stdout
  const moments = yield* makeMoments
  const published: Array<Event> = []
  const watch = makeWatch({ account, rules: defaultRules, publish: (events) => published.push(...events) })
  // The user waits for it: it is not paced, and lets no other call go first.
  const { failure, observation } = yield* sweep({
    number: 1,
    nodes,
    lane: "interactive",
    moments,
    pace: Effect.void,
    observe: watch.observe
  })
  if (failure !== null) return yield* fromBerthError(failure)
  yield* watch.observe(observation)
  yield* Effect.catchTag(write(published.map(toLine).join("")), "StreamClosed", endedBy)
})
