/**
 * The deadline of a call. It ends waits, and its instant lets other steps fail early instead of waiting in vain.
 */
import { Context, Duration, Effect } from "effect"
import { TimedOut } from "../../domain/ErrorReason.ts"
import { monotonicMillis } from "../time/Monotonic.ts"

/** The common end of several calls. */
export interface End {
  /** Time on the monotonic clock. */
  readonly atMillis: number
  /** The duration that the calls were given. Their error names it. */
  readonly limitMillis: number
}

/** The time by which all calls and waits of a fiber end, even if their own deadlines are later; undefined without such a limit. */
export const CallsEnd = Context.Reference<End | undefined>("@berthkit/core/client/call/Deadline/CallsEnd", {
  defaultValue: () => undefined
})

/** The end of calls that begin now with this limit. It is never later than the end of the surrounding calls. */
export const endIn = (limit: Duration.Input): Effect.Effect<End> =>
  Effect.gen(function* () {
    const outer = yield* CallsEnd
    const limitMillis = Duration.toMillis(Duration.fromInputUnsafe(limit))
    const atMillis = (yield* monotonicMillis) + limitMillis
    return outer !== undefined && outer.atMillis <= atMillis ? outer : { atMillis, limitMillis }
  })

/** Ends all calls and waits within this time; unlimited if undefined. */
export const endingWithin =
  (limit: Duration.Input | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    limit === undefined ? effect : Effect.flatMap(endIn(limit), (end) => Effect.provideService(effect, CallsEnd, end))

/** The remaining time, at least 0; `Infinity` without a limit. */
export const leftMillis: Effect.Effect<number> = Effect.zipWith(CallsEnd, monotonicMillis, (end, now) =>
  end === undefined ? Number.POSITIVE_INFINITY : Math.max(0, end.atMillis - now)
)

/**
 * Waits for the end of a time limit. If the program was busy until then, a reply may have arrived unread, so it allows one more turn of the
 * event loop.
 */
export const timeUp = (millis: number): Effect.Effect<void> => Effect.andThen(Effect.sleep(millis), Effect.yieldNow)

/** The parts of a call that concern its deadline. */
interface Limited {
  /** The duration that the call was given, alone or together with others. */
  readonly deadlineMillis: number
  readonly request: { readonly deadlineAt: number }
  readonly ledger: { readonly sent: TimedOut["sent"] }
}

/** The failure of a call at its deadline. */
export const deadlineReached = ({ deadlineMillis, ledger }: Limited): TimedOut =>
  new TimedOut({ limit: "deadline", afterMillis: deadlineMillis, sent: ledger.sent })

/** Ends a wait of a call at the call's deadline. */
export const untilDeadline =
  (call: Limited) =>
  <A, E>(wait: Effect.Effect<A, E>): Effect.Effect<A, E | TimedOut> =>
    Effect.flatMap(monotonicMillis, (now) =>
      Effect.raceFirst(
        wait,
        Effect.andThen(
          timeUp(call.request.deadlineAt - now),
          Effect.suspend(() => Effect.fail(deadlineReached(call)))
        )
      )
    )
