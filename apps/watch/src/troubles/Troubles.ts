/**
 * The current troubles (problems) of a daemon, from its accounts, sinks, store and clock. It remembers since when each trouble
 * lasts.
 */
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import { Clock, Context, Effect, Layer } from "effect"
import type { Outcome } from "../deliver/Health.ts"
import { Sinks } from "../deliver/Sinks.ts"
import type { Retention } from "../store/retention.ts"
import { Store } from "../store/Store.ts"
import type { StoreFailed } from "../store/StoreFailed.ts"
import { cachedFor } from "../telemetry/cachedFor.ts"
import { Progress } from "../telemetry/Progress.ts"
import { afterReading, type ClockSteps } from "./ClockSteps.ts"
import type { DaemonState, Kept } from "./DaemonState.ts"
import { keyOf, type Trouble, troublesOf } from "./table.ts"

/** Maximum age of the numbers of events and bytes, which need a query per account. */
const keptAgeMillis = 10_000

const make = Effect.fnUntraced(function* (retention: Pick<Retention, "maxBytes" | "maxEvents"> | null) {
  const store = yield* Store
  const sinks = yield* Sinks
  const progress = yield* Progress
  const begunMillis = yield* Clock.currentTimeMillis
  let clock: ClockSteps | null = null
  let heartbeat: DaemonState["heartbeat"] = null
  let known: ReadonlyMap<string, number> = new Map()

  const readKept = Effect.gen(function* (): Effect.fn.Return<Kept | null, StoreFailed> {
    if (retention === null) return null
    const first = yield* store.firstKept
    const counts = (yield* store.heads).map(({ account, seq }) => seq + 1 - (first.get(account) ?? seq + 1))
    return { ...retention, events: Math.max(0, ...counts), bytes: yield* store.storeBytes }
  })
  const kept = yield* cachedFor(readKept, keptAgeMillis)

  const readClock = Effect.gen(function* () {
    const atMillis = yield* Clock.currentTimeMillis
    clock = afterReading(clock, { atMillis, monotonicMillis: yield* monotonicMillis })
    return clock.step
  })

  /** The last data from the store, for times when the store cannot be read. */
  let stored: Pick<DaemonState, "sinks" | "kept"> = { sinks: [], kept: null }

  const readStored = Effect.gen(function* () {
    stored = { sinks: yield* sinks.status, kept: yield* kept }
  })

  return {
    current: Effect.gen(function* (): Effect.fn.Return<ReadonlyArray<Trouble>, StoreFailed> {
      const read = yield* Effect.result(readStored)
      const state: DaemonState = {
        nowMillis: yield* Clock.currentTimeMillis,
        begunMillis,
        accounts: yield* progress.accounts,
        store: yield* store.health,
        clock: yield* readClock,
        heartbeat,
        ...stored
      }
      // If the store is already known to fail, a trouble reports that failure, so it need not end the check.
      if (read._tag === "Failure" && state.store === null) return yield* read.failure
      const troubles = troublesOf(state, known)
      known = new Map(troubles.map((trouble) => [keyOf(trouble), trouble.sinceMillis]))
      return troubles
    }),
    /** Takes over the start times of troubles that another process has seen, by key. */
    remember: (since: ReadonlyMap<string, number>) =>
      Effect.sync(() => {
        known = new Map([...since, ...known])
      }),
    /** Why the monitor gets no heartbeat, and since when; null if it gets one. */
    heartbeat: Effect.sync(() => heartbeat),
    /** Takes over the state of the heartbeat, which the process that sends the heartbeat has put into the store. */
    hearHeartbeat: (heard: DaemonState["heartbeat"]) => Effect.sync(() => void (heartbeat = heard)),
    /** Records how a heartbeat ended. */
    noteHeartbeat: (outcome: Outcome) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        heartbeat =
          outcome._tag === "Delivered" ? null : { reason: outcome.reason, sinceMillis: heartbeat?.sinceMillis ?? now }
      })
  }
})

export class Troubles extends Context.Service<Troubles, Effect.Success<ReturnType<typeof make>>>()(
  "@berthkit/watch/troubles/Troubles"
) {
  /** `retention`: the limits of the store; null if unknown. */
  static readonly layer = (retention: Pick<Retention, "maxBytes" | "maxEvents"> | null) =>
    Layer.effect(Troubles, make(retention))
}
