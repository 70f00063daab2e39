/**
 * The path of a request through the control plane: the token if one is asked for, then the endpoint. Nothing here spends an
 * allowance, asks for an account, or shows the time of a world in its headers.
 */
import { Effect, Layer, Redacted } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { failureResponse } from "../http/failures.ts"
import { largestControlBodyBytes } from "../transport/limits.ts"
import * as Query from "../http/query.ts"
import { isForPage, page } from "./page/page.ts"
import { routerConfig } from "../transport/paths.ts"
import { unanswerable, unanswered } from "../http/fallback.ts"
import { type Worlds as Registry, sameSecret } from "../world/Worlds.ts"
import * as Clock from "./clock.ts"
import { ControlApi, controlPrefix, ControlToken } from "./ControlApi.ts"
import { type Controlled, ControlledWorlds } from "./ControlledWorlds.ts"
import * as Events from "./events.ts"
import * as Faults from "./faults.ts"
import * as Health from "./health.ts"
import * as Nodes from "./nodes.ts"
import * as Requests from "./requests.ts"
import * as SavedImages from "./savedImages.ts"
import * as Worlds from "./worlds.ts"

/** Where the control plane describes itself. */
const openApiPath = `${controlPrefix}/openapi.json`

/** The token was looked at before the request was routed, so that nobody learns which paths there are without it. */
const tokenSeen = Layer.succeed(ControlToken)((endpoint) => endpoint)

const routes = HttpApiBuilder.layer(ControlApi, { openapiPath: openApiPath }).pipe(
  Layer.provide([
    Health.layer,
    Worlds.layer,
    Clock.layer,
    Nodes.layer,
    SavedImages.layer,
    Faults.layer,
    Requests.layer,
    Events.layer
  ]),
  Layer.provide([tokenSeen, Query.layer]),
  Layer.provide(HttpServer.layerServices)
)

/** Whether a request is to the control plane. */
export const isControl = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  url.startsWith(controlPrefix) && /^($|[/?])/.test(url.slice(controlPrefix.length, controlPrefix.length + 1))

export const makePlane = Effect.fnUntraced(function* (controlled: Controlled, token: Redacted.Redacted | undefined) {
  const endpoints = yield* Effect.provideService(HttpRouter.toHttpEffect(routes), HttpRouter.RouterConfig, routerConfig)
  /** Never fails; what goes wrong is a reply. */
  return Effect.gen(function* () {
    const arrived = yield* HttpServerRequest.HttpServerRequest
    // Before the token: it says nothing, and a browser has no other way to ask for one.
    if (isForPage(arrived)) return page()
    if (token !== undefined && !showsToken(arrived, token)) return unauthorized
    const request = withWholePath(arrived, controlled.worlds)
    const response =
      unanswerable(request) ??
      (yield* endpoints.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        Effect.provideService(ControlledWorlds, controlled),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(largestControlBodyBytes)),
        Effect.catchCause((cause) => unanswered(request, cause))
      ))
    // Now, not before: whoever saves what has changed must see it.
    if (request.method !== "GET" && request.method !== "HEAD") controlled.worlds.changes += 1
    return response
  })
})

/** A world may be named right after the prefix: `/_mock/w1/clock` is `/_mock/worlds/w1/clock`. */
const withWholePath = (request: HttpServerRequest.HttpServerRequest, worlds: Registry) => {
  const [, id] = /^\/_mock\/([^/?]+)\//.exec(request.url) ?? []
  return id === undefined || worlds.get(id) === undefined
    ? request
    : request.modify({ url: `${controlPrefix}/worlds${request.url.slice(controlPrefix.length)}` })
}

const showsToken = ({ headers }: HttpServerRequest.HttpServerRequest, token: Redacted.Redacted): boolean =>
  sameSecret(/^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1] ?? "", Redacted.value(token))

const unauthorized = failureResponse(401, "The control token is missing or wrong: Authorization: Bearer …", {
  headers: { "www-authenticate": "Bearer" }
})
