/**
 * The service: the steps of a request from its arrival to its reply. In the list of `makeApp`, a request passes the steps from top to
 * bottom, and its reply passes them from bottom to top.
 */
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { fail } from "@berthkit/core/api/Envelope"
import { hasBody } from "@berthkit/web/guard"
import { allowedMethods, canonicalTarget, endpointsOf, routerConfig } from "@berthkit/web/paths"
import { Clock, Context, Effect, Layer, Logger, References, Scheduler, Scope } from "effect"
import * as ByteSize from "effect/ByteSize"
import { HttpIncomingMessage, HttpRouter, HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { controlPrefix } from "./control/ControlApi.ts"
import { endIdleWorlds } from "./control/ControlledWorlds.ts"
import { type ControlOptions, makePlane } from "./control/plane.ts"
import * as Commitments from "./http/commitments.ts"
import { makeCors } from "./http/cors.ts"
import { authorization, identify } from "./http/credentials.ts"
import { answersToday, failsToday } from "./dialect/steps.ts"
import * as Docs from "./docs/docs.ts"
import { CurrentExchange, type Exchange, type Handler, type Reply, type Step } from "./http/Exchange.ts"
import { failureResponse } from "./http/failures.ts"
import { fallback, pathOf, precheck } from "./http/fallback.ts"
import { answerFast } from "./http/fast/answerFast.ts"
import * as Images from "./http/images.ts"
import * as Nodes from "./http/nodes.ts"
import * as Query from "./http/query.ts"
import { httpDate, replyHeaders, retryAfterSeconds } from "./http/replyHeaders.ts"
import { type Described, marked } from "./docs/marks.ts"
import { listsAsObserved, writtenAsObserved } from "./profile/asObserved.ts"
import type { Profile } from "@berthkit/profile/Profile"
import { deliver, injectFaults } from "./injection/injectFaults.ts"
import { Journals } from "./journal/Journals.ts"
import { drain } from "./transport/drain.ts"
import { maxBodyBytes, maxUrlBytes } from "./transport/limits.ts"
import type { Reject } from "./transport/nodeServer.ts"
import { bytesOf } from "./transport/replyBytes.ts"
import type { Reading } from "./world/allowance.ts"
import * as World from "./world/World.ts"
import { useWorld, type Worlds } from "./world/Worlds.ts"

export interface AppOptions {
  /**
   * Whether the API's own schemas encode every success. If so, a reply that does not match its schema becomes a 500. If
   * false, the plainest requests take the fast path.
   */
  readonly checkReplies: boolean
  /** Who may use the control plane. Default: programs on this machine. */
  readonly control?: ControlOptions | undefined
  /** Origins whose pages may call the service; `*` means all origins. Default: none. */
  readonly cors?: ReadonlyArray<string> | undefined
  /** How long a world may be unused before it ends. Default: no world ends by itself. */
  readonly worldTtlMillis?: number | undefined
  /** The observed behaviour of a service, which the worlds imitate. Default: as Berth assumes. */
  readonly profile?: Profile | undefined
}

type Answer = Effect.Effect<Reply, never, HttpServerRequest.HttpServerRequest | Scope.Scope>

/** The service: an effect that answers a request, and a function that answers input that never became a request. */
export const makeApp = Effect.fnUntraced(function* (
  worlds: Worlds,
  { checkReplies, control = {}, cors: origins = [], profile, worldTtlMillis }: AppOptions
) {
  const ambient = yield* Effect.context<Scope.Scope>()
  const clock = yield* Clock.Clock
  const realMillis = () => clock.currentTimeMillisUnsafe()
  const journals = new Journals()
  const controlled = { worlds, realMillis, journals }
  const controlPlane = yield* makePlane(controlled, control)
  if (worldTtlMillis !== undefined) yield* Effect.forkScoped(endIdleWorlds(controlled, worldTtlMillis))
  const endpoint = yield* makeEndpoint({ profile, isToday: worlds.main.settings.today !== undefined })
  const cors = makeCors(origins)
  const allowOrigin = cors === undefined ? [] : [cors.allowOrigin]

  const service = inOrder(
    [
      deliver, // The last step of the reply: a fault may deliver it late, in part or not at all.
      ...allowOrigin, // Adds the headers before a fault delivers the reply. Failures get them, too: a page can read a 429 only with these headers.
      keepJournal(worlds, journals), // Records before a late delivery, so that the journal also has requests that are refused, or whose client gives up.
      injectFaults, // Faults act around the honest service, never inside it.
      ...(profile === undefined ? [] : [ofDocumented(writtenAsObserved(profile))]), // This step is inside the faults, because faults act on the bytes that it writes.
      failsToday, // Rewrites failures, only in a world of today's dialect.
      awaitBody, // Reads the body before a refusal goes out, because many clients read the reply only after they have sent the whole body.
      spendAllowance, // Spends allowance. A request that this step refuses costs nothing and never reaches an endpoint (A21). Every reply gets the headers of the allowance.
      check, // Refuses requests that are wrong at any path: no host, or a URL or body that is too long (A4).
      answerInstead, // A fault's own answer. It comes here because it costs what any reply costs.
      answersToday, // In a world of today's dialect, this step replaces everything below.
      ...(profile === undefined ? [] : [ofDocumented(listsAsObserved(profile))]), // Pages and filters lists as the profile says.
      ...(checkReplies || profile !== undefined ? [] : [takeFastPath]) // Answers the two most frequent requests without the router and the schemas.
    ],
    endpoint // The router. If no endpoint answers, its fallback does: 404, 405, OPTIONS, or 500 for a defect.
  )

  /**
   * The pages about the service (docs and description) are not part of it: they spend no allowance, no fault fires for them,
   * and no journal records them.
   */
  const pages = inOrder([...allowOrigin, showAllowance, check, leadToDocs], endpoint)

  const answer: Answer = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    // The control plane is not part of the service: it spends no allowance, needs no account and is in no journal.
    if (isControl(request)) return controlPlane
    // The caller determines the world, and with it the clock, allowance, faults and journal.
    const identity = identify(worlds, request)
    const world = identity.world ?? worlds.main
    const real = realMillis()
    // With a preflight, a browser asks whether a page may send a request. The request itself follows.
    const preflight = cors?.preflight(request)
    if (preflight !== undefined) {
      return Effect.succeed(HttpServerResponse.setHeader(preflight, "date", httpDate(World.instantOf(world, real))))
    }
    // Removes the nodes that have ended by now before any step reads the world.
    const arrivedAt = World.enter(world, real)
    const allowance = identity.world?.allowance ?? worlds.unnamed
    const exchange = { request, identity, world, arrivedAt, realMillis, allowance }
    const reply = isAboutTheService(request) ? pages(exchange) : service(exchange)
    return identity.world !== undefined && worlds.mayEnd(identity.world)
      ? Effect.andThen(useWorld(controlled, identity.world), reply)
      : reply
  })

  /** Never fails; every problem becomes a reply. */
  const handle = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    // Everything that reads the path (router, guard, faults, journal) gets the URL in one spelling.
    const url = canonicalTarget(request.url)
    return url === request.url
      ? answer
      : Effect.provideService(answer, HttpServerRequest.HttpServerRequest, request.modify({ url }))
  })

  /** The reply to input that never became a request and therefore belongs to no world. */
  const reject: Reject = ({ headers, message, status }, origin) => {
    const reading = worlds.unnamed.spend(World.instantOf(worlds.main, realMillis()))
    return {
      status,
      headers: {
        ...cors?.headersFor(origin),
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
    References.MinimumLogLevel,
    Scheduler.Scheduler
  )(ambient).pipe(
    // Faults that delay a reply use this clock.
    Context.add(Clock.Clock, clock),
    Context.add(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBodyBytes))
  )
  return { handle, reject, requestContext }
})

