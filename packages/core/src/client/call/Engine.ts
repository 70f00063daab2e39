/**
 * The request path: every call of every service goes through this one pipeline. Its order is its documentation.
 */
import { Clock, Context, Duration, Effect, identity, Layer, pipe, Result } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import * as Admission from "../allowance/Admission.ts"
import * as AllowanceFile from "../allowance/AllowanceFile.ts"
import { AllowanceStore } from "../allowance/AllowanceStore.ts"
import * as Attempt from "./Attempt.ts"
import { authenticated } from "../transport/Authentication.ts"
import * as Breaker from "./Breaker.ts"
import { deadlineReached, withDeadline } from "./Deadline.ts"
import { Observer } from "../telemetry/Observer.ts"
import type { CallOptions, Operation } from "./Operation.ts"
import { optionFault } from "../options/OptionCheck.ts"
import { monotonicMillis, monotonicMillisUnsafe } from "../time/Monotonic.ts"
import { redactor } from "../transport/Redaction.ts"
import * as Retry from "./Retry.ts"
import { checkRuntime, type RuntimeTooOld } from "../options/Runtime.ts"
import { type ClientOptions, type InvalidOption, settingsFrom } from "../options/Settings.ts"
import { Transport, type WireRequest } from "../transport/Transport.ts"

/** A step that waits for a turn, and gives the turn back however the attempt ends: one that is kept would hold up all others. */
const admitting =
  ({ admit }: Admission.Admission) =>
  <A>({ request }: Attempt.Task<A>) =>
  (attempt: Attempt.Admitted<A>): Effect.Effect<Attempt.Reply<A>, ErrorReason> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(admit(request, restore), (ticket) =>
        Effect.onExit(attempt(ticket, restore), () => ticket.ended(true))
      )
    )

/**
 * A step that hands the reply to `onReply`, of a failure too. It may not hold up a success beyond the deadline of the call, nor
 * a failure at all.
 */
const reported =
  <A>(task: Attempt.Task<A>) =>
  (reply: Effect.Effect<Attempt.Reply<A>, ErrorReason>): Effect.Effect<Attempt.Reply<A>, ErrorReason> => {
    const { ledger, onReply, request } = task
    return onReply === undefined
      ? reply
      : Effect.flatMap(Effect.result(reply), (result) => {
          const ended = Effect.fromResult(result)
          const failed = ledger.reply
          const raw = Result.isSuccess(result)
            ? result.success.raw
            : failed && { status: failed.status, headers: failed.headers, body: failed.excerpt }
          if (raw === null) return ended
          return Effect.flatMap(monotonicMillis, (now) =>
            Effect.timeoutOrElse(Effect.andThen(onReply(raw), ended), {
              duration: Duration.millis(Math.max(0, request.deadlineAt - now)),
              orElse: () => (Result.isSuccess(result) ? Effect.fail(deadlineReached(task)) : ended)
            })
          )
        })
  }

/** A step that makes the error of a call from the reason it failed for and its ledger. */
const failing =
  <A>({ ledger, operation }: Attempt.Task<A>) =>
  (reply: Effect.Effect<Attempt.Reply<A>, ErrorReason>): Effect.Effect<Attempt.Reply<A>, BerthError> =>
    Effect.mapError(
      reply,
      (reason) => new BerthError({ operation: operation.name, reason, attempts: ledger.attempts, reply: ledger.reply })
    )

export class Engine extends Context.Service<
  Engine,
  {
    /** Makes one call: sends the request, as often as the rules allow, and reads the reply. */
    readonly call: <A>(
      operation: Operation<A>,
      request: WireRequest,
      options?: CallOptions
    ) => Effect.Effect<Attempt.Reply<A>, BerthError>
    /** Longest time a call may take unless its options name another. */
    readonly deadline: Duration.Duration
    /** Most attempts of one call. */
    readonly maxAttempts: number
    /** Lane of every call that does not name one; undefined where it is that of the operation. */
    readonly lane: Lane | undefined
    /** What is left of the allowance, what it becomes, and whether a request would be too late. */
    readonly allowance: Pick<Admission.Admission, "current" | "changeAfter" | "refusal">
    /**
     * What the service's clock has certainly reached at an instant of the monotonic clock, in milliseconds since the epoch; 0
     * when it is unknown.
     */
    readonly serviceTimeAt: (monotonicMillis: number) => number
  }
