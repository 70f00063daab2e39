/**
 * The polling of one account: sweeps at their interval, and beside them looks at single nodes that are in transition or
 * under suspicion. It asks and waits; what to ask is in `Plan.ts`, what the answers mean in `diff/`.
 */
import { Deferred, Effect, Latch, Random, Result } from "effect"
import type { Nodes } from "@berth/core/client/Nodes"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { NodeId } from "@berth/core/domain/Node"
import type { Rules } from "../diff/diff.ts"
import type { Fact } from "../diff/Fact.ts"
import type { Observation } from "../diff/Observation.ts"
import { backoffMillis } from "./Backoff.ts"
import { budgets } from "./Budget.ts"
import { makeMoments } from "./Moments.ts"
import { makePace } from "./Pace.ts"
import { type Cadence, plan } from "./Plan.ts"
import { sweep } from "./Sweep.ts"
import type { Watch } from "./Watch.ts"

export interface PollerOptions extends Cadence {
  readonly nodes: Nodes["Service"]
  readonly watch: Watch
  readonly rules: Rules
  /** From the start of one sweep to the start of the next. */
  readonly intervalMillis: number
  /** Most requests within any hour, sweeps and looks together. */
  readonly requestsPerHour: number
  /** Waited for before anything is asked: there is room for what it may bring. */
  readonly room: Effect.Effect<void>
  /** Told of everything that happened, after it was told as events. */
  readonly onFacts: (facts: ReadonlyArray<Fact>) => Effect.Effect<void>
}

export interface Poller {
  /** Polls for ever. Fails only when the service refuses the credentials before the first complete sweep. */
  readonly run: Effect.Effect<never, BerthError>
  /** Done once the first sweep is complete. */
  readonly ready: Effect.Effect<void>
}

/** Looks under way at once. After so many the plan is made anew: each may have to wait for its share of the budget. */
const looksAtOnce = 4

const isRefusal = ({ reason }: BerthError) => reason._tag === "Unauthorized" || reason._tag === "Forbidden"

/** How long the service asks to be left alone. */
const askedMillis = ({ reason }: BerthError): number | null =>
  "retryAfterMillis" in reason ? reason.retryAfterMillis : null

const backoff = (failures: number, failure: BerthError) =>
  Effect.flatMap(Random.next, (chance) => Effect.sleep(backoffMillis(failures, chance, askedMillis(failure))))

export const makePoller = Effect.fnUntraced(function* (options: PollerOptions): Effect.fn.Return<Poller> {
  const { fastIntervalMillis, intervalMillis, nodes, room, rules, watch } = options
  const moments = yield* makeMoments
  const { looks: lookBudget, sweeps: sweepBudget } = budgets(options.requestsPerHour)
  const sweepPace = yield* makePace(sweepBudget, moments)
  const lookPace = yield* makePace(lookBudget, moments)
  const ready = yield* Deferred.make<void>()
  const sweepWanted = yield* Latch.make(false)
  const unsettled = yield* Latch.make(false)

  const observe = Effect.fnUntraced(function* (observation: Observation) {
    const facts = yield* watch.observe(observation)
    if (watch.snapshot.unsettled.size > 0) yield* unsettled.open
    else yield* unsettled.close
    if (facts.length > 0) yield* options.onFacts(facts)
  }, Effect.uninterruptible)

  const sweeps = Effect.gen(function* () {
    let failures = 0
    for (let number = 1; ; number++) {
      yield* room
      const began = yield* moments.now
      const { failure, observation } = yield* sweep({ number, nodes, lane: "sweep", moments, pace: sweepPace, observe })
      if (failure !== null && isRefusal(failure) && watch.snapshot.standing.sweptMillis === null) return yield* failure
      yield* observe(observation)
      // Whoever wanted one meanwhile looks at this one first.
      yield* sweepWanted.close
      if (failure === null) {
        failures = 0
        yield* Deferred.succeed(ready, undefined)
        yield* untilNextSweep(began.upMillis)
      } else {
        yield* backoff(++failures, failure)
      }
    }
  })

  /** Until the interval is over, or a sweep is wanted earlier; not before the fast interval is over. */
  const untilNextSweep = Effect.fnUntraced(function* (beganUpMillis: number) {
    const sleepUntil = (upMillis: number) =>
      Effect.flatMap(moments.now, (now) => Effect.sleep(Math.max(0, upMillis - now.upMillis)))
    yield* Effect.raceFirst(
      sleepUntil(beganUpMillis + intervalMillis),
      Effect.andThen(sweepWanted.await, sleepUntil(beganUpMillis + Math.min(fastIntervalMillis, intervalMillis)))
    )
  })

  /** Looks at one node; fails when there was no answer, which says nothing about the node. */
  const look = Effect.fnUntraced(function* (nodeId: NodeId): Effect.fn.Return<void, BerthError> {
    yield* lookPace
    const { answer, answered, asked } = yield* moments.around(
      Effect.result(nodes.get(nodeId, { lane: "wait", retry: false }))
    )
    if (Result.isSuccess(answer)) return yield* observe({ _tag: "NodeFound", asked, answered, node: answer.success })
    if (answer.failure.reason._tag !== "NodeNotFound") return yield* answer.failure
    yield* observe({ _tag: "NodeMissing", asked, answered, nodeId })
  })

  const looks = Effect.gen(function* () {
    let failures = 0
    while (true) {
      yield* unsettled.await
      yield* Deferred.await(ready)
      yield* room
      const { upMillis } = yield* moments.now
      const { looks, sweep } = plan(watch.snapshot, upMillis, rules, options)
      if (sweep) yield* sweepWanted.open
      const results = yield* Effect.forEach(looks.slice(0, looksAtOnce), (id) => Effect.result(look(id)), {
        concurrency: looksAtOnce
      })
      const failed = results.filter(Result.isFailure)
      failures = failed.length > 0 && failed.length === results.length ? failures + 1 : 0
      yield* failures > 0 ? backoff(failures, failed[0]!.failure) : Effect.sleep(fastIntervalMillis)
    }
  })

  return { run: Effect.raceFirst(sweeps, looks), ready: Deferred.await(ready) }
})
