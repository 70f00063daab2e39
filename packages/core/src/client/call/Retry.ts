/**
 * Whether and when a failed attempt is followed by another. Within a call the one place that sends again, so that attempts never multiply;
 * a create is a call for each request, and `creation/CreateMachine.ts` decides whether another follows.
 * The rule is pure (`decide`), with the draw of chance passed in; `make` keeps the budget and waits.
 */
import { Effect, Random, Result } from "effect"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import type { Reply, Task } from "./Attempt.ts"
import type { Repeatable } from "./Operation.ts"

/** Doubled with every attempt, up to the cap. */
const baseMillis = 100
/** Base after a 429. */
const throttledBaseMillis = 1000
const maxBackoffMillis = 20_000
/** A longer `Retry-After` than this is not waited for: the call fails with it. */
const maxRetryAfterMillis = 120_000

/**
 * Tokens of the budget, which the retries of all calls of a client spend. It limits a storm and not a restart, so it says how
 * fast retries go and not how many there are: 35 at once, then 20 a second (decision 0174). Below zero, retries that wait
 * have spent what will come.
 */
export const fullBudget = 500
const refillPerMilli = 0.28
const transientCost = 14
const throttledCost = 5

/** What is in the budget `millis` later. */
export const refilled = (tokens: number, millis: number): number =>
  Math.min(fullBudget, tokens + millis * refillPerMilli)

/** What follows a failed attempt. */
export type Decision =
  /** Give up now. */
  | { readonly _tag: "GiveUp" }
  /** Give up after this wait: the deadline cannot hold the turn of this retry, and a caller that calls again at once is slowed down. */
  | { readonly _tag: "GiveUpAfter"; readonly delayMillis: number }
  /** Send again after this wait, at this cost, which is spent now. */
  | { readonly _tag: "Again"; readonly delayMillis: number; readonly cost: number }

/** What the decision rests on. */
export interface Situation {
  readonly reason: ErrorReason
  readonly repeatable: Repeatable
  /** Attempts made so far, the failed one included. */
  readonly attempts: number
  /** Most attempts that the call may make. */
  readonly maxAttempts: number
  /** Tokens in the budget now. */
  readonly budget: number
  /** What is left of the call's deadline. */
  readonly leftMillis: number
  /** A draw from [0, 1): half of the wait is certain, so that no run of draws lets the attempts end too soon. */
  readonly draw: number
}

const giveUp: Decision = { _tag: "GiveUp" }

/** Decides what follows a failed attempt. Never a wait that the deadline cannot hold. */
export const decide = ({
  attempts,
  budget,
  draw,
  leftMillis,
  maxAttempts,
  reason,
  repeatable
}: Situation): Decision => {
  if (reason.retry === "never" || attempts >= maxAttempts || repeatable === "never") return giveUp
  if (repeatable === "once" && reason.mayBeProcessed) return giveUp
  const asked = "retryAfterMillis" in reason ? (reason.retryAfterMillis ?? 0) : 0
  if (asked > maxRetryAfterMillis) return giveUp
  const isThrottled = reason.retry === "throttled"
  const base = isThrottled ? throttledBaseMillis : baseMillis
  const backoffMillis = Math.min(maxBackoffMillis, base * 2 ** (attempts - 1))
  const pauseMillis = backoffMillis * (0.5 + draw / 2)
  const delayMillis = Math.max(asked, pauseMillis)
  if (delayMillis >= leftMillis) return giveUp
  const cost = isThrottled ? throttledCost : transientCost
  const turnMillis = Math.max(0, cost - budget) / refillPerMilli
  // Many calls may be asked to come back at one instant: their turns begin there.
  const pacedMillis = Math.max(asked + turnMillis, pauseMillis)
  return pacedMillis >= leftMillis
    ? { _tag: "GiveUpAfter", delayMillis }
    : { _tag: "Again", delayMillis: pacedMillis, cost }
}

/** A step for the calls of one client: attempts until one succeeds or no other may follow. */
export const make = () => {
  let tokens = fullBudget
  let countedAt = 0
  const retry = Effect.fnUntraced(function* <A>(
    { ledger, maxAttempts, repeatable, request }: Task<A>,
    attempt: Effect.Effect<Reply<A>, ErrorReason>
  ): Effect.fn.Return<Reply<A>, ErrorReason> {
    let before: ErrorReason | undefined
    while (true) {
      const result = yield* Effect.result(attempt)
      if (Result.isSuccess(result)) return result.success
      // Having no turn left for another attempt is not why the call fails: the last attempt is.
      const reason = result.failure._tag === "WouldExceedDeadline" ? (before ?? result.failure) : result.failure
      if (reason === before) return yield* Effect.fail(reason)
      before = reason
      const now = yield* monotonicMillis
      tokens = refilled(tokens, now - countedAt)
      countedAt = now
      const decision = decide({
        reason,
        repeatable,
        attempts: ledger.attempts.length,
        maxAttempts,
        budget: tokens,
        leftMillis: request.deadlineAt - now,
        draw: yield* Random.next
      })
      if (decision._tag === "GiveUp") return yield* Effect.fail(reason)
      if (decision._tag === "GiveUpAfter")
        return yield* Effect.andThen(Effect.sleep(decision.delayMillis), Effect.fail(reason))
      const { cost, delayMillis } = decision
      tokens -= cost
      // A call that is let go of has no use for its turn.
      yield* Effect.onInterrupt(Effect.sleep(delayMillis), () => Effect.sync(() => (tokens += cost)))
      ledger.backoffMillis = delayMillis
    }
  })
  return <A>(task: Task<A>) =>
    (attempt: Effect.Effect<Reply<A>, ErrorReason>) =>
      retry(task, attempt)
}
