/** The present instant on every clock, to compare with the time of a recorded create. */
import { Effect } from "effect"
import { Allowance } from "./Allowance.ts"
import { type Instant, IntentStore } from "./creation/IntentStore.ts"
import { bootClock } from "./files/Boot.ts"
import { stampNow } from "./files/Stamp.ts"
import { Nodes } from "./Nodes.ts"

/** The service's clock is known only from a reply, so without one this reads one node. */
export const instantNow = Effect.gen(function* () {
  const { serviceMillis: known } = yield* Allowance
  if ((yield* known) === 0) {
    yield* Effect.ignore(Nodes.use((nodes) => nodes.listPage({ perPage: 1, lane: "interactive" })))
  }
  const serviceMillis = yield* known
  const store = yield* IntentStore
  const stamp = yield* store === undefined ? Effect.flatMap(bootClock, stampNow) : store.now
  return { ...stamp, serviceMillis } satisfies Instant
})
