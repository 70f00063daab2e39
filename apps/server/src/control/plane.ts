/**
 * The path of a request through the control plane: the access check, then the page or the endpoint. A request here spends no
 * allowance and needs no account, and the headers of its reply do not have the time of a world.
 */
import { type Access, bearerToken, hasBody, makeGuard, readHostName, type Target } from "@berthkit/web/guard"
import { allowedMethods, type Endpoint, endpointsOf, fits, routerConfig, segmentsOf } from "@berthkit/web/paths"
import { Effect, Layer, Redacted, Stream } from "effect"
import { HttpRouter, HttpServer, HttpServerRequest } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import pkg from "../../package.json" with { type: "json" }
import { failureResponse } from "../http/failures.ts"
import { fallback, pathOf, precheck } from "../http/fallback.ts"
import * as Query from "../http/query.ts"
import { drain } from "../transport/drain.ts"
import { maxBodyBytes, maxSnapshotBytes, maxUrlBytes } from "../transport/limits.ts"
import { sameSecret, type Worlds as AllWorlds } from "../world/Worlds.ts"
import * as Clock from "./clock.ts"
import { ControlApi, ControlAccess, controlPrefix } from "./ControlApi.ts"
import { type Controlled, ControlledWorlds } from "./ControlledWorlds.ts"
import * as Events from "./events.ts"
import * as Faults from "./faults.ts"
import * as Nodes from "./nodes.ts"
import { page } from "./page/page.ts"
import { checkParameters } from "./parameters.ts"
import * as Requests from "./requests.ts"
import * as SavedImages from "./savedImages.ts"
import * as Worlds from "./worlds.ts"

/** The guard of `@berthkit/web`, with the control plane's messages. */
export const refusalOf = makeGuard({
  name: "The control plane",
  token: "control token",
  toAllow: (host) => `start with --allow-host ${host}`
})

/** The path of the control plane's OpenAPI description. */
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

/** Lets everything pass, because the access check has run before the request is routed. */
const checked = Layer.succeed(ControlAccess)((endpoint) => endpoint)

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
  Layer.provide([checked, Query.layer]),
  Layer.provide(HttpServer.layerServices)
)

/** The page for people. */
const shell: Endpoint = { path: `${controlPrefix}/`, method: "GET" }

const described: ReadonlyArray<Endpoint> = [...endpointsOf(ControlApi), { path: openApiPath, method: "GET" }]

const checkedParameters = checkParameters(described)

const bodiless = [...described, shell].flatMap(({ method, path, payload }) =>
  (payload?.size ?? 0) > 0 ? [] : [{ method, form: segmentsOf(path) }]
)

/** Refuses a body if the route reads none, because the sender expects the body to have an effect. */
const refuseBody = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const method = request.method === "HEAD" ? "GET" : request.method
  const path = segmentsOf(pathOf(request))
  if (!hasBody(request.headers) || !bodiless.some((one) => one.method === method && fits(one.form, path)))
    return undefined
  // Read the beginning, because a chunked body may be empty.
  const first = yield* Effect.option(Stream.runHead(Stream.filter(request.stream, ({ length }) => length > 0)))
  return first._tag === "Some" && first.value._tag === "None"
    ? undefined
    : failureResponse(400, "This path takes no body.")
})

const allowed = allowedMethods([...described, shell])

/**
 * What a request asks for. Only two things work without the token: the page, on which the reader can enter the token, and
 * the health check.
 */
const targetOf = ({ method, url }: HttpServerRequest.HttpServerRequest): Target => {
  if (method !== "GET" && method !== "HEAD") return "data"
  const [path] = url.slice(controlPrefix.length).split("?", 1)
  if (path === "" || path === "/") return "shell"
  return path === "/health" || path === "/health/" ? "open" : "data"
}

/** Who may use the control plane. */
export interface ControlOptions {
  /** The token that requests must show. Default: requests need none. */
  readonly token?: Redacted.Redacted | undefined
  /** Host names and addresses other than loopback at which the control plane may be used. Default: none. */
  readonly hosts?: ReadonlyArray<string> | undefined
  /** The scheme of the server's URL. Default: `http`. */
  readonly scheme?: Access["scheme"] | undefined
}

/** The maximum size of a body at this path. */
const maxBytesOf = ({ method, url }: HttpServerRequest.HttpServerRequest): number =>
  method === "PUT" && fits(snapshotPath, segmentsOf(url.split("?", 1)[0]!)) ? maxSnapshotBytes : maxBodyBytes

const snapshotPath = segmentsOf(`${controlPrefix}/worlds/:world/snapshot`)

export const makePlane = Effect.fnUntraced(function* (
  controlled: Controlled,
  { hosts = [], scheme = "http", token }: ControlOptions
) {
  const access: Access = {
    scheme,
    hosts: new Set(hosts.flatMap((host) => readHostName(host) ?? [])),
    needsToken: token !== undefined
  }
  const showsToken = (request: HttpServerRequest.HttpServerRequest): boolean => {
    const given = token === undefined ? undefined : bearerToken(request)
    return given !== undefined && sameSecret(given, Redacted.value(token!))
  }
  const endpoints = yield* Effect.provideService(
    HttpRouter.toHttpEffect(routes),
    HttpRouter.RouterConfig,
    routerConfig(maxUrlBytes)
  )
  const answer = Effect.fnUntraced(function* (arrived: HttpServerRequest.HttpServerRequest) {
    const target = targetOf(arrived)
    // Check access before anything reads the path, so that a client without the token cannot find out which paths exist.
    const refusal = refusalOf(
      { method: arrived.method, target, headers: arrived.headers, showsToken: showsToken(arrived) },
      access
    )
    if (refusal !== undefined) return failureResponse(refusal.status, refusal.message, refusal)
    if (target === "shell") return precheck(arrived, maxBodyBytes) ?? (yield* refuseBody(arrived)) ?? page(arrived)
    const request = withWholePath(arrived, controlled.worlds)
    const refused = precheck(request, maxBytesOf(request)) ?? checkedParameters(request) ?? (yield* refuseBody(request))
    if (refused !== undefined) return refused
    const response = yield* endpoints.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, request),
      Effect.provideService(ControlledWorlds, controlled),
      Effect.catchCause((cause) => fallback(request, cause, allowed))
    )
    // Count only now: if a save sees the new count, it must also see the change.
    if (request.method !== "GET" && request.method !== "HEAD") controlled.worlds.changes += 1
    return response
  })
  /** Never fails; every problem becomes a reply. */
  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const response = yield* answer(request)
    if (response.status >= 400) yield* drain(request)
    return response
  })
})

/** The world may follow right after the prefix: `/_mock/w1/clock` means `/_mock/worlds/w1/clock`. */
const withWholePath = (request: HttpServerRequest.HttpServerRequest, worlds: AllWorlds) => {
  const [, id] = /^\/([^/?]+)\//.exec(request.url.slice(controlPrefix.length)) ?? []
  return id === undefined || (worlds.get(id) === undefined && !worlds.hasEnded(id))
    ? request
    : request.modify({ url: `${controlPrefix}/worlds${request.url.slice(controlPrefix.length)}` })
}