>()("@berth/core/client/call/Engine") {
  static readonly layer = (options: ClientOptions): Layer.Layer<Engine, InvalidOption | RuntimeTooOld, Transport> =>
    Layer.effect(
      Engine,
      Effect.gen(function* () {
        yield* Effect.fromResult(checkRuntime())
        const settings = yield* Effect.fromResult(settingsFrom(options))
        const redact = redactor(settings.credentials)
        const transport = yield* Transport
        const sign = authenticated(settings)

        const { allowanceFile } = settings
        const store = allowanceFile === undefined ? yield* AllowanceStore : AllowanceFile.make(allowanceFile)
        const admission = yield* Admission.make(store && (yield* store))
        const observer = yield* Observer
        const attempt = Attempt.make({ settings, redact, observer })
        const admitted = admitting(admission)
        const retried = Retry.make(settings)
        const guarded = Breaker.make()

        const begin = <A>(
          clock: Clock.Clock,
          operation: Operation<A>,
          wireRequest: WireRequest,
          options: CallOptions | undefined
        ): Attempt.Task<A> => {
          const deadlineMillis = Duration.toMillis(Duration.fromInputUnsafe(options?.deadline ?? settings.deadline))
          const startedAtMillis = monotonicMillisUnsafe(clock)
          const ledger: Attempt.Ledger = { startedAtMillis, attempts: [], backoffMillis: 0, sent: "no", reply: null }
          const signed = sign(wireRequest)
          return {
            operation,
            wireRequest,
            send: (begun, leaving) => transport.send(signed, begun, leaving),
            request: {
              lane: options?.lane ?? settings.lane ?? operation.lane,
              deadlineAt: startedAtMillis + deadlineMillis
            },
            deadlineMillis,
            repeatable: options?.retry === false ? "never" : operation.repeatable,
            onReply: options?.onReply,
            ledger
          }
        }

        const call = <A>(operation: Operation<A>, wireRequest: WireRequest, options?: CallOptions) =>
          Effect.withFiber((fiber) => {
            const fault = options && optionFault(options)
            if (fault) return Effect.fail(new BerthError({ operation: operation.name, reason: fault, attempts: [] }))
            const task = begin(fiber.getRef(Clock.Clock), operation, wireRequest, options)
            fiber.getRef(Attempt.LedgerBegun)?.(task.ledger)
            // The steps of a call, from the wire outwards: each wraps those above it.
            return pipe(
              // Sends once, within its own time limit, reads the reply, writes the ledger.
              attempt(task),
              // Waits for a turn within the rate limit, for every attempt: each spends allowance.
              admitted(task),
              // Sends again where that may help and can do no harm. The only step that does.
              retried(task),
              // Ends at the deadline, whatever it waits for.
              withDeadline(task),
              // Lets no call go while the service is down. One outcome per call, however many attempts it took.
              guarded,
              // Hands the reply to the caller who asked for it.
              reported(task),
              // Makes one error of the reason and the ledger.
              failing(task),
              // Makes one span.
              observer ? observer.traced(operation.name) : identity
            )
          })

        const serviceTimeAt = (monotonicMillis: number) => {
          const { clock } = admission.state()
          return clock === undefined ? 0 : Math.floor(monotonicMillis + clock.minAheadMillis)
        }

        const { deadline, lane, maxAttempts } = settings
        return Engine.of({ call, deadline, maxAttempts, lane, allowance: admission, serviceTimeAt })
      })
    )
}
