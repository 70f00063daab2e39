/**
 * The polling of one account: sweeps at their interval, and beside them polls of single nodes that are in transition or under
 * suspicion. It sends and waits; `Schedule.ts` decides what to request, `diff/` what the replies mean.
 */
import type { Nodes } from "@berth/core/client/Nodes"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { NodeId } from "@berth/core/domain/Node"
import { Deferred, Effect, Latch, Random, Result } from "effect"
import type { Rules } from "../diff/Rules.ts"
import type { Fact } from "../diff/Fact.ts"
import type { Observation } from "../diff/Observation.ts"
import { backoffMillis } from "./Backoff.ts"
import type { Moments } from "./Moments.ts"
import { makePace } from "./Pace.ts"
import { requestShares } from "./RequestShare.ts"
import { type Cadence, isAnythingOpen, schedule } from "./Schedule.ts"
import { sweep } from "./Sweep.ts"
import type { Watch } from "./Watch.ts"

export interface PollerOptions extends Cadence {
  readonly nodes: Nodes["Service"]
  readonly moments: Moments
  readonly watch: Watch
  readonly rules: Rules
  /** From the start of one sweep to the start of the next. */
  readonly intervalMillis: number
  /** Maximum number of requests within any hour, sweeps and polls together. */
  readonly requestsPerHour: number
  /** Waited for before every request: there is room for the events that its reply may bring. */
  readonly room: Effect.Effect<void>
  /** Runs with everything that happened, after it was published. */
  readonly onFacts: (facts: ReadonlyArray<Fact>) => Effect.Effect<void>
}

export interface Poller {
  /** Polls for ever. Fails only when the service refuses the credentials before the nodes are known. */
  readonly run: Effect.Effect<never, BerthError>
  /** Done once the nodes that exist are known. */
  readonly ready: Effect.Effect<void>
}

/** Polls under way at once. After so many there is a new schedule: each may have to wait for its share of the requests. */
const maxPollsAtOnce = 4

const isRefusal = ({ reason }: BerthError) => reason.exit === "denied"

/** How long the service asks to wait. */
const retryAfterMillis = ({ reason }: BerthError): number | null =>
  "retryAfterMillis" in reason ? reason.retryAfterMillis : null

const backoff = (failures: number, failure: BerthError) =>
  Effect.flatMap(Random.next, (chance) => Effect.sleep(backoffMillis(failures, chance, retryAfterMillis(failure))))

export const makePoller = Effect.fnUntraced(function* (options: PollerOptions): Effect.fn.Return<Poller> {
  const { fastIntervalMillis, intervalMillis, moments, nodes, room, rules, watch } = options
  const shares = requestShares(options.requestsPerHour)
  const sweepPace = yield* makePace(shares.sweeps, moments)
  const pollPace = yield* makePace(shares.polls, moments)
  const ready = yield* Deferred.make<void>()
  const swept = yield* Deferred.make<void>()
  const sweepDue = yield* Latch.make(false)
  const anyPending = yield* Latch.make(false)

  const observe = Effect.fnUntraced(function* (observation: Observation) {
    const facts = yield* watch.observe(observation)
    if (isAnythingOpen(watch.snapshot, rules)) yield* anyPending.open
    else yield* anyPending.close
    if (watch.snapshot.standing.baselineMillis !== null) yield* Deferred.succeed(ready, undefined)
    if (facts.length > 0) yield* options.onFacts(facts)
  }, Effect.uninterruptible)

  const sweeps = Effect.gen(function* () {
    let failures = 0
    for (let number = 1; ; number++) {
      yield* room
      const began = yield* moments.now
      const result = yield* Effect.result(sweep({ number, nodes, lane: "sweep", moments, pace: sweepPace, observe }))
      if (Result.isFailure(result)) {
        const { failure } = result
        if (isRefusal(failure) && watch.snapshot.standing.baselineMillis === null) return yield* failure
        yield* backoff(++failures, failure)
      } else {
        failures = 0
        yield* observe(result.success)
        // A sweep that became due meanwhile is answered by this one.
        yield* sweepDue.close
        yield* Deferred.succeed(swept, undefined)
        yield* untilNextSweep(began.monotonicMillis)
      }
    }
  })

  /** Until the interval is over, or a sweep is due earlier; not before the fast interval is over. */
  const untilNextSweep = Effect.fnUntraced(function* (beganMonotonicMillis: number) {
    const sleepUntil = (monotonicMillis: number) =>
      Effect.flatMap(moments.now, (now) => Effect.sleep(Math.max(0, monotonicMillis - now.monotonicMillis)))
    yield* Effect.raceFirst(
      sleepUntil(beganMonotonicMillis + intervalMillis),
      Effect.andThen(sweepDue.await, sleepUntil(beganMonotonicMillis + Math.min(fastIntervalMillis, intervalMillis)))
    )
  })

  /** Reads one node; fails when there was no answer, which means nothing about the node. */
  const poll = Effect.fnUntraced(function* (nodeId: NodeId): Effect.fn.Return<void, BerthError> {
    yield* pollPace
    const { answer, answered, asked } = yield* moments.around(
      Effect.result(nodes.get(nodeId, { lane: "wait", retry: false, onReply: moments.takeDate }))
    )
    if (Result.isSuccess(answer)) return yield* observe({ _tag: "NodeFound", asked, answered, node: answer.success })
    if (answer.failure.reason._tag === "NodeNotFound") {
      return yield* observe({ _tag: "NodeMissing", asked, answered, nodeId })
    }
    yield* observe({ _tag: "RequestFailed", asked, answered, message: answer.failure.message })
    return yield* answer.failure
  })

  const polls = Effect.gen(function* () {
    let failures = 0
    while (true) {
      yield* anyPending.await
      yield* Deferred.await(swept)
      yield* room
      const { monotonicMillis } = yield* moments.now
      const due = schedule(watch.snapshot, monotonicMillis, rules, options)
      if (due.sweep) yield* sweepDue.open
      const results = yield* Effect.forEach(due.polls.slice(0, maxPollsAtOnce), (id) => Effect.result(poll(id)), {
        concurrency: maxPollsAtOnce
      })
      const failed = results.filter(Result.isFailure)
      failures = failed.length > 0 && failed.length === results.length ? failures + 1 : 0
      yield* failures > 0 ? backoff(failures, failed[0]!.failure) : Effect.sleep(fastIntervalMillis)
    }
  })

  return { run: Effect.raceFirst(sweeps, polls), ready: Deferred.await(ready) }
})
