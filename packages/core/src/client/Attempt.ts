/**
 * One attempt: sends the request once within its own time limit, reads the reply once, and writes down in the ledger
 * what came of it. Whether another attempt follows is decided elsewhere.
 */
import { Clock, Context, Duration, Effect, Result } from "effect"
import { allowanceFrom } from "../api/AllowanceHeaders.ts"
import { httpDate } from "../api/HeaderValues.ts"
import { interpret, type RawReply, unexpected } from "../api/Reply.ts"
import type { Attempt } from "../domain/Attempt.ts"
import { type ErrorReason, TimedOut } from "../domain/ErrorReason.ts"
import type { Ticket } from "./allowance/Admission.ts"
import type { Observer } from "./Observer.ts"
import type { Operation } from "./Operation.ts"
import { type Redact, redactedReason } from "./Redaction.ts"
import type { Settings } from "./Settings.ts"
import { annotated, traced } from "./Spans.ts"
import type { Head, WireReply } from "./Transport.ts"

/** The decoded value beside the reply it was read from, for what the types do not cover yet. */
export interface Reply<A> {
  readonly value: A
  readonly raw: RawReply
}

/** The attempts of one call so far. */
export interface Ledger {
  readonly startedAtMillis: number
  readonly attempts: Array<Attempt>
  /** Waited before the next attempt because the last one failed. */
  backoffMillis: number
  /** Whether a request of this call has reached the service: not, perhaps, or certainly, for a reply had begun. */
  sent: "no" | "maybe" | "yes"
  /** Whether an attempt that failed may have been carried out all the same. */
  mayBeDone: boolean
}

const neverSent = (reason: ErrorReason) =>
  reason._tag === "InvalidRequest" ||
  ((reason._tag === "Unreachable" || reason._tag === "TimedOut") && reason.sent === "no")

/** Who is told of the ledger of each call as it begins: whoever lets go of a call before it ends has no other way to it. */
export const LedgerBegun = Context.Reference<((ledger: Ledger) => void) | undefined>(
  "@berth/core/client/Attempt/LedgerBegun",
  { defaultValue: () => undefined }
)

/** Sends the request of the call once, and tells when its reply has begun. */
export type Send = (begun: (head: Head) => void) => Effect.Effect<WireReply, ErrorReason>

/** Sends once and understands the reply. Fails with the reason; the ledger has an entry either way. */
export const attempt = Effect.fnUntraced(
  function* <A>(
    operation: Operation<A>,
    send: Send,
    settings: Settings,
    redact: Redact,
    observer: Observer | undefined,
    ledger: Ledger,
    ticket: Ticket
  ): Effect.fn.Return<Reply<A>, ErrorReason> {
    const startedAt = yield* Clock.currentTimeMillis
    ledger.sent = "maybe"
    operation.heard?.(undefined)
    let head: Head | undefined

    const exchange = send((begun) => {
      head = begun
      ledger.sent = "yes"
    }).pipe(
      Effect.timeoutOrElse({
        duration: settings.attemptTimeout,
        orElse: () =>
          Effect.fail(
            new TimedOut({
              limit: "attempt",
              afterMillis: Duration.toMillis(settings.attemptTimeout),
              sent: head === undefined ? "maybe" : "yes"
            })
          )
      })
    )

    const understood = exchange.pipe(
      Effect.flatMap(({ body, ...head }) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (body === undefined) {
            return Result.fail(unexpected({ ...head, body: "" }, "", "a body of at most 16 MiB", "more"))
          }
          const raw = { ...head, body }
          operation.heard?.(raw)
          return understand(operation, raw, redact, now, ledger.mayBeDone)
        })
      ),
      Effect.flatMap(Effect.fromResult)
    )

    const enter = (outcome: string) =>
      Effect.map(Clock.currentTimeMillis, (endedAt) => {
        const { headers = {}, status = null } = head ?? {}
        ledger.attempts.push({
          number: ledger.attempts.length + 1,
          startedAtMillis: startedAt - ledger.startedAtMillis,
          backoffMillis: ledger.backoffMillis,
          queuedMillis: ticket.waitedMillis,
          durationMillis: endedAt - startedAt,
          status,
          outcome,
          allowance: allowanceFrom(headers, httpDate(headers["date"]) ?? endedAt)
        })
        observer?.attempted(operation.name, ticket.lane, ledger.attempts)
      })

    // Whoever gives up meanwhile, the request may have been counted.
    const result = yield* Effect.result(understood).pipe(
      Effect.onInterrupt(() => Effect.andThen(enter("interrupted"), ticket.ended(true)))
    )
    yield* enter(Result.isSuccess(result) ? "ok" : result.failure._tag)
    if (Result.isSuccess(result)) observer?.drifted(operation.drift?.(result.success.value) ?? [])
    yield* head === undefined
      ? ticket.ended(!(Result.isFailure(result) && neverSent(result.failure)))
      : ticket.replied(head.headers, Result.isFailure(result) && result.failure._tag === "QuotaExhausted")
    yield* annotated({ attempt: ledger.attempts.length, status: head?.status ?? null })
    return yield* Result.isSuccess(result)
      ? Effect.succeed(result.success)
      : Effect.fail(redactedReason(result.failure, redact))
  },
  traced("attempt", { kind: "client" })
)

/** Decodes once: envelope, then record. A failure is read again from the masked reply, which may repeat our request. */
const understand = <A>(
  operation: Operation<A>,
  raw: RawReply,
  redact: Redact,
  nowMillis: number,
  mayBeDone: boolean
): Result.Result<Reply<A>, ErrorReason> => {
  const expectation = (mayBeDone ? operation.afterwards : undefined) ?? operation.expectation
  const read = (reply: RawReply) =>
    Result.map(
      Result.flatMap(interpret(reply, expectation, nowMillis), ({ body, data }) => operation.decode(data, reply, body)),
      (value) => ({ value, raw: reply })
    )
  const result = read(raw)
  if (Result.isSuccess(result)) return result
  const masked = read({ ...raw, body: redact(raw.body) })
  return Result.isFailure(masked) ? masked : result
}
