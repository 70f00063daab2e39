/**
 * One attempt: sends the request once within its own time limit, reads the reply once, and writes the outcome in the ledger (the log of a
 * call's attempts). Other modules decide whether another attempt follows.
 */
import { Cause, Clock, Context, Effect, Exit, Result } from "effect"
import { allowanceFrom } from "../../api/AllowanceHeaders.ts"
import { interpret, type RawReply, type Reading, unexpected } from "../../api/Reply.ts"
import type { Attempt } from "../../domain/Attempt.ts"
import { type ErrorReason, TimedOut } from "../../domain/ErrorReason.ts"
import type { FailedReply } from "../../domain/FailedReply.ts"
import type * as Admission from "../allowance/Admission.ts"
import { failedReply } from "./failedReply.ts"
import type { Observer } from "../telemetry/Observer.ts"
import { deadlineReached, timeUp } from "./Deadline.ts"
import type { CallOptions, Operation, Repeatable } from "./Operation.ts"
import { monotonicMillisUnsafe } from "../time/Monotonic.ts"
import { type Redact, redactedReason, shownAddress } from "../transport/Redaction.ts"
import type { Settings } from "../options/Settings.ts"
import type { Head, Leaving, WireReply, WireRequest } from "../transport/Transport.ts"

/** The decoded value with the raw reply, for fields that the types do not cover. */
export interface Reply<A> {
  readonly value: A
  readonly raw: RawReply
}

/** The attempts of one call so far. */
export interface Ledger {
  /** On the monotonic clock. */
  readonly startedAtMillis: number
  readonly attempts: Array<Attempt>
  /** The wait before the next attempt, because the last attempt failed. */
  backoffMillis: number
  /**
   * Whether a request of this call has reached the service: `no` (certainly not), `maybe`, or `yes` (a reply had begun). Requests that were
   * certainly not carried out do not count.
   */
  sent: "no" | "maybe" | "yes"
  /** The reply to the last attempt that failed with a reply; null if none did. */
  reply: FailedReply | null
}

/**
 * Receives the ledger of each call when the call begins, because a caller that abandons the call cannot get the ledger
 * in another way.
 */
export const LedgerBegun = Context.Reference<((ledger: Ledger) => void) | undefined>(
  "@berthkit/core/client/call/Attempt/LedgerBegun",
  { defaultValue: () => undefined }
)

/** Sends the request of the call once, and reports when its reply begins. */
type Send = (begun: (head: Head) => void, leaving?: Leaving) => Effect.Effect<WireReply, ErrorReason>

/** The dependencies of a client's attempts. */
export interface Dependencies {
  readonly settings: Pick<Settings, "origin">
  readonly observer: Observer | undefined
}

/** One call, as seen by its steps. */
export interface Task<A> {
  readonly operation: Operation<A>
  /** The request that `send` sends, without the credentials. */
  readonly wireRequest: WireRequest
  readonly send: Send
  readonly request: Admission.Request
  readonly deadlineMillis: number
  readonly repeatable: Repeatable
  readonly maxAttempts: number
  readonly attemptMillis: number
  /** Limits of each reply. */
  readonly bounds: NonNullable<Operation<A>["bounds"]>
  /** Masks the secrets of the client and of the call. */
  readonly redact: Redact
  /** Called with each attempt: first the client's hook, then the call's. */
  readonly onAttempt: ReadonlyArray<NonNullable<CallOptions["onAttempt"]>>
  /** Called with the last reply: first the client's hook, then the call's. */
  readonly onReply: ReadonlyArray<NonNullable<CallOptions["onReply"]>>
  readonly ledger: Ledger
}

/** Makes an effect within an uninterruptible region interruptible again. */
type Restore = <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>

/** Runs an attempt that was admitted. Run it uninterruptibly, with `restore` for the exchange. */
export type Admitted<A> = (ticket: Admission.Ticket, restore: Restore) => Effect.Effect<Reply<A>, ErrorReason>

