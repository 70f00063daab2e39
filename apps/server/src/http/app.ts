/**
 * The path of a request through the server, from its arrival to its reply: who sent it, what it costs, whether it can be
 * answered at all, its endpoint, and last what every reply has in common. The endpoints are in the files named after their
 * groups.
 */
import { fail } from "@berth/core/api/Envelope"
import { Cause, Clock, Context, Effect, Layer, Logger, Option, References, Scope } from "effect"
import * as ByteSize from "effect/ByteSize"
import {
  HttpIncomingMessage,
  HttpRouter,
  HttpServer,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { Allowance, Reading } from "../world/allowance.ts"
import { Visitors } from "../world/Visitors.ts"
import * as World from "../world/World.ts"
import type { Identity, Worlds } from "../world/Worlds.ts"
import * as Authorization from "./authorization.ts"
import { Caller, readCredentials } from "./Caller.ts"
import * as Commitments from "./commitments.ts"
import { answerDirectly } from "./direct.ts"
import * as Docs from "./docs.ts"
import { failureResponse } from "./failures.ts"
import * as Images from "./images.ts"
import { largestBodyBytes, longestUrlBytes } from "./limits.ts"
import { allowedMethods } from "./methods.ts"
import type { Reject } from "./nodeServer.ts"
import * as Nodes from "./nodes.ts"
import * as Query from "./query.ts"
import { bodyTooLarge } from "./readJson.ts"
import { replyHeaders, retryAfterSeconds } from "./replyHeaders.ts"
import { ServedApi } from "./ServedApi.ts"

/**
 * The endpoints. What they are built with is merged into the context of every request they answer: it is only what they
 * need, so what serves the API as a whole is provided to that alone.
 */
const endpoints = Layer.mergeAll(Nodes.layer, Images.layer, Commitments.layer).pipe(Layer.provide(Authorization.layer))

const routes = Layer.mergeAll(HttpApiBuilder.layer(ServedApi, { openapiPath: Docs.openApiPath }), Docs.layer).pipe(
  Layer.provide(HttpServer.layerServices),
  Layer.provide([endpoints, Query.layer])
)

/** Paths are what they say; only the trailing slash of the documented ones may be left out. */
const routerConfig = {
  caseSensitive: true,
  ignoreDuplicateSlashes: false,
  ignoreTrailingSlash: true,
  maxParamLength: longestUrlBytes
}

export interface AppOptions {
  /**
   * Whether every success goes through the API's own schemas; what they refuse is a 500. Without it the plainest requests
   * are answered directly, by `direct.ts`.
   */
  readonly checkReplies: boolean
}

/** The service: one effect per request, and replies to what never became one. */
export const makeApp = Effect.fnUntraced(function* (worlds: Worlds, { checkReplies }: AppOptions) {
  const ambient = yield* Effect.context<Scope.Scope>()
  const routed = yield* HttpRouter.toHttpEffect(routes).pipe(
    Effect.provideService(HttpRouter.RouterConfig, routerConfig),
    Effect.setContext(Context.pick(Scope.Scope)(ambient))
  )
  const answered = Effect.catchCause(routed, (cause) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => unanswered(request, cause))
  )
  const clock = yield* Clock.Clock
  const realMs = () => clock.currentTimeMillisUnsafe()
  const visitors = new Visitors(worlds.main.settings.allowance)

  /** Never fails; what goes wrong is a reply. */
  const handle = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const identity = worlds.identify(readCredentials(request))
    const world = identity._tag === "Known" ? identity.world : worlds.main
    const reading = spend(allowanceOf(visitors, identity, request), request, World.enter(world, realMs()))
    const finish = (response: HttpServerResponse.HttpServerResponse) =>
      HttpServerResponse.setHeaders(response, replyHeaders(response.status, reading, world.latest))
    if (!reading.granted) return Effect.succeed(finish(exhausted(reading, world.latest)))
    const refused = unanswerable(request)
    if (refused !== undefined) return Effect.succeed(finish(refused))
    const direct = checkReplies || !mayUseAll(identity) ? undefined : answerDirectly(request, world, world.latest)
    if (direct !== undefined) return Effect.succeed(finish(direct))
    return Effect.map(Effect.provideService(answered, Caller, { identity, realMs }), finish)
  })

  const reject: Reject = ({ headers, message, status }, address) => {
    const reading = visitors.allowanceOf(address).spend(World.enter(worlds.main, realMs()))
    return {
      status,
      headers: {
        ...headers,
        "content-type": "application/json",
        ...replyHeaders(status, reading, worlds.main.latest)
      },
      body: JSON.stringify(fail(status, message))
    }
  }

  const requestContext = Context.pick(
    Logger.CurrentLoggers,
    Logger.LogToStderr,
    References.MinimumLogLevel
  )(ambient).pipe(Context.add(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(largestBodyBytes)))
  return { handle, reject, requestContext }
})

