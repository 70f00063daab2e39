/**
 * The path of a request through the server, from its arrival to its reply: who sent it, what it costs, whether it can be
 * answered at all, its endpoint, and last what every reply has in common. The endpoints are in the files named after their
 * groups.
 */
import { fail } from "@berth/core/api/Envelope"
import { Clock, Context, Effect, Layer, Logger, Option, type Redacted, References, Scope } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { isControl, makePlane } from "./control/plane.ts"
import { serveFaulty } from "./injection/firing.ts"
import { EventFeed } from "./journal/EventFeed.ts"
import type { Allowance, Reading } from "./world/allowance.ts"
import { Visitors } from "./world/AnonymousAllowances.ts"
import * as World from "./world/World.ts"
import type { Identity, Worlds } from "./world/Worlds.ts"
import * as Authorization from "./http/authorization.ts"
import { Caller, type CallerInfo, readCredentials } from "./http/Exchange.ts"
import * as Commitments from "./http/commitments.ts"
import { answerDirectly } from "./http/fast/answerFast.ts"
import * as Docs from "./http/docs.ts"
import { failureResponse } from "./http/failures.ts"
import * as Images from "./http/images.ts"
import { largestBodyBytes } from "./transport/limits.ts"
import type { Reject } from "./transport/nodeServer.ts"
import * as Nodes from "./http/nodes.ts"
import { routerConfig } from "./transport/paths.ts"
import * as Query from "./http/query.ts"
import { replyHeaders, retryAfterSeconds } from "./http/replyHeaders.ts"
import { ServedApi } from "./http/ServedApi.ts"
import { pathOf, unanswerable, unanswered } from "./http/fallback.ts"

/**
 * The endpoints. What they are built with is merged into the context of every request they answer: it is only what they
 * need, so what serves the API as a whole is provided to that alone.
 */
const endpoints = Layer.mergeAll(Nodes.layer, Images.layer, Commitments.layer).pipe(Layer.provide(Authorization.layer))

const routes = Layer.mergeAll(HttpApiBuilder.layer(ServedApi, { openapiPath: Docs.openApiPath }), Docs.layer).pipe(
  Layer.provide(HttpServer.layerServices),
  Layer.provide([endpoints, Query.layer])
)

export interface AppOptions {
  /**
   * Whether every success goes through the API's own schemas; what they refuse is a 500. Without it the plainest requests
   * are answered directly, by `direct.ts`.
   */
  readonly checkReplies: boolean
  /** What a request of the control plane has to show; without one, it needs nothing. */
  readonly controlToken?: Redacted.Redacted | undefined
}

/** The service: one effect per request, and replies to what never became one. */
export const makeApp = Effect.fnUntraced(function* (worlds: Worlds, { checkReplies, controlToken }: AppOptions) {
  const ambient = yield* Effect.context<Scope.Scope>()
  const routed = yield* HttpRouter.toHttpEffect(routes).pipe(
    Effect.provideService(HttpRouter.RouterConfig, routerConfig),
    Effect.setContext(Context.pick(Scope.Scope)(ambient))
  )
  const answered = Effect.catchCause(routed, (cause) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => unanswered(request, cause))
  )
  const clock = yield* Clock.Clock
  const realMillis = () => clock.currentTimeMillisUnsafe()
  const feed = new EventFeed()
  const plane = yield* makePlane({ worlds, realMillis, feed }, controlToken)
  const visitors = new Visitors(worlds.main.settings.allowance)

  /** The reply of the service. Where `instead` has an answer it is that of the endpoint, which is not asked. */
  const serve = (
    request: HttpServerRequest.HttpServerRequest,
    caller: CallerInfo,
    world: World.World,
    allowance: Allowance,
    instead?: () => HttpServerResponse.HttpServerResponse | undefined
  ) => {
    const reading = spend(allowance, request, world.latest)
    const finish = (response: HttpServerResponse.HttpServerResponse) =>
      HttpServerResponse.setHeaders(response, {
        ...caller.headers,
        ...replyHeaders(response.status, reading, world.latest)
      })
    if (!reading.granted) return Effect.succeed(finish(exhausted(reading, world.latest)))
    const answer = unanswerable(request) ?? instead?.()
    if (answer !== undefined) return Effect.succeed(finish(answer))
    return Effect.map(Effect.provideService(answered, Caller, caller), finish)
  }

  /** Writes the journal; `laterMillis` is how much real time the reply waits. */
  const note = (
    { method, url }: HttpServerRequest.HttpServerRequest,
    { body }: CallerInfo,
    world: World.World,
    at: number,
    status: number | null,
    faults: ReadonlyArray<string>,
    laterMillis: number
  ) => {
    const durationMillis = world.latest - at + Math.round(laterMillis * world.clock.rate)
    worlds.changes += 1
    feed.record(world, { at, durationMillis, method, url, body, status, faults })
  }

  /** Never fails; what goes wrong is a reply. */
  const handle = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    // No part of the service: it costs no allowance and asks for no account.
    if (isControl(request)) return plane
    const identity = worlds.identify(readCredentials(request))
    const caller: CallerInfo = { identity, realMillis }
    const world = identity._tag === "Known" ? identity.world : worlds.main
    const now = World.enter(world, realMillis())
    const allowance = allowanceOf(visitors, identity, request)
    if (isAboutTheService(request)) return serve(request, caller, world, allowance)
    if (world.faults.length > 0 && identity._tag === "Known") {
      return serveFaulty({
        request,
        world,
        now,
        serve: (shrunk, instead) => serve(request, caller, world, shrunk, instead),
        record: (status, faults, laterMillis) => note(request, caller, world, now, status, faults, laterMillis)
      })
    }
    const direct = checkReplies || !mayUseAll(identity) ? undefined : () => answerDirectly(request, world, now)
    return Effect.map(serve(request, caller, world, allowance, direct), (response) => {
      note(request, caller, world, now, response.status, noFaults, 0)
      return response
    })
  })

  const reject: Reject = ({ headers, message, status }, address) => {
    const reading = visitors.allowanceOf(address).spend(World.enter(worlds.main, realMillis()))
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
  )(ambient).pipe(
    // The clock of faults that take time.
    Context.add(Clock.Clock, clock),
    Context.add(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(largestBodyBytes))
  )
  return { handle, reject, requestContext }
})

/** Whether the caller may use every endpoint there is. */
const mayUseAll = (identity: Identity): boolean => identity._tag === "Known" && !identity.bySession

const noFaults: ReadonlyArray<string> = []

/** Whose allowance the request spends: its account's, or without one its address's (decision 20). */
const allowanceOf = (visitors: Visitors, identity: Identity, request: HttpServerRequest.HttpServerRequest): Allowance =>
  identity._tag === "Known"
    ? identity.world.allowance
    : visitors.allowanceOf(Option.getOrElse(request.remoteAddress, () => ""))

/** The pages about the service are not the service: they cost nothing. */
const spend = (allowance: Allowance, request: HttpServerRequest.HttpServerRequest, now: number): Reading =>
  isAboutTheService(request) ? { ...allowance.peek(now), granted: true } : allowance.spend(now)

const isAboutTheService = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const path = pathOf(request)
  return path === Docs.docsPath || path === Docs.openApiPath
}

/** Decision 21. */
const exhausted = (reading: Reading, now: number): HttpServerResponse.HttpServerResponse =>
  failureResponse(
    429,
    `The allowance of ${reading.limit} requests is used up: try again in ${retryAfterSeconds(reading, now)} seconds.`
  )
