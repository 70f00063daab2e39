/**
 * Reads the JSON body of a request while it arrives: what cannot be accepted is refused at once, and however long the body
 * is, other requests are answered meanwhile.
 */
import type { Failure } from "@berth/core/api/Envelope"
import { Effect, type Scope, Stream } from "effect"
import type { HttpServerError, HttpServerRequest } from "effect/http"
import { type Batch, JsonReader, type Unreadable } from "./JsonReader.ts"
import { maxBodyBytes } from "./limits.ts"
import { bodyTooLarge, interrupted, refuseMediaType } from "./readJson.ts"

/** Bytes that are read without a pause. */
const sliceBytes = 64 * 1024

/** Waits for the next bytes of a client, if need be not until they come. */
interface Patience<E> {
  readonly waitFor: <A, E2, R>(next: Effect.Effect<A, E2, R>) => Effect.Effect<A, E | E2, R>
}

interface StreamOptions<E> {
  /** Default 1 MiB. */
  readonly maxBytes?: number
  /** Stands for a body that is not there. */
  readonly whenEmpty?: unknown
  /** Paths of arrays whose elements go to `onBatch` and are left out of the value. Default none. */
  readonly longArrays?: ReadonlyArray<string>
  /** What it gives ends the reading. */
  readonly onBatch?: (batch: Batch) => Unreadable | undefined
  /** Runs before more than 1 MiB is read. From then on what it gives waits for the rest. */
  readonly onLarge?: Effect.Effect<Patience<E>, E, Scope.Scope>
}

/** The value of the body; nothing more is read once it is refused. */
export const streamJson = Effect.fnUntraced(function* <E extends Failure = never>(
  request: HttpServerRequest.HttpServerRequest,
  { longArrays, maxBytes = maxBodyBytes, onBatch, onLarge, whenEmpty }: StreamOptions<E> = {}
) {
  const refused = refuseMediaType(request)
  if (refused !== undefined) return yield* Effect.fail(refused)
  const reader = new JsonReader({ ...(longArrays && { longArrays }), ...(onBatch && { onBatch }) })
  let bytes = 0
  let patience: Patience<E> | undefined
  const take = Effect.fnUntraced(function* (chunk: Uint8Array) {
    const before = bytes
    bytes += chunk.length
    if (bytes > maxBytes) return yield* Effect.fail(bodyTooLarge(maxBytes))
    if (before <= maxBodyBytes && bytes > maxBodyBytes && onLarge !== undefined) patience = yield* onLarge
    for (let at = 0; at < chunk.length; at += sliceBytes) {
      const refusal = reader.push(chunk.subarray(at, at + sliceBytes))
      if (refusal !== undefined) return yield* Effect.fail(refusal)
      if (bytes > sliceBytes) yield* Effect.yieldNow
    }
  })
  const unreadable = (error: Unreadable | E | HttpServerError.HttpServerError) =>
    "code" in error ? error : interrupted
  const chunks: Stream.Stream<Uint8Array, E | HttpServerError.HttpServerError> = Stream.transformPull(
    request.stream,
    (next) => Effect.succeed(Effect.suspend(() => (patience === undefined ? next : patience.waitFor(next))))
  )
  yield* Effect.mapError(Stream.runForEach(chunks, take), unreadable)
  if (bytes === 0 && whenEmpty !== undefined) return whenEmpty
  return yield* Effect.fromResult(reader.end())
})
