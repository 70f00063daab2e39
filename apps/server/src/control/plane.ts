/**
 * The path of a request through the control plane: the page, the token if one is asked for, then the endpoint. Nothing here
 * spends an allowance, asks for an account, or shows the time of a world in its headers.
 */
import { Effect, Layer, Redacted } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import pkg from "../../package.json" with { type: "json" }
import { bearerToken } from "../http/credentials.ts"
import { failureResponse } from "../http/failures.ts"
import { fallback, precheck } from "../http/fallback.ts"
import * as Query from "../http/query.ts"
import { maxControlBodyBytes } from "../transport/limits.ts"
import { allowedMethods, endpointsOf, routerConfig } from "../transport/paths.ts"
import { sameSecret } from "../world/CredentialIndex.ts"
import type { Worlds as AllWorlds } from "../world/Worlds.ts"
import * as Clock from "./clock.ts"
import { ControlApi, controlPrefix, ControlToken } from "./ControlApi.ts"
import { type Controlled, ControlledWorlds } from "./ControlledWorlds.ts"
import * as Events from "./events.ts"
import * as Faults from "./faults.ts"
import * as Nodes from "./nodes.ts"
import { page } from "./page/page.ts"
import { checkParameters } from "./parameters.ts"
import * as Requests from "./requests.ts"
import * as SavedImages from "./savedImages.ts"
import * as Worlds from "./worlds.ts"

/** Where the control plane describes itself. */
const openApiPath = `${controlPrefix}/openapi.json`

const health = HttpApiBuilder.group(ControlApi, "health", (handlers) =>
  handlers.handle("get", () =>
    Effect.map(ControlledWorlds, ({ worlds }) => ({
      status: "ok" as const,
      version: pkg.version,
      worlds: worlds.size
    }))
  )
)

/** The token was checked before the request was routed, so that without it a client learns no paths. */
const tokenChecked = Layer.succeed(ControlToken)((endpoint) => endpoint)

const routes = HttpApiBuilder.layer(ControlApi, { openapiPath: openApiPath }).pipe(
  Layer.provide([
    health,
    Worlds.layer,
    Clock.layer,
    Nodes.layer,
    SavedImages.layer,
    Faults.layer,
    Requests.layer,
    Events.layer
  ]),
  Layer.provide([tokenChecked, Query.layer]),
  Layer.provide(HttpServer.layerServices)
)

const checkedParameters = checkParameters(endpointsOf(ControlApi))

const allowed = allowedMethods([...endpointsOf(ControlApi), { path: `${controlPrefix}/`, method: "GET" }])

/** Whether a request is to the control plane. */
export const isControl = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  url.startsWith(controlPrefix) && /^($|[/?])/.test(url.slice(controlPrefix.length, controlPrefix.length + 1))

/** Whether a request asks for the page. */
const isForPage = ({ method, url }: HttpServerRequest.HttpServerRequest): boolean =>
  (method === "GET" || method === "HEAD") && /^\/?(\?|$)/.test(url.slice(controlPrefix.length))

export const makePlane = Effect.fnUntraced(function* (controlled: Controlled, token: Redacted.Redacted | undefined) {
  const endpoints = yield* Effect.provideService(HttpRouter.toHttpEffect(routes), HttpRouter.RouterConfig, routerConfig)
  /** Never fails; what goes wrong is a reply. */
  return Effect.gen(function* () {
    const arrived = yield* HttpServerRequest.HttpServerRequest
    // Before the token: the page holds no data, and a browser has no other way to ask for a token.
    if (isForPage(arrived)) return page()
    const given = bearerToken(arrived)
    if (token !== undefined && (given === undefined || !sameSecret(given, Redacted.value(token)))) return unauthorized
    const request = withWholePath(arrived, controlled.worlds)
    const response =
      precheck(request, maxControlBodyBytes) ??
      checkedParameters(request) ??
      (yield* endpoints.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        Effect.provideService(ControlledWorlds, controlled),
        Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxControlBodyBytes)),
        Effect.catchCause((cause) => fallback(request, cause, allowed))
      ))
    // Now, not before: a save that sees the count must see the change.
    if (request.method !== "GET" && request.method !== "HEAD") controlled.worlds.changes += 1
    return response
  })
})

/** A world may be named right after the prefix: `/_mock/w1/clock` is `/_mock/worlds/w1/clock`. */
const withWholePath = (request: HttpServerRequest.HttpServerRequest, worlds: AllWorlds) => {
  const [, id] = /^\/([^/?]+)\//.exec(request.url.slice(controlPrefix.length)) ?? []
  return id === undefined || (worlds.get(id) === undefined && !worlds.hasEnded(id))
    ? request
    : request.modify({ url: `${controlPrefix}/worlds${request.url.slice(controlPrefix.length)}` })
}

const unauthorized = failureResponse(401, "The control token is missing or wrong: Authorization: Bearer …", {
  headers: { "www-authenticate": "Bearer" }
})
