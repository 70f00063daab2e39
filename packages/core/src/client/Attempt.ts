/**
 * One attempt: sends the request once within its own time limit, reads the reply once, and writes down in the ledger
 * what came of it. Whether another attempt follows is decided elsewhere.
 */
import { Bytes, Clock, Duration, Effect, Predicate, Result, Stream } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { allowanceFrom } from "../api/AllowanceHeaders.ts"
import { httpDate } from "../api/HeaderValues.ts"
import { interpret, type RawReply, unexpected } from "../api/Reply.ts"
import type { Attempt } from "../domain/Attempt.ts"
import { type ErrorReason, InvalidRequest, TimedOut, Unreachable } from "../domain/ErrorReason.ts"
import type { Ticket } from "./allowance/Admission.ts"
import type { Observer } from "./Observer.ts"
import type { Operation, Send } from "./Operation.ts"
import type { Settings } from "./Settings.ts"

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

/** Largest body that is read: the longest image list has less than a hundredth of it. */
const largestBodyBytes = 16 * 1024 * 1024

/** The body as text; undefined when it is larger than any that makes sense. */
const boundedText = (response: HttpClientResponse.HttpClientResponse) => {
  const length = Number(response.headers["content-length"] ?? Number.NaN)
  // What is counted before it is unpacked may be of any size after.
  if (length <= largestBodyBytes && response.headers["content-encoding"] === undefined) return response.text
  if (length > largestBodyBytes) return Effect.succeed(undefined)
  return Effect.gen(function* () {
    const chunks: Array<Uint8Array> = []
    let bytes = 0
    yield* response.stream.pipe(
      Stream.takeWhile((chunk) => (bytes += chunk.length) <= largestBodyBytes),
      Stream.runForEach((chunk) => Effect.sync(() => chunks.push(chunk)))
    )
    return bytes > largestBodyBytes ? undefined : new TextDecoder().decode(Bytes.concat(chunks))
  }).pipe(Effect.catchReason("HttpClientError", "EmptyBodyError", () => Effect.succeed("")))
}

/** Failures of making a connection: the request was certainly not sent. */
const notSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT"
])

const neverSent = (reason: ErrorReason) =>
  reason._tag === "InvalidRequest" ||
  ((reason._tag === "Unreachable" || reason._tag === "TimedOut") && reason.sent === "no")

/** The innermost code or message of a transport failure: a client may wrap its cause several times. */
const describe = (cause: unknown): { readonly code: string | undefined; readonly text: string } => {
  let code: string | undefined
  let text = "the connection failed"
  for (let at: unknown = cause, depth = 0; Predicate.isObjectOrArray(at) && depth < 8; depth++) {
    const inner = at as { code?: unknown; message?: unknown; cause?: unknown; errors?: unknown }
    if (Predicate.isString(inner.code)) code = inner.code
    if (Predicate.isString(inner.message) && inner.message !== "") text = inner.message
    at = inner.cause ?? (Array.isArray(inner.errors) ? inner.errors[0] : undefined)
  }
  return { code, text: code !== undefined && !text.includes(code) ? `${text} (${code})` : text }
}

/** What a failure below HTTP means. `replied` says whether a reply had begun. */
const transportReason = (error: HttpClientError.HttpClientError, replied: boolean): ErrorReason => {
  const { reason } = error
  if (reason._tag === "InvalidUrlError" || reason._tag === "EncodeError") {
    return new InvalidRequest({ status: null, detail: "its address or body cannot be written", fields: {} })
  }
  const { code, text } = describe(reason.cause)
  const sent = replied ? "yes" : code !== undefined && notSent.has(code) ? "no" : "maybe"
  return new Unreachable({ sent, detail: text })
}

/** Sends once and understands the reply. Fails with the reason; the ledger has an entry either way. */
export const attempt = Effect.fnUntraced(
  function* <A>(
    operation: Operation<A>,
    send: Send,
    settings: Settings,
    redact: (text: string) => string,
    observer: Observer | undefined,
    ledger: Ledger,
    ticket: Ticket
  ): Effect.fn.Return<Reply<A>, ErrorReason> {
    const startedAt = yield* Clock.currentTimeMillis
    ledger.sent = "maybe"
    let replied = false
    let status: number | null = null
    let headers: RawReply["headers"] = {}

    const exchange = send.pipe(
      Effect.flatMap((response) => {
        replied = true
        ledger.sent = "yes"
        status = response.status
        headers = response.headers
        return Effect.map(boundedText(response), (body) => ({ status: response.status, headers, body }))
      }),
      Effect.mapError((error) =>
        HttpClientError.isHttpClientError(error)
          ? transportReason(error, replied)
          : new InvalidRequest({ status: null, detail: error.message.split("\n")[0] ?? "", fields: {} })
      ),
      Effect.timeoutOrElse({
        duration: settings.attemptTimeout,
        orElse: () =>
          Effect.fail(
            new TimedOut({
              limit: "attempt",
              afterMillis: Duration.toMillis(settings.attemptTimeout),
              sent: replied ? "yes" : "maybe"
            })
          )
      })
    )

    const understood = exchange.pipe(
      Effect.flatMap(({ body, ...head }) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          body === undefined
            ? Result.fail(unexpected({ ...head, body: "" }, "", "a body of at most 16 MiB", "more"))
            : understand(operation, { ...head, body }, redact, now, ledger.mayBeDone)
        )
      ),
      Effect.flatMap(Effect.fromResult)
    )

    const enter = (outcome: string) =>
      Effect.map(Clock.currentTimeMillis, (endedAt) => {
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
    yield* status === null
      ? ticket.ended(!(Result.isFailure(result) && neverSent(result.failure)))
      : ticket.replied(headers, Result.isFailure(result) && result.failure._tag === "QuotaExhausted")
    yield* Effect.annotateCurrentSpan({ attempt: ledger.attempts.length, status })
    return yield* Result.isSuccess(result)
      ? Effect.succeed(result.success)
      : Effect.fail(redactedReason(result.failure, redact))
  },
  Effect.withSpan("attempt", { kind: "client" })
)

/** Decodes once: envelope, then record. A failure is read again from the masked reply, which may repeat our request. */
const understand = <A>(
  operation: Operation<A>,
  raw: RawReply,
  redact: (text: string) => string,
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

const redactedReason = (reason: ErrorReason, redact: (text: string) => string): ErrorReason =>
  reason._tag === "Unreachable" ? new Unreachable({ sent: reason.sent, detail: redact(reason.detail) }) : reason
