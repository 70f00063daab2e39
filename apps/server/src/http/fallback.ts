/**
 * Replies to requests that no endpoint answers. The precheck rejects requests that are wrong at any path. The fallback
 * replies if no endpoint matches, or if the endpoint failed.
 */
import { IncomingMessage } from "node:http"
import type { AllowedMethods } from "@berthkit/web/paths"
import { Cause, Effect } from "effect"
import { HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { maxHeadBytes, maxUrlBytes } from "../transport/limits.ts"
import { bodyTooLarge } from "../transport/readJson.ts"
import { failureResponse } from "./failures.ts"

/** The path of a request, unchanged. */
export const pathOf = ({ url }: HttpServerRequest.HttpServerRequest): string => {
  const end = url.indexOf("?")
  return end < 0 ? url : url.slice(0, end)
}

/**
 * The reply to a request that is wrong at any path (assumption A4 in docs/interface/assumptions.md). `maxBytes` is the
 * maximum size of its body.
 */
export const precheck = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): HttpServerResponse.HttpServerResponse | undefined => {
  const head = headOf(request)
  if (head !== undefined && head.problem !== undefined) return failureResponse(400, head.problem)
  if (request.url.length > maxUrlBytes) {
    return failureResponse(414, `The URL is longer than ${maxUrlBytes} bytes.`)
  }
  if (head !== undefined && head.bytes > maxHeadBytes) {
    return failureResponse(431, `The headers are larger than ${maxHeadBytes} bytes.`)
  }
  if (Number(request.headers["content-length"] ?? 0) > maxBytes) {
    return failureResponse(413, bodyTooLarge(maxBytes).message)
  }
  return undefined
}

/** Matches characters that neither a host nor a port contains. */
const noHost = /[\s/?#@\\]/

/**
 * What is wrong with the header `host` of a request, and the length of the request's head. Undefined if the request came
 * without a socket.
 */
const headOf = ({ source }: HttpServerRequest.HttpServerRequest) => {
  if (!(source instanceof IncomingMessage)) return undefined
  const { httpVersion, method, rawHeaders, url } = source
  /** A line has four characters in addition to name and value: two between them and two at its end. */
  let bytes = `${method} ${url} HTTP/1.1\r\n`.length
  let hosts = 0
  let isHost = true
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    bytes += name.length + rawHeaders[at + 1]!.length + 4
    if (name.length !== 4 || name.toLowerCase() !== "host") continue
    hosts += 1
    isHost &&= !noHost.test(rawHeaders[at + 1]!)
  }
  // RFC 9112 §3.2: one host in every request of HTTP/1.1, and never two.
  if (hosts > 1) return { bytes, problem: "The header host is given more than once." }
  if (!isHost) return { bytes, problem: "The header host is not a valid host." }
  return { bytes, problem: hosts === 0 && httpVersion === "1.1" ? "The header host is missing." : undefined }
}

/** The reply if no endpoint gave one. A client that has disconnected gets no reply. */
export const fallback = (
  request: HttpServerRequest.HttpServerRequest,
  cause: Cause.Cause<unknown>,
  allowedMethods: AllowedMethods
) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (HttpServerError.isHttpServerError(failure) && failure.reason._tag === "RouteNotFound") {
    return Effect.succeed(noEndpoint(request, allowedMethods))
  }
  return Effect.as(
    Effect.logError("A request could not be answered", cause).pipe(
      Effect.annotateLogs({ method: request.method, path: pathOf(request) })
    ),
    failureResponse(500, "The service failed.")
  )
}

/** 405 if the path exists with another method, otherwise 404. */
const noEndpoint = (
  request: HttpServerRequest.HttpServerRequest,
  allowedMethods: AllowedMethods
): HttpServerResponse.HttpServerResponse => {
  const allow = allowedMethods(pathOf(request))
  // If the path allows the method but no endpoint matched, the path has invalid escapes. Such a path does not exist.
  const isUnreadable = allow?.split(", ").includes(request.method) === true && request.method !== "OPTIONS"
  if (allow === undefined || isUnreadable) return failureResponse(404, "There is nothing at this path.")
  if (request.method === "OPTIONS") return HttpServerResponse.empty({ status: 204, headers: { allow } })
  // A reply to HEAD has the length that a reply to GET would have (RFC 9110 §9.3.2), so the sentence names GET.
  const method = request.method === "HEAD" ? "GET" : request.method
  return failureResponse(405, `The path does not answer ${method}, only ${allow}.`, { headers: { allow } })
}