type Sent = Ledger["sent"]

/** The more certain of two statements about whether a request reached the service. */
const surer = (a: Sent, b: Sent): Sent => (a === "yes" || b === "yes" ? "yes" : a === "maybe" ? a : b)

/**
 * The step that sends once and reads the reply. However it ends, it adds an entry to the ledger and reports the fate of the request to the
 * ticket.
 */
export const make = ({ observer, settings }: Dependencies) => {
  const { origin } = settings

  const attempt = Effect.fnUntraced(function* <A>(
    task: Task<A>,
    ticket: Admission.Ticket,
    restore: Restore
  ): Effect.fn.Return<Reply<A>, ErrorReason> {
    const { attemptMillis, bounds, ledger, operation, redact, request, send, wireRequest } = task
    const bodyFault = `a body of at most ${bounds.maxBodyBytes} bytes (maxBodyBytes)`
    const clock = yield* Clock.Clock
    const startedAt = monotonicMillisUnsafe(clock)
    // A busy program may run this after the deadline but before the deadline's timer fires.
    if (startedAt >= request.deadlineAt) {
      yield* ticket.ended(false)
      return yield* Effect.fail(deadlineReached(task))
    }
    // One timer serves both limits: the attempt ends at the earlier of the two.
    const leftMillis = request.deadlineAt - startedAt
    let isOver = false
    const sentBefore = ledger.sent
    let sent: Sent = "no"
    let head: Head | undefined

    const timedOut = () => {
      isOver = leftMillis < attemptMillis
      return isOver
        ? Effect.interrupt
        : Effect.fail(new TimedOut({ limit: "attempt", afterMillis: attemptMillis, sent }))
    }
    const { repeatable, sending } = operation
    const leaves = Effect.sync(() => {
      sent = "maybe"
    })
    const leaving = sending === undefined ? leaves : Effect.andThen(sending.before, leaves)
    const exchange = Effect.suspend(() => {
      operation.onAttemptReply?.(undefined)
      const isOnce = repeatable === "once"
      // A repeatable request may be sent again in any case, so nobody needs to know when it leaves.
      if (!isOnce) sent = "maybe"
      const begun = (reply: Head) => {
        head = reply
        sent = "yes"
      }
      const replied = isOnce ? send(begun, leaving) : send(begun)
      return Effect.raceFirst(
        replied,
        Effect.andThen(timeUp(Math.min(attemptMillis, leftMillis)), Effect.suspend(timedOut))
      )
    })

    const enter = (outcome: string) =>
      Effect.suspend(() => {
        const { headers = {}, status = null } = head ?? {}
        const entry: Attempt = {
          number: ledger.attempts.length + 1,
          startedAtMillis: Math.round(startedAt - ledger.startedAtMillis),
          backoffMillis: Math.round(ledger.backoffMillis),
          queuedMillis: Math.round(ticket.waitedMillis),
          durationMillis: Math.round(monotonicMillisUnsafe(clock) - startedAt),
          status,
          outcome,
          allowance: allowanceFrom(headers, clock.currentTimeMillisUnsafe())
        }
        ledger.attempts.push(entry)
        observer?.attempted(operation.name, ticket.lane, ledger.attempts)
        if (task.onAttempt.length === 0) return Effect.void
        const url = shownAddress(origin, wireRequest, redact)
        const report = { operation: operation.name, method: wireRequest.method, url, ...entry }
        return Effect.forEach(
          task.onAttempt,
          (tell) =>
            Effect.forkDetach(
              Effect.suspend(() => tell(report)),
              { startImmediately: true }
            ),
          { discard: true }
        )
      })

    const received = yield* Effect.exit(Effect.result(restore(exchange)))
    if (Exit.isFailure(received)) {
      // The attempt was interrupted, by the deadline too, or crashed, and the service may still have counted the request.
      ledger.sent = surer(sentBefore, sent)
      if (sent !== "no") yield* enter(Cause.hasInterrupts(received.cause) ? "interrupted" : "defect")
      yield* head === undefined ? ticket.ended(sent !== "no") : ticket.replied(head, false)
      if (head !== undefined) ledger.reply = failedReply({ ...head, body: "" }, redact)
      if (sending !== undefined && sent === "no") yield* sending.notProcessed
      return yield* isOver ? Effect.fail(deadlineReached(task)) : Effect.failCause(received.cause)
    }
    const reply =
      Result.isFailure(received.value) && head !== undefined && isRefusal(head) ? cutOff(head) : received.value
    const result = Result.flatMap(
      Result.mapError(reply, (reason) => redactedReason(reason, redact)),
      (reply) =>
        understand(
          operation,
          reply,
          {
            show: redact,
            maxBodyTokens: bounds.maxBodyTokens,
            bodyFault: reply.whole ? undefined : bodyFault
          },
          clock.currentTimeMillisUnsafe(),
          sentBefore !== "no"
        )
    )
    yield* enter(outcomeOf(result))
    if (Result.isSuccess(result) && observer && operation.drift) {
      observer.drifted(operation.drift(observer.drift)(result.success.value), operation.name)
    }
    yield* head === undefined
      ? ticket.ended(Result.isSuccess(result) || result.failure.mayBeProcessed)
      : ticket.replied(head, Result.isFailure(result) && result.failure.retry === "throttled")
    if (observer) yield* observer.annotated(observer.http.replyAttributes(head?.status, result))
    // A request that was certainly not carried out needs no reconciliation.
    if (Result.isSuccess(result) || result.failure.mayBeProcessed) ledger.sent = surer(sentBefore, sent)
    else if (sending !== undefined) yield* sending.notProcessed
    if (Result.isSuccess(result)) return result.success
    if (head !== undefined) {
      const { body } = Result.getOrElse(received.value, () => ({ body: "" }))
      ledger.reply = failedReply({ ...head, body }, redact)
    }
    return yield* Effect.fail(result.failure)
  })

  return <A>(task: Task<A>): Admitted<A> =>
    (ticket, restore) => {
      const once = attempt(task, ticket, restore)
      if (!observer) return once
      const attributes = () => observer.http.requestAttributes(origin, task)
      return observer.traced("attempt", task.wireRequest.method, { kind: "client", attributes })(once)
    }
}

