/** The pipeline that every call of every service goes through. The order of its steps is its documentation. */
import { Clock, Context, Duration, Effect, identity, Layer, pipe, Result } from "effect"
import { BerthError } from "../../domain/BerthError.ts"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import type { Lane } from "../../domain/Lane.ts"
import * as Admission from "../allowance/Admission.ts"
import { AllowanceStore } from "../allowance/AllowanceStore.ts"
import * as Attempt from "./Attempt.ts"
import { authenticated, Transport, type WireRequest } from "../transport/Transport.ts"
import * as Breaker from "./Breaker.ts"
import { CallsEnd, deadlineReached, type End, untilDeadline } from "./Deadline.ts"
import { Observer } from "../telemetry/Observer.ts"
import type { CallOptions, Operation } from "./Operation.ts"
import { optionFault } from "../options/OptionCheck.ts"
import { monotonicMillis, monotonicMillisUnsafe } from "../time/Monotonic.ts"
import { type Headers, lowerCase, secretsIn } from "../options/Headers.ts"
import { type Redact, redactor } from "../transport/Redaction.ts"
import * as Retry from "./Retry.ts"
import { checkRuntime, type RuntimeTooOld } from "../options/Runtime.ts"
import { type ClientOptions, type InvalidOption, type Settings, settingsFrom } from "../options/Settings.ts"

/** Waits for a permit until the deadline, and always releases it; a leaked permit would block every other call. */
const admitting =
  ({ admit }: Admission.Admission) =>
  <A>(task: Attempt.Task<A>) =>
  (attempt: Attempt.Admitted<A>): Effect.Effect<Attempt.Reply<A>, ErrorReason> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        admit(task.request, (wait) => restore(untilDeadline(task)(wait))),
        (ticket) => Effect.onExit(attempt(ticket, restore), () => ticket.ended(true))
      )
    )

/**
 * Passes the reply, even that of a failure, to `onReply`. The hook can delay a success only until the call's deadline, and cannot delay a
 * failure.
 */
const reported =
  <A>(task: Attempt.Task<A>) =>
  (reply: Effect.Effect<Attempt.Reply<A>, ErrorReason>): Effect.Effect<Attempt.Reply<A>, ErrorReason> => {
    const { ledger, onReply, request } = task
    return onReply.length === 0
      ? reply
      : Effect.flatMap(Effect.result(reply), (result) => {
          const ended = Effect.fromResult(result)
          const failed = ledger.reply
          const raw = Result.isSuccess(result)
            ? result.success.raw
            : failed && { status: failed.status, headers: failed.headers, body: failed.excerpt }
          if (raw === null) return ended
          return Effect.flatMap(monotonicMillis, (now) =>
            Effect.timeoutOrElse(
              Effect.andThen(
                Effect.forEach(onReply, (tell) => tell(raw), { discard: true }),
                ended
              ),
              {
                duration: Duration.millis(Math.max(0, request.deadlineAt - now)),
                orElse: () => (Result.isSuccess(result) ? Effect.fail(deadlineReached(task)) : ended)
              }
            )
          )
        })
  }

/** Turns the failure reason and the ledger of a call into its error. */
const failing =
  <A>({ ledger, operation }: Attempt.Task<A>) =>
  (reply: Effect.Effect<Attempt.Reply<A>, ErrorReason>): Effect.Effect<Attempt.Reply<A>, BerthError> =>
    Effect.mapError(
      reply,
      (reason) => new BerthError({ operation: operation.name, reason, attempts: ledger.attempts, reply: ledger.reply })
    )

const none: ReadonlyArray<never> = []

/** Runs the client's hook, then the call's. */
const both = <A>(ofClient: A | undefined, ofCall: A | undefined): ReadonlyArray<A> =>
  ofClient === undefined && ofCall === undefined ? none : [ofClient, ofCall].filter((hook) => hook !== undefined)

/** How many masking patterns for the secrets of calls are cached. Building a pattern takes a while. */
const maxRedactors = 16

/** Returns the function that masks the client's secrets and those in a call's headers. */
const redactors = ({ credentials, headers }: Settings) => {
  const ofClient = secretsIn(headers)
  const redact = redactor(credentials, ofClient)
  const made = new Map<string, Redact>()
  return (further: Headers | undefined): Redact => {
    const secrets = further === undefined ? none : secretsIn(further)
    if (secrets.length === 0) return redact
    const key = secrets.join("\n")
    const known = made.get(key) ?? redactor(credentials, [...ofClient, ...secrets])
    if (made.size >= maxRedactors) made.clear()
    made.set(key, known)
    return known
  }
}

/** The service that makes every call of the client, step by step. */
export class Engine extends Context.Service<
  Engine,
  {
    /** Makes one call: sends the request as often as the rules allow, and reads the reply. */
    readonly call: <A>(
      operation: Operation<A>,
      request: WireRequest,
      options?: CallOptions
    ) => Effect.Effect<Attempt.Reply<A>, BerthError>
    /** Maximum time of a call, unless its options set another. */
    readonly deadline: Duration.Duration
    /** Maximum number of attempts of one call. */
    readonly maxAttempts: number
    /** The location of the client's project; undefined if it has none. */
    readonly location: string | undefined
    /** Lane of calls that do not name one; undefined for the operation's lane. */
    readonly lane: Lane | undefined
    /** The estimate of the allowance, its changes, and whether a request would be too late. */
    readonly allowance: Pick<Admission.Admission, "current" | "changeAfter" | "refusal">
    /** A time that the service's clock has certainly reached at a monotonic instant, in milliseconds since the epoch; 0 if unknown. */
    readonly serviceTimeAt: (monotonicMillis: number) => number
  }
