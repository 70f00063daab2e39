/** The steps of a request: first the access check, then the page or the endpoint, then the reply if neither exists. */
import { type Access as GuardAccess, bearerToken, makeGuard, type Target } from "@berthkit/web/guard"
import { allowedMethods, endpointsOf, routerConfig } from "@berthkit/web/paths"
import { Cause, Clock, Context, Effect, Layer, Option, Redacted, type Scope } from "effect"
import * as ByteSize from "effect/ByteSize"
import {
  HttpIncomingMessage,
  HttpRouter,
  HttpServer,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { HttpApiBuilder, HttpApiError } from "effect/http-api"
import type { PublicUrl } from "../config/Config.ts"
import { StoreFailed } from "../store/StoreFailed.ts"
import * as Api from "./api.ts"
import { Daemon } from "./Daemon.ts"
import { failureResponse } from "./failures.ts"
import * as Operations from "./operations.ts"
import { page } from "./page/page.ts"
import { isSameSecret, isSession } from "./session.ts"
import { type AttemptResult, makeTokenAttempts, tooManyAttempts, waitMillis } from "./TokenAttempts.ts"
import { Access, WatchApi } from "./WatchApi.ts"

export interface AppOptions extends Api.Entrance {
  /** Host names and addresses at which the daemon is served in addition to loopback, in the form of `readHostName`. */
  readonly hosts: ReadonlyArray<string>
}

const refusalOf = makeGuard({ name: "The daemon", token: "token", toAllow: () => "use its address" })

/** Maximum size of a body; the largest legitimate body is a cursor. */
const maxBodyBytes = 64 * 1024
const maxUrlBytes = 8 * 1024

const openApiPath = "/api/openapi.json"

/** Lets every request pass, because the access check runs before the request is routed. */
const checked = Layer.succeed(Access)((endpoint) => endpoint)

const routes = HttpApiBuilder.layer(WatchApi, { openapiPath: openApiPath }).pipe(
  Layer.provide([Api.layer, Operations.layer]),
  Layer.provide([checked, HttpServer.layerServices])
)

const allowed = allowedMethods([
  ...endpointsOf(WatchApi),
  { path: openApiPath, method: "GET" },
  { path: "/", method: "GET" }
])

type Request = HttpServerRequest.HttpServerRequest

const pathOf = ({ url }: Request): string => url.split("?", 1)[0]!

/**
 * What a request asks for. Three things are available without the token: the page, which holds no data, the login, and the
 * checks for a supervisor of the process.
 */
const targetOf = (request: Request): Target => {
  const path = pathOf(request)
  if (request.method === "GET" || request.method === "HEAD") {
    if (path === "/") return "shell"
    return path === "/healthz" || path === "/readyz" ? "open" : "data"
  }
  return path === "/api/session" ? "open" : "data"
}

/** Whether a request came through the proxy that browsers see. */
const isThroughProxy = ({ headers }: Request, publicUrl: PublicUrl | undefined): boolean =>
  publicUrl !== undefined &&
  (headers["origin"] === publicUrl.origin || headers["host"] === new URL(publicUrl.origin).host)

/** The path and query of a request, without the daemon's public path. Some proxies strip that path, others do not. */
export const withoutPath = (target: string, publicPath: string): string => {
  if (publicPath === "" || !target.startsWith(publicPath)) return target
  const rest = target.slice(publicPath.length)
  if (rest === "" || rest.startsWith("?")) return `/${rest}`
  return rest.startsWith("/") ? rest : target
}

/**
 * The address of the client. `X-Forwarded-For` is believed only if the request comes from a proxy on this machine. Only its
 * last address counts, because the client may have written the earlier ones.
 */
const addressOf = ({ headers, remoteAddress }: Request, isBehindProxy: boolean): string => {
  const peer = Option.getOrElse(remoteAddress, () => "")
  if (!isBehindProxy || !/^(::ffff:)?127\.|^::1$/.test(peer)) return peer
  return headers["x-forwarded-for"]?.split(",").at(-1)?.trim() || peer
}

/** Returns the effect that answers a request. It never fails; every problem becomes a reply. */
export const makeApp = Effect.fnUntraced(function* ({ cookie, hosts, publicUrl, token }: AppOptions) {
  const access: GuardAccess = {
    scheme: "http",
    publicOrigin: publicUrl?.origin,
    // With a token, every host name is allowed: none of them does harm, and clients on other machines use names that
    // the daemon cannot know.
    hosts: token === undefined ? new Set(hosts) : "any",
    needsToken: token !== undefined
  }
  const ambient = yield* Effect.context<Daemon | Scope.Scope>()
  const endpoints = yield* Effect.provideService(
    HttpRouter.toHttpEffect(routes),
    HttpRouter.RouterConfig,
    routerConfig(maxUrlBytes)
  )
  const attempts = makeTokenAttempts()
  const attemptFrom = (request: Request) => (given: string) =>
    token === undefined
      ? Effect.succeed<AttemptResult>("wrong")
      : attempts(addressOf(request, publicUrl !== undefined), () => isSameSecret(given, Redacted.value(token)))
  const showsToken = (request: Request, nowMillis: number): Effect.Effect<AttemptResult> => {
    if (token === undefined) return Effect.succeed("wrong")
    const given = bearerToken(request)
    if (given !== undefined) return attemptFrom(request)(given)
    const session = request.cookies[cookie]
    // Requests with a session cookie are never slowed down. The cookie cannot be guessed, and its owner should not suffer from
    // others' guesses.
    return Effect.succeed(session !== undefined && isSession(session, token, nowMillis) ? "right" : "wrong")
  }

  return Effect.gen(function* () {
    const received = yield* HttpServerRequest.HttpServerRequest
    const request = received.modify({ url: withoutPath(received.url, publicUrl?.path ?? "") })
    const shown = yield* showsToken(request, yield* Clock.currentTimeMillis)
    if (shown === "turnedAway") return turnedAway
    const isKnown = shown === "right"
    const target = targetOf(request)
    // Refuse before the path is read, so that a client without the token does not learn which paths exist.
    const refusal = refusalOf({ method: request.method, target, headers: request.headers, showsToken: isKnown }, access)
    if (refusal !== undefined) return failureResponse(refusal.status, refusal.message, refusal.headers)
    if (request.url.length > maxUrlBytes) return failureResponse(400, `The URL is longer than ${maxUrlBytes} bytes.`)
    if (Number(request.headers["content-length"] ?? 0) > maxBodyBytes) return tooLarge
    if (target === "shell") return page(request)
    const response = yield* endpoints.pipe(
      Effect.provideService(Operations.MayRead, !access.needsToken || isKnown),
      Effect.provideService(Api.CurrentEntrance, {
        token,
        cookie,
        publicUrl,
        isSecure: isThroughProxy(request, publicUrl),
        attempt: attemptFrom(request)
      }),
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.catchCause((cause) => fallback(request, cause))
    )
    // The router accepts fewer kinds of JSON than the guard. It refuses the others in plain text, so its reply is replaced.
    if (response.status === 429) return turnedAway
    if (response.status === 415) return failureResponse(415, "The body must be application/json.")
    return response.headers["cache-control"] === undefined
      ? HttpServerResponse.setHeader(response, "cache-control", "no-store")
      : response
  }).pipe(
    Effect.map(HttpServerResponse.setHeader("x-content-type-options", "nosniff")),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes)),
    Effect.provideContext(Context.pick(Daemon)(ambient))
  )
})

