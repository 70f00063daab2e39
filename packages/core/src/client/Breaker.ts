/**
 * The circuit breaker: once most calls fail because of the service it stops calling for a while, then
 * lets one call try. One outcome per call, however many attempts it took.
 */
import { Duration, Effect, Exit, Option, Schedule } from "effect"
import { CircuitBreaker } from "effect/persistence"
import { CircuitOpen, type ErrorReason } from "../domain/ErrorReason.ts"

/** Share of the last calls that has to fail. A row of failures proves little where many calls run side by side. */
const tripPolicy = CircuitBreaker.rate({ threshold: 0.8, size: 20, minimumCalls: 10 })

/** How long it stays open: doubled each time it opens again, up to a minute. */
const openFor = Schedule.min([Schedule.exponential("2 seconds"), Schedule.spaced("1 minute")])

/** Only faults of the service count: a 4xx is an answer, and a deadline too short says nothing about the service. */
const isFaultOfService = ({ _tag }: ErrorReason) =>
  _tag === "ServiceFault" || _tag === "ServiceUnavailable" || _tag === "Unreachable" || _tag === "TimedOut"

const classify = <A>(exit: Exit.Exit<A, ErrorReason>): CircuitBreaker.Outcome => {
  if (Exit.isSuccess(exit)) return CircuitBreaker.success
  const reason = Exit.findErrorOption(exit)
  return Option.isSome(reason) && isFaultOfService(reason.value) ? CircuitBreaker.failure() : CircuitBreaker.ignored
}

/** A breaker for one service. */
export const make = Effect.gen(function* () {
  const breaker = yield* CircuitBreaker.make({
    tripPolicy,
    openDuration: openFor
  })
  return <A, R>(call: Effect.Effect<A, ErrorReason, R>): Effect.Effect<A, ErrorReason, R> =>
    breaker
      .execute(call, { key: "service", classify })
      .pipe(
        Effect.catchTag("CircuitBreakerError", ({ reason }) =>
          Effect.fail(
            new CircuitOpen({ retryAfterMillis: "retryAfter" in reason ? Duration.toMillis(reason.retryAfter) : null })
          )
        )
      )
}).pipe(Effect.provide(CircuitBreaker.layerStoreMemory()))
