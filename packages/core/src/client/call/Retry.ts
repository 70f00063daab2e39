/**
 * Decides whether and when a failed attempt is repeated. Only this module retries within a call, so retries never multiply. A create makes
 * a call per request, and `creation/CreateMachine.ts` decides whether another one follows. The rule is pure (`decide`), with the random
 * draw as a parameter; `make` keeps the budget and waits.
 */
import { Effect, Random, Result } from "effect"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import type { Reply, Task } from "./Attempt.ts"
import type { Repeatable } from "./Operation.ts"

/** Doubled with every attempt, up to the cap. */
const baseMillis = 100
/** The base after a 429. */
const throttledBaseMillis = 1000
const maxBackoffMillis = 20_000
/** A longer `Retry-After` is not waited for: the call fails with it. */
const maxRetryAfterMillis = 120_000

/**
 * Tokens of the budget that all retries of a client share. It limits storms, not restarts, so it bounds the rate of retries and not their
 * number: 35 at once, then 20 a second (decision 0174). Below zero, waiting retries have spent future tokens.
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
  /** Give up after this wait: the deadline has no room for the retry, and the wait slows down callers that retry at once. */
  | { readonly _tag: "GiveUpAfter"; readonly delayMillis: number }
  /** Retry after this wait, at this cost, which is spent now. */
  | { readonly _tag: "Again"; readonly delayMillis: number; readonly cost: number }

/** The inputs of the decision. */
export interface Situation {
  readonly reason: ErrorReason
  readonly repeatable: Repeatable
  /** Attempts so far, including the failed one. */
  readonly attempts: number
  /** Most attempts that the call may make. */
  readonly maxAttempts: number
  /** Tokens in the budget. */
  readonly budget: number
  /** The time until the call's deadline. */
  readonly leftMillis: number
  /** A draw from [0, 1). Half of the wait is fixed, so that no series of draws ends the attempts too soon. */
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
  // Many calls may be told to come back at the same instant; they are spread from there.
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
      // An abandoned call returns its slot.
      yield* Effect.onInterrupt(Effect.sleep(delayMillis), () => Effect.sync(() => (tokens += cost)))
      ledger.backoffMillis = delayMillis
    }
  })
  return <A>(task: Task<A>) =>
    (attempt: Effect.Effect<Reply<A>, ErrorReason>) =>
      retry(task, attempt)
}
