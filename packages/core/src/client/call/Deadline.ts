/**
 * The deadline of a call: the step that ends it, wherever it is, and the instant that steps go by which would rather fail at
 * once than wait in vain.
 */
import { Context, Duration, Effect, Option } from "effect"
import { type ErrorReason, TimedOut } from "../../domain/ErrorReason.ts"
import { monotonicMillis } from "../time/Monotonic.ts"

/** By when several calls have to be over together. */
export interface End {
  /** An instant of the monotonic clock. */
  readonly atMillis: number
  /** How long they were given, which is what their error names. */
  readonly limitMillis: number
}

/** By when every call and every wait of a fiber has to be over, whatever its own deadline; undefined where there is no such limit. */
export const CallsEnd = Context.Reference<End | undefined>("@berthkit/core/client/call/Deadline/CallsEnd", {
  defaultValue: () => undefined
})

/** The end of calls that begin now and have so long, within that of the calls they are a part of. */
export const endIn = (limit: Duration.Input): Effect.Effect<End> =>
  Effect.gen(function* () {
    const outer = yield* CallsEnd
    const limitMillis = Duration.toMillis(Duration.fromInputUnsafe(limit))
    const atMillis = (yield* monotonicMillis) + limitMillis
    return outer !== undefined && outer.atMillis <= atMillis ? outer : { atMillis, limitMillis }
  })

/** Ends every call and every wait within so long; unlimited where that is undefined. */
export const endingWithin =
  (limit: Duration.Input | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    limit === undefined ? effect : Effect.flatMap(endIn(limit), (end) => Effect.provideService(effect, CallsEnd, end))

/** What is left until then, at least 0; `Infinity` without a limit. */
export const leftMillis: Effect.Effect<number> = Effect.zipWith(CallsEnd, monotonicMillis, (end, now) =>
  end === undefined ? Number.POSITIVE_INFINITY : Math.max(0, end.atMillis - now)
)

/**
 * The end of a time limit. Where the program was busy until then, a reply may have come that is not read yet: the outcome of a
 * request is worth the turn of the event loop that reads it.
 */
export const timeUp = (millis: number): Effect.Effect<void> => Effect.andThen(Effect.sleep(millis), Effect.yieldNow)

/** A call, as far as its deadline goes. */
interface Limited {
  /** How long it was given: by itself, or together with others. */
  readonly deadlineMillis: number
  readonly ledger: { readonly sent: TimedOut["sent"] }
}

/** What a call fails with at its deadline. */
export const deadlineReached = ({ deadlineMillis, ledger }: Limited): TimedOut =>
  new TimedOut({ limit: "deadline", afterMillis: deadlineMillis, sent: ledger.sent })

/** Ends a call at its deadline, once its steps have cleaned up. */
export const withDeadline =
  (call: Limited & { readonly leftMillis: number }) =>
  <A>(reply: Effect.Effect<A, ErrorReason>): Effect.Effect<A, ErrorReason> =>
    Effect.flatMap(
      Effect.raceFirst(Effect.asSome(reply), Effect.as(timeUp(call.leftMillis), Option.none<A>())),
      (ended) => (Option.isSome(ended) ? Effect.succeed(ended.value) : Effect.fail(deadlineReached(call)))
    )
