/**
 * Reads the JSON body of a request. Anything else is 415 for its media type or encoding, 413 over the limit, or 400 for
 * bytes that are no JSON (A4).
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { isJson } from "@berth/web/guard"
import { Effect, Result } from "effect"
import type { Headers, HttpServerError, HttpServerRequest } from "effect/http"
import { maxBodyBytes } from "./limits.ts"

const utf8 = new TextDecoder("utf-8", { fatal: true })

export const bodyTooLarge = (maxBytes: number) => fail(413, `The body is larger than ${maxBytes} bytes.`)
const notJson = fail(415, "The body must be JSON: content-type application/json.")
const encoded = fail(415, "The body must not be encoded: leave content-encoding out.")
const malformed = fail(400, "The body is not well-formed JSON.")
export const interrupted = fail(400, "The body ended before it was complete.")

const isPlain = (contentEncoding: string | undefined): boolean =>
  contentEncoding === undefined || /^\s*(identity\s*)?$/i.test(contentEncoding)

/**
 * A body without a media type is taken for JSON, because many programs send none, but not that of a page: without one a page may send
 * what it likes to any server, unasked (Fetch, CORS-safelisted).
 */
const isTakenForJson = ({ "content-type": type, origin, "sec-fetch-site": site }: Headers.Headers): boolean =>
  type === undefined ? origin === undefined && site === undefined : isJson(type)

/** Why a body of this kind is not read. */
export const refuseMediaType = ({ headers }: HttpServerRequest.HttpServerRequest): Failure<415> | undefined =>
  !isTakenForJson(headers) ? notJson : !isPlain(headers["content-encoding"]) ? encoded : undefined

const parse = (body: ArrayBuffer): Result.Result<unknown, typeof malformed> =>
  Result.try({ try: (): unknown => JSON.parse(utf8.decode(body)), catch: () => malformed })

/** `onBytes` gets the bytes of the body before they are parsed. The limit is the `MaxBodySize` of the request, 1 MiB. */
export const readJson = (
  request: HttpServerRequest.HttpServerRequest,
  onBytes: (bytes: Uint8Array) => void
): Effect.Effect<unknown, Failure<400> | Failure<413> | Failure<415>> => {
  const refused = refuseMediaType(request)
  if (refused !== undefined) return Effect.fail(refused)
  return request.arrayBuffer.pipe(
    Effect.mapError(({ reason }: HttpServerError.HttpServerError) =>
      reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge" ? bodyTooLarge(maxBodyBytes) : interrupted
    ),
    Effect.flatMap((body) => {
      onBytes(new Uint8Array(body))
      return Effect.fromResult(parse(body))
    })
  )
}
