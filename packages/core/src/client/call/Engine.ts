/**
 * The request path: every call of every service goes through this one pipeline. Its order is its documentation.
 */
import { Clock, Context, Duration, Effect, Layer, Random, Result } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import { type ErrorReason, TimedOut } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import * as Admission from "../allowance/Admission.ts"
import * as AllowanceFile from "../allowance/AllowanceFile.ts"
import { AllowanceStore } from "../allowance/AllowanceStore.ts"
import * as Attempt from "./Attempt.ts"
import { authenticated } from "../transport/Authentication.ts"
import * as Breaker from "./Breaker.ts"
import { Observer } from "../telemetry/Observer.ts"
import type { CallOptions, Operation } from "./Operation.ts"
import { optionFault } from "../options/OptionCheck.ts"
import { monotonicMillis, monotonicMillisUnsafe } from "../time/Monotonic.ts"
import { redactor } from "../transport/Redaction.ts"
import { decide, fullBudget, type Repeatable } from "./Retry.ts"
import { type ClientOptions, type InvalidOption, settingsFrom } from "../options/Settings.ts"
import { Transport, type WireRequest } from "../transport/Transport.ts"

/** Gives a listener the reply that a call ended with. It may not hold up a success beyond its deadline, nor a failure at all. */
const told = <A>(
  reply: Effect.Effect<Attempt.Reply<A>, ErrorReason>,
  onReply: NonNullable<CallOptions["onReply"]>,
  { ledger, request: { deadlineAt, deadlineReached } }: Attempt.Task<A>
) =>
  Effect.flatMap(Effect.result(reply), (result) => {
    const ended = Effect.fromResult(result)
    const failed = ledger.reply
    const raw = Result.isSuccess(result)
      ? result.success.raw
      : failed && { status: failed.status, headers: failed.headers, body: failed.excerpt }
    if (raw === null) return ended
    return Effect.flatMap(monotonicMillis, (now) =>
      Effect.timeoutOrElse(Effect.andThen(onReply(raw), ended), {
        duration: Duration.millis(Math.max(0, deadlineAt - now)),
        orElse: () => (Result.isSuccess(result) ? Effect.fail(deadlineReached()) : ended)
      })
    )
  })

export class Engine extends Context.Service<
  Engine,
  {
    /** Makes one call: sends the request, as often as the rules allow, and reads the reply. */
    readonly call: <A>(
      operation: Operation<A>,
      request: WireRequest,
      options?: CallOptions
    ) => Effect.Effect<Attempt.Reply<A>, BerthError>
    /** Longest time a call may take unless it says otherwise. */
    readonly deadline: Duration.Duration
    /** Lane of every call that does not name one; undefined where it is that of the operation. */
    readonly lane: Lane | undefined
    /** What is left of the allowance, and what it becomes. */
    readonly allowance: Pick<Admission.Admission, "current" | "changeAfter">
    /**
     * What the service's clock has certainly reached at an instant of the monotonic clock, in milliseconds since the epoch; 0
     * when it is unknown.
     */
    readonly serviceTimeAt: (monotonicMillis: number) => number
  }
>()("@berth/core/client/call/Engine") {
  static readonly layer = (options: ClientOptions): Layer.Layer<Engine, InvalidOption, Transport> =>
    Layer.effect(
      Engine,
      Effect.gen(function* () {
        const settings = yield* Effect.fromResult(settingsFrom(options))
        const redact = redactor(settings.credentials)
        const transport = yield* Transport
        const sign = authenticated(settings)

        const { allowanceFile } = settings
        const place = allowanceFile === undefined ? yield* AllowanceStore : AllowanceFile.make(allowanceFile)
        const admission = yield* Admission.make(place && (yield* place))
        const guarded = Breaker.make()
        const observer = yield* Observer
        const attempt = Attempt.make({ settings, redact, observer })
        let budget = fullBudget

        /** One attempt, once it is admitted. */
        const once = <A>(task: Attempt.Task<A>) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.flatMap(admission.admit(task.request, restore), (ticket) =>
              // A ticket that nobody gives back would hold up everybody.
              Effect.onExit(attempt(task, ticket, restore), () => ticket.ended(true))
            )
          )

        /** Attempts until one succeeds or no other may follow. */
        const retried = Effect.fnUntraced(function* <A>(
          repeatable: Repeatable,
          { ledger, request }: Attempt.Task<A>,
          attemptOnce: Effect.Effect<Attempt.Reply<A>, ErrorReason>
        ): Effect.fn.Return<Attempt.Reply<A>, ErrorReason> {
          let before: ErrorReason | undefined
          while (true) {
            const result = yield* Effect.result(attemptOnce)
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
              maxAttempts: settings.maxAttempts,
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

        const call = <A>(operation: Operation<A>, wireRequest: WireRequest, options?: CallOptions) =>
          Effect.withFiber((fiber) => {
            const fault = options && optionFault(options)
            if (fault) return Effect.fail(new BerthError({ operation: operation.name, reason: fault, attempts: [] }))
            const deadlineMillis = Duration.toMillis(Duration.fromInputUnsafe(options?.deadline ?? settings.deadline))
            const startedAtMillis = monotonicMillisUnsafe(fiber.getRef(Clock.Clock))
            const ledger: Attempt.Ledger = {
              startedAtMillis,
              attempts: [],
              backoffMillis: 0,
              sent: "no",
              reply: null
            }
            fiber.getRef(Attempt.LedgerBegun)?.(ledger)
            const lane = options?.lane ?? settings.lane ?? operation.lane
            // Every step that waits is told, so that none outlives the caller's patience.
            const request: Admission.Request = {
              lane,
              deadlineAt: startedAtMillis + deadlineMillis,
              deadlineReached: (sent = ledger.sent) =>
                new TimedOut({ limit: "deadline", afterMillis: deadlineMillis, sent })
            }
            const signed = sign(wireRequest)
            const task = {
              operation,
              wireRequest,
              send: (begun) => transport.send(signed, begun),
              request,
              ledger
            } satisfies Attempt.Task<A>
            // Admission is innermost, for every attempt spends allowance.
            return once(task).pipe(
              // The only layer that sends again.
              (attemptOnce) => retried(options?.retry === false ? "never" : operation.repeatable, task, attemptOnce),
              // One outcome per call, and none while the service is left alone.
              guarded,
              (reply) => (options?.onReply ? told(reply, options.onReply, task) : reply),
              Effect.mapError(
                (reason) =>
                  new BerthError({
                    operation: operation.name,
                    reason,
                    attempts: ledger.attempts,
                    reply: ledger.reply
                  })
              ),
              observer ? observer.traced(operation.name) : (done) => done
            )
          })

        const serviceTimeAt = (monotonicMillis: number) => {
          const { clock } = admission.state()
          return clock === undefined ? 0 : Math.floor(monotonicMillis + clock.minAheadMillis)
        }

        const { deadline, lane } = settings
        return Engine.of({ call, deadline, lane, allowance: admission, serviceTimeAt })
      })
    )
}
