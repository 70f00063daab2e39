/**
 * The deadline of a call: the step that ends it, wherever it is, and the instant that steps go by which would rather fail at
 * once than wait in vain.
 */
import { Effect, Option } from "effect"
import { type ErrorReason, TimedOut } from "../../domain/ErrorReason.ts"

/**
 * The end of a time limit. Where the program was busy until then, a reply may have come that is not read yet: the outcome of a
 * request is worth the turn of the event loop that reads it.
 */
export const timeUp = (millis: number): Effect.Effect<void> => Effect.andThen(Effect.sleep(millis), Effect.yieldNow)

/** A call, as far as its deadline goes. */
interface Limited {
  readonly deadlineMillis: number
  readonly ledger: { readonly sent: TimedOut["sent"] }
}

/** What a call fails with at its deadline. */
export const deadlineReached = ({ deadlineMillis, ledger }: Limited): TimedOut =>
  new TimedOut({ limit: "deadline", afterMillis: deadlineMillis, sent: ledger.sent })

/** Ends a call at its deadline, once its steps have cleaned up. */
export const withDeadline =
  (call: Limited) =>
  <A>(reply: Effect.Effect<A, ErrorReason>): Effect.Effect<A, ErrorReason> =>
    Effect.flatMap(
      Effect.raceFirst(Effect.asSome(reply), Effect.as(timeUp(call.deadlineMillis), Option.none<A>())),
      (ended) => (Option.isSome(ended) ? Effect.succeed(ended.value) : Effect.fail(deadlineReached(call)))
    )