/**
 * Whether the status alone proves that the service rejected the request. A service may reply to a large request before it has read it and
 * close the connection, so the reply's body may be lost. A 404 without its body does not prove that a node is gone.
 */
const isRefusal = ({ status }: Head): boolean => status >= 400 && status < 500 && status !== 404

/** A reply whose body never arrived. */
const cutOff = (head: Head): Result.Result<WireReply> => Result.succeed({ ...head, body: "", whole: false })

/** The outcome of an attempt in the ledger. */
const outcomeOf = (result: Result.Result<unknown, ErrorReason>): string =>
  Result.isSuccess(result) ? "ok" : result.failure._tag

/** Decodes envelope and record once. The text of a failure is masked, because it may repeat our request. */
const understand = <A>(
  operation: Operation<A>,
  { body, headers, status, whole }: WireReply,
  reading: Reading,
  nowMillis: number,
  mayBeDone: boolean
): Result.Result<Reply<A>, ErrorReason> => {
  const raw = { status, headers, body }
  if (whole) operation.onAttemptReply?.(raw)
  const expectation = (mayBeDone ? operation.afterwards : undefined) ?? operation.expectation
  return Result.flatMap(interpret(raw, expectation, nowMillis, reading), ({ body, data }) =>
    Result.mapBoth(operation.decode(data, body), {
      onFailure: (fault) => unexpected(raw, fault, reading.show),
      onSuccess: (value) => ({ value, raw })
    })
  )
}