const turnedAway = failureResponse(429, tooManyAttempts, { "retry-after": String(waitMillis / 1000) })

const tooLarge = failureResponse(413, `The body is larger than ${maxBodyBytes} bytes.`)

/** The reply if no endpoint gave one. A client that has disconnected gets no reply. */
const fallback = (request: Request, cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  for (const reason of cause.reasons) {
    const fault = Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : undefined
    if (HttpServerError.isHttpServerError(fault) && fault.reason._tag === "RouteNotFound") {
      return Effect.succeed(noEndpoint(request))
    }
    // If a body has no `Content-Length`, the check of its size can fail only while the body is read.
    if (isTooLarge(fault)) return Effect.succeed(tooLarge)
    // The store failed, whatever was requested, because all data comes from it.
    if (fault instanceof StoreFailed) return Effect.succeed(failureResponse(503, fault.message))
    if (HttpApiError.HttpApiSchemaError.is(fault) && fault.kind !== "Body") {
      return Effect.succeed(failureResponse(400, `The request cannot be read: ${sentenceOf(fault)}`))
    }
  }
  return Effect.as(
    Effect.logError("A request could not be answered", cause).pipe(
      Effect.annotateLogs({ method: request.method, path: pathOf(request) })
    ),
    failureResponse(500, "The daemon failed.")
  )
}

const isTooLarge = (fault: unknown): boolean =>
  HttpServerError.isHttpServerError(fault) &&
  fault.reason._tag === "RequestParseError" &&
  fault.reason.reason === "BodyTooLarge"

/** What is wrong with a part of the request, on one line. */
const sentenceOf = ({ cause, kind }: HttpApiError.HttpApiSchemaError): string =>
  `${kind.toLowerCase()}: ${cause.message
    .split("\n")
    .map((line) => line.trim())
    .join(" ")
    .slice(0, 500)}`

/** 405 if the path exists with another method, otherwise 404. */
const noEndpoint = (request: Request): HttpServerResponse.HttpServerResponse => {
  const allow = allowed(pathOf(request))
  const isUnreadable = allow?.split(", ").includes(request.method) === true && request.method !== "OPTIONS"
  if (allow === undefined || isUnreadable) return failureResponse(404, "There is nothing at this path.")
  if (request.method === "OPTIONS") return HttpServerResponse.empty({ status: 204, headers: { allow } })
  return failureResponse(405, `The path does not answer ${request.method}, only ${allow}.`, { allow })
}