/** Wraps the last handler in the steps. The first step is the outermost. */
const inOrder = (steps: ReadonlyArray<Step>, last: Handler): Handler =>
  steps.reduceRight((next, step) => step(next), last)

/** Limits a step to worlds of the documented interface, because that is what a profile describes. */
const ofDocumented =
  (step: Step): Step =>
  (next) => {
    const stepped = step(next)
    return (exchange) => (exchange.world.settings.today === undefined ? stepped : next)(exchange)
  }

/** Whether a request goes to the control plane. */
const isControl = ({ url }: HttpServerRequest.HttpServerRequest): boolean =>
  url.startsWith(controlPrefix) && /^($|[/?])/.test(url.slice(controlPrefix.length, controlPrefix.length + 1))

const isAboutTheService = (request: HttpServerRequest.HttpServerRequest): boolean => {
  const path = pathOf(request)
  return path === Docs.docsPath || path === Docs.openApiPath || path === Docs.iconPath || isBrowserAtRoot(request)
}

/** Whether a person has opened the server's bare address in a browser. The real service has nothing there. */
const isBrowserAtRoot = (request: HttpServerRequest.HttpServerRequest): boolean =>
  (request.method === "GET" || request.method === "HEAD") &&
  pathOf(request) === "/" &&
  /\btext\/html\b/i.test(request.headers["accept"] ?? "")

const noFaults: ReadonlyArray<string> = []
const noHeaders: Readonly<Record<string, string>> = {}

