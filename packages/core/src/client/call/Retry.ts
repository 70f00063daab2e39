/**
 * Decides whether and when a failed attempt is repeated. Only this module retries within a call, so retries never multiply. A create makes
 * one call for each of its requests, and `creation/CreateMachine.ts` decides whether it sends another request. The rule is pure (`decide`),
 * with the random draw as a parameter; `make` keeps the budget and waits.
 */
import { Effect, Random, Result } from "effect"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import type { Reply, Task } from "./Attempt.ts"
import type { Repeatable } from "./Operation.ts"

/** The backoff before the first retry. It doubles with every attempt, up to `maxBackoffMillis`. */
const baseMillis = 100
/** The same backoff after a 429. */
const throttledBaseMillis = 1000
const maxBackoffMillis = 20_000
/** The longest `Retry-After` that a call waits for. If the service asks for more, the call fails. */
const maxRetryAfterMillis = 120_000

/**
 * The tokens of a budget that all retries of a client share. The budget bounds how many retries start per second, not their total number:
 * it prevents a storm of retries, but lets every call retry after a restart of the service. After transient failures, 35 start at once,
 * then 20 a second (decision 0174). If the number of tokens is negative, waiting retries have already spent future tokens.
 */
export const fullBudget = 500
const refillPerMilli = 0.28
const transientCost = 14
const throttledCost = 5

/** The budget after `millis`. */
export const refilled = (tokens: number, millis: number): number =>
  Math.min(fullBudget, tokens + millis * refillPerMilli)

/** The action after a failed attempt. */
export type Decision =
  /** Give up now. */
  | { readonly _tag: "GiveUp" }
  /**
   * Give up after this wait. The deadline has no room for another attempt, but the wait slows down callers that would call again at once.
   */
  | { readonly _tag: "GiveUpAfter"; readonly delayMillis: number }
  /** Retry after this wait. The cost is taken from the budget now. */
  | { readonly _tag: "Again"; readonly delayMillis: number; readonly cost: number }

/** The inputs of the decision. */
export interface Situation {
  readonly reason: ErrorReason
  readonly repeatable: Repeatable
  /** Attempts so far, including the failed one. */
  readonly attempts: number
  /** Maximum number of attempts of the call. */
  readonly maxAttempts: number
  /** Tokens in the budget. */
  readonly budget: number
  /** The time until the call's deadline. */
  readonly leftMillis: number
  /** A draw from [0, 1). Only half of the wait is random. Otherwise several small draws could use up all attempts too soon. */
  readonly draw: number
}

const giveUp: Decision = { _tag: "GiveUp" }

/** Decides what follows a failed attempt. Never waits beyond the deadline. */
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
  // The service may tell many calls to come back at the same instant. Their retries start one after the other from that instant on.
  const pacedMillis = Math.max(asked + turnMillis, pauseMillis)
  return pacedMillis >= leftMillis
    ? { _tag: "GiveUpAfter", delayMillis }
    : { _tag: "Again", delayMillis: pacedMillis, cost }
}

/** The retry step for the calls of one client. */
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
      // If the deadline has no room for another attempt, the call fails with the last attempt's reason.
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
      // If the call is interrupted while it waits, its tokens go back to the budget.
      yield* Effect.onInterrupt(Effect.sleep(delayMillis), () => Effect.sync(() => (tokens += cost)))
      ledger.backoffMillis = delayMillis
    }
  })
  return <A>(task: Task<A>) =>
    (attempt: Effect.Effect<Reply<A>, ErrorReason>) =>
      retry(task, attempt)
}