/** Whether the caller may use every endpoint there is. */
const mayUseAll = (identity: Identity): boolean => identity._tag === "Known" && !identity.bySession

/** Whose allowance the request spends: its account's, or without one its address's (decision 20). */
const allowanceOf = (visitors: Visitors, identity: Identity, request: HttpServerRequest.HttpServerRequest): Allowance =>
  identity._tag === "Known"
    ? identity.world.allowance
    : visitors.allowanceOf(Option.getOrElse(request.remoteAddress, () => ""))

/** The pages about the service are not the service: they cost nothing. */
const spend = (allowance: Allowance, request: HttpServerRequest.HttpServerRequest, now: number): Reading => {
  const path = pathOf(request)
  const isAboutTheService = path === Docs.docsPath || path === Docs.openApiPath
  return isAboutTheService ? { ...allowance.peek(now), granted: true } : allowance.spend(now)
}

const pathOf = ({ url }: HttpServerRequest.HttpServerRequest): string => url.split("?", 1)[0]!

/** Decision 21. */
const exhausted = (reading: Reading, now: number): HttpServerResponse.HttpServerResponse =>
  failureResponse(
    429,
    `The allowance of ${reading.limit} requests is used up: try again in ${retryAfterSeconds(reading, now)} seconds.`
  )

/** The answer to a request that is wrong before anybody looks at what it asks for (decision 4). */
const unanswerable = (
  request: HttpServerRequest.HttpServerRequest
): HttpServerResponse.HttpServerResponse | undefined => {
  if (isWithoutHost(request)) return failureResponse(400, "The header host is missing.")
  if (request.url.length > longestUrlBytes) {
    return failureResponse(414, `The URL is longer than ${longestUrlBytes} bytes.`)
  }
  if (Number(request.headers["content-length"] ?? 0) > largestBodyBytes) {
    return failureResponse(413, bodyTooLarge.message)
  }
  return undefined
}

/** HTTP/1.1 asks for a host in every request (RFC 9112 §3.2). A request that came without a socket has no version. */
const isWithoutHost = ({ headers, source }: HttpServerRequest.HttpServerRequest): boolean =>
  headers["host"] === undefined && "httpVersion" in source && source.httpVersion === "1.1"

/** The answer where no endpoint gave one. A client that has gone away gets none. */
const unanswered = (request: HttpServerRequest.HttpServerRequest, cause: Cause.Cause<unknown>) => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  const failure = cause.reasons.find(Cause.isFailReason)?.error
  if (HttpServerError.isHttpServerError(failure) && failure.reason._tag === "RouteNotFound") {
    return Effect.succeed(noEndpoint(request))
  }
  return Effect.as(
    Effect.logError("A request could not be answered", cause).pipe(
      Effect.annotateLogs({ method: request.method, path: pathOf(request) })
    ),
    failureResponse(500, "The service failed.")
  )
}

/** Another method of a path there is, or a path there is not. */
const noEndpoint = (request: HttpServerRequest.HttpServerRequest): HttpServerResponse.HttpServerResponse => {
  const allow = allowedMethods(pathOf(request))
  // A path whose escapes cannot be read is no path, even where it looks like one.
  const isUnreadable = allow?.split(", ").includes(request.method) === true && request.method !== "OPTIONS"
  if (allow === undefined || isUnreadable) return failureResponse(404, "There is nothing at this path.")
  if (request.method === "OPTIONS") return HttpServerResponse.empty({ status: 204, headers: { allow } })
  return failureResponse(405, `The path does not answer ${request.method}, only ${allow}.`, { headers: { allow } })
}
