/**
 * The path of a request through the server, from its arrival to its reply: who sent it, what it costs, whether it can be
 * answered at all, its endpoint, and last what every reply has in common. The endpoints are in the files named after their
 * groups.
 */
import { fail } from "@berth/core/api/Envelope"
import { Clock, Effect, Layer, Option, type Redacted } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { isControl, makePlane } from "../control/plane.ts"
import type { Allowance, Reading } from "../world/allowance.ts"
import { Visitors } from "../world/Visitors.ts"
import * as World from "../world/World.ts"
import type { Identity, Worlds } from "../world/Worlds.ts"
import * as Authorization from "./authorization.ts"
import { Caller, readCredentials } from "./Caller.ts"
import * as Commitments from "./commitments.ts"
import * as Docs from "./docs.ts"
import { failureResponse } from "./failures.ts"
import * as Images from "./images.ts"
import { largestBodyBytes } from "./limits.ts"
import type { Reject } from "./nodeServer.ts"
import * as Nodes from "./nodes.ts"
import { routerConfig } from "./router.ts"
import * as Query from "./query.ts"
import { replyHeaders, retryAfterSeconds } from "./replyHeaders.ts"
import { ServedApi } from "./ServedApi.ts"
import { pathOf, unanswerable, unanswered } from "./unanswered.ts"

const routes = Layer.mergeAll(
  HttpApiBuilder.layer(ServedApi, { openapiPath: Docs.openApiPath }).pipe(
    Layer.provide([Nodes.layer, Images.layer, Commitments.layer]),
    Layer.provide([Authorization.layer, Query.layer])
  ),
  Docs.layer
).pipe(Layer.provide(HttpServer.layerServices))

/** The service: one effect per request, and replies to what never became one. */
export const makeApp = Effect.fnUntraced(function* (worlds: Worlds, controlToken?: Redacted.Redacted) {
  const endpoints = yield* Effect.provideService(HttpRouter.toHttpEffect(routes), HttpRouter.RouterConfig, routerConfig)
  const clock = yield* Clock.Clock
  const realMs = () => clock.currentTimeMillisUnsafe()
  const plane = yield* makePlane({ worlds, realMs }, controlToken)
  const visitors = new Visitors(worlds.main.settings.allowance)

  /** Never fails; what goes wrong is a reply. */
  const handle = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    // No part of the service: it costs no allowance and asks for no account.
    if (isControl(request)) return yield* plane
    const identity = worlds.identify(readCredentials(request))
    const world = identity._tag === "Known" ? identity.world : worlds.main
    const reading = spend(allowanceOf(visitors, identity, request), request, World.enter(world, realMs()))
    const response = reading.granted
      ? (unanswerable(request) ??
        (yield* endpoints.pipe(
          Effect.provideService(Caller, { identity, realMs }),
          Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(largestBodyBytes)),
          Effect.catchCause((cause) => unanswered(request, cause))
        )))
      : exhausted(reading, world.latest)
    return HttpServerResponse.setHeaders(response, replyHeaders(response.status, reading, world.latest))
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

  return { handle, reject }
})

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

/** Decision 21. */
const exhausted = (reading: Reading, now: number): HttpServerResponse.HttpServerResponse =>
  failureResponse(
    429,
    `The allowance of ${reading.limit} requests is used up: try again in ${retryAfterSeconds(reading, now)} seconds.`
  )