>()("@berthkit/core/client/call/Engine") {
  static readonly layer = (options: ClientOptions): Layer.Layer<Engine, InvalidOption | RuntimeTooOld, Transport> =>
    Layer.effect(
      Engine,
      Effect.gen(function* () {
        yield* Effect.fromResult(checkRuntime())
        const settings = yield* Effect.fromResult(settingsFrom(options))
        const redactWith = redactors(settings)
        const transport = yield* Transport
        const sign = authenticated(settings)

        const store = yield* AllowanceStore
        const admission = yield* Admission.make(store && (yield* store))
        const observer = yield* Observer
        const attempt = Attempt.make({ settings, observer })
        const admitted = admitting(admission)
        const retried = Retry.make()
        const guarded = Breaker.make()

        const attemptMillis = Duration.toMillis(settings.attemptTimeout)
        /** The limits of an operation; limits in the options apply to every operation. */
        const boundsOf = ({ bounds = settings }: Pick<Operation<unknown>, "bounds">) => ({
          maxBodyBytes: options.maxBodyBytes ?? bounds.maxBodyBytes,
          maxBodyTokens: options.maxBodyTokens ?? bounds.maxBodyTokens
        })

        const begin = <A>(
          clock: Clock.Clock,
          operation: Operation<A>,
          wireRequest: WireRequest,
          options: CallOptions | undefined,
          end: End | undefined
        ): Attempt.Task<A> => {
          const ownMillis = Duration.toMillis(Duration.fromInputUnsafe(options?.deadline ?? settings.deadline))
          const startedAtMillis = monotonicMillisUnsafe(clock)
          const endMillis = end === undefined ? Number.POSITIVE_INFINITY : Math.max(0, end.atMillis - startedAtMillis)
          const leftMillis = Math.min(ownMillis, endMillis)
          const ledger: Attempt.Ledger = { startedAtMillis, attempts: [], backoffMillis: 0, sent: "no", reply: null }
          const { attemptTimeout, headers } = options ?? {}
          const further = headers && lowerCase(headers)
          const bounds = boundsOf(operation)
          const signed = { ...sign(wireRequest, further), maxBodyBytes: bounds.maxBodyBytes }
          return {
            operation,
            wireRequest,
            send: (begun, leaving) => transport.send(signed, begun, leaving),
            request: {
              lane: options?.lane ?? settings.lane ?? operation.lane,
              deadlineAt: startedAtMillis + leftMillis
            },
            deadlineMillis: end !== undefined && endMillis < ownMillis ? end.limitMillis : ownMillis,
            repeatable: options?.retry === false ? "never" : operation.repeatable,
            maxAttempts: options?.maxAttempts ?? settings.maxAttempts,
            bounds,
            attemptMillis: attemptTimeout === undefined ? attemptMillis : Duration.toMillis(attemptTimeout),
            redact: redactWith(further),
            onAttempt: both(settings.onAttempt, options?.onAttempt),
            onReply: both(settings.onReply, options?.onReply),
            ledger
          }
        }

        const call = <A>(operation: Operation<A>, wireRequest: WireRequest, options?: CallOptions) =>
          Effect.withFiber((fiber) => {
            const fault = options && optionFault(options)
            if (fault) return Effect.fail(new BerthError({ operation: operation.name, reason: fault, attempts: [] }))
            const task = begin(fiber.getRef(Clock.Clock), operation, wireRequest, options, fiber.getRef(CallsEnd))
            fiber.getRef(Attempt.LedgerBegun)?.(task.ledger)
            // The steps of a call from the wire outwards; each wraps those above it. Each step ends its own waits by the call's deadline,
            // because a timer around all steps costs every call two fibers.
            return pipe(
              // Sends once within its own time limit and the call's, reads the reply, writes the ledger.
              attempt(task),
              // Waits for the rate limit before every attempt, because each costs allowance.
              admitted(task),
              // Retries if that may help and does no harm. Only this step retries.
              retried(task),
              // Fails fast while the service is down. Each call counts once, however many attempts it took.
              guarded(task),
              // Passes the reply to the caller's hook.
              reported(task),
              // Builds the error from the reason and the ledger.
              failing(task),
              // Makes one span.
              observer ? observer.traced("call", operation.name) : identity
            )
          })

        const serviceTimeAt = (monotonicMillis: number) => {
          const { clock } = admission.state()
          return clock === undefined ? 0 : Math.floor(monotonicMillis + clock.minAheadMillis)
        }

        const { deadline, lane, location, maxAttempts } = settings
        return Engine.of({ call, deadline, maxAttempts, location, lane, allowance: admission, serviceTimeAt })
      })
    )
}