const keepJournal =
  (worlds: Worlds, journals: Journals): Step =>
  (next) =>
  (exchange) =>
    Effect.mapEager(next(exchange), (reply) => {
      const { arrivedAt: at, body, delivery, request, world } = exchange
      const delayMillis = Math.round((delivery?.delayMillis ?? 0) * world.clock.rate)
      const isWorthReading = reply.status >= 400 || delivery !== undefined
      const isAnswered = delivery?.isAnswered !== false
      worlds.changes += 1
      journals.record(world, {
        at,
        durationMillis: world.latest - at + delayMillis,
        method: request.method,
        url: request.url,
        headers: request.headers,
        body,
        status: isAnswered ? reply.status : null,
        replyHeaders: isAnswered ? reply.headers : noHeaders,
        replyBytes: reply.body._tag === "Empty" ? 0 : reply.body.contentLength,
        replyBody: isWorthReading ? bytesOf(reply) : undefined,
        faults: delivery?.faults ?? noFaults
      })
      return reply
    })

/** The headers of every reply of the service. */
const withReplyHeaders = (exchange: Exchange, reading: Reading, reply: ReturnType<Handler>) =>
  Effect.mapEager(reply, (reply) => {
    const headers = replyHeaders(reply.status, reading, exchange.world.latest)
    const all = exchange.headers === undefined ? headers : { ...exchange.headers, ...headers }
    return HttpServerResponse.setHeaders(reply, all)
  })

const spendAllowance: Step = (next) => (exchange) => {
  const now = exchange.world.latest
  const reading = exchange.allowance.spend(now)
  return withReplyHeaders(exchange, reading, reading.granted ? next(exchange) : Effect.succeed(exhausted(reading, now)))
}

const showAllowance: Step = (next) => (exchange) =>
  withReplyHeaders(exchange, exchange.allowance.peek(exchange.world.latest), next(exchange))

/** The refusal of a request beyond the allowance (assumption A21 in docs/interface/assumptions.md). */
const exhausted = (reading: Reading, now: number): Reply =>
  failureResponse(
    429,
    `The allowance of ${reading.limit} requests is used up: try again in ${retryAfterSeconds(reading, now)} seconds.`
  )

/** A step that replies if `answer` has a reply, and otherwise calls the next step. */
const answering =
  (answer: (exchange: Exchange) => Reply | undefined): Step =>
  (next) =>
  (exchange) => {
    const reply = answer(exchange)
    return reply === undefined ? next(exchange) : Effect.succeed(reply)
  }

const awaitBody: Step = (next) => (exchange) =>
  Effect.flatMapEager(next(exchange), (reply) =>
    reply.status >= 400 && hasBody(exchange.request.headers)
      ? Effect.as(drain(exchange.request), reply)
      : Effect.succeed(reply)
  )

const check = answering(({ request }) => precheck(request, maxBodyBytes))
const leadToDocs = answering(({ request }) =>
  isBrowserAtRoot(request) ? HttpServerResponse.redirect(Docs.docsPath, { status: 302 }) : undefined
)
const answerInstead = answering(({ answerInstead }) => answerInstead?.())
const takeFastPath = answering(answerFast)

/**
 * The endpoints. Effect merges the context of these layers into every request that they answer, so the layers provide only
 * what endpoints need. Everything else is provided to the API as a whole.
 */
const endpoints = Layer.mergeAll(Nodes.layer, Images.layer, Commitments.layer).pipe(Layer.provide(authorization))

const routesUnder = (described: Described) =>
  Layer.mergeAll(
    HttpApiBuilder.layer(marked(Query.ServedApi, described), { openapiPath: Docs.openApiPath }),
    Docs.layerOf(described)
  ).pipe(Layer.provide(HttpServer.layerServices), Layer.provide([endpoints, Query.layer]))

const allowed = allowedMethods([
  ...endpointsOf(BerthApi),
  { path: Docs.openApiPath, method: "GET" },
  { path: Docs.docsPath, method: "GET" },
  { path: Docs.iconPath, method: "GET" }
])

/** Answers a request by its endpoint, or by the fallback. */
const makeEndpoint = Effect.fnUntraced(function* (described: Described) {
  const ambient = yield* Effect.context<Scope.Scope>()
  const routed = yield* HttpRouter.toHttpEffect(routesUnder(described)).pipe(
    Effect.provideService(HttpRouter.RouterConfig, routerConfig(maxUrlBytes)),
    Effect.setContext(Context.pick(Scope.Scope)(ambient))
  )
  const answered = Effect.catchCause(routed, (cause) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => fallback(request, cause, allowed))
  )
  const endpoint: Handler = (exchange) => Effect.provideService(answered, CurrentExchange, exchange)
  return endpoint
})
