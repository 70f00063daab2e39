/**
 * Whether and when a failed attempt is followed by another. The one place that sends again, so that attempts never multiply.
 * The rule is pure (`decide`), with the draw of chance passed in; `make` keeps the budget and waits.
 */
import { Effect, Random, Result } from "effect"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import type { Settings } from "../options/Settings.ts"
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

/** Tokens of the budget: full at first, spent by retries, given back by success. */
export const fullBudget = 500
const transientCost = 14
const throttledCost = 5

/** What follows a failed attempt. */
export type Decision =
  /** Give up now. */
  | { readonly _tag: "GiveUp" }
  /** Give up after this wait: with the budget empty a caller that calls again at once is slowed down, not refused. */
  | { readonly _tag: "GiveUpAfter"; readonly delayMillis: number }
  /** Send again after this wait, at this cost. */
  | { readonly _tag: "Again"; readonly delayMillis: number; readonly cost: number }

/** What the decision rests on. */
export interface Situation {
  readonly reason: ErrorReason
  readonly repeatable: Repeatable
  /** Attempts made so far, the failed one included. */
  readonly attempts: number
  /** Most attempts that the client may make. */
  readonly maxAttempts: number
  /** Tokens left in the budget. */
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
  if (repeatable === "create" && reason.mayBeProcessed) return giveUp
  const asked = "retryAfterMillis" in reason ? (reason.retryAfterMillis ?? 0) : 0
  if (asked > maxRetryAfterMillis) return giveUp
  const isThrottled = reason.retry === "throttled"
  const base = isThrottled ? throttledBaseMillis : baseMillis
  const backoffMillis = Math.min(maxBackoffMillis, base * 2 ** (attempts - 1))
  const delayMillis = Math.max(asked, backoffMillis * (0.5 + draw / 2))
  if (delayMillis >= leftMillis) return giveUp
  const cost = isThrottled ? throttledCost : transientCost
  return cost > budget ? { _tag: "GiveUpAfter", delayMillis } : { _tag: "Again", delayMillis, cost }
}

/** A step for the calls of one client: attempts until one succeeds or no other may follow. */
export const make = ({ maxAttempts }: Pick<Settings, "maxAttempts">) => {
  let budget = fullBudget
  const retry = Effect.fnUntraced(function* <A>(
    { ledger, repeatable, request }: Task<A>,
    attempt: Effect.Effect<Reply<A>, ErrorReason>
  ): Effect.fn.Return<Reply<A>, ErrorReason> {
    let before: ErrorReason | undefined
    while (true) {
      const result = yield* Effect.result(attempt)
      if (Result.isSuccess(result)) {
        budget = Math.min(fullBudget, budget + 1)
        return result.success
      }
      // Having no turn left for another attempt is not why the call fails: the last attempt is.
      const reason = result.failure._tag === "WouldExceedDeadline" ? (before ?? result.failure) : result.failure
      if (reason === before) return yield* Effect.fail(reason)
      before = reason
      const decision = decide({
        reason,
        repeatable,
        attempts: ledger.attempts.length,
        maxAttempts,
        budget,
        leftMillis: request.deadlineAt - (yield* monotonicMillis),
        draw: yield* Random.next
      })
      if (decision._tag === "GiveUp") return yield* Effect.fail(reason)
      yield* Effect.sleep(decision.delayMillis)
      if (decision._tag === "GiveUpAfter") return yield* Effect.fail(reason)
      budget -= decision.cost
      ledger.backoffMillis = decision.delayMillis
    }
  })
  return <A>(task: Task<A>) =>
    (attempt: Effect.Effect<Reply<A>, ErrorReason>) =>
      retry(task, attempt)
}
