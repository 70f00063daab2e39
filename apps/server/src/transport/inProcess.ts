/**
 * The service as an `HttpClient` without a socket. The service answers a call within the caller's fiber, without waiting for
 * a turn of the event loop, so under a `TestClock` whole calls happen within one `adjust`. Wire faults have the same effect
 * on a client as on a socket: the call fails as a transport does, or the body breaks off.
 */
import { Context, Effect, Scheduler, Scope, Stream } from "effect"
import {
  HttpBody,
  HttpClient,
  HttpClientError,
  HttpClientRequest,
  HttpEffect,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"
import { bytesOf } from "./replyBytes.ts"
import type { WireFault } from "./WireFault.ts"

const wireFaults = new WeakMap<object, WireFault>()

/** Sets a fault for the reply to a request that came without a socket. */
export const noteWireFault = (request: object, fault: WireFault): void => void wireFaults.set(request, fault)

/** The error with which `fetch` fails when a connection breaks. */
const transportFailure = (code: string, message: string): TypeError =>
  new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) })

const reset = () => transportFailure("ECONNRESET", "read ECONNRESET")

/** A client whose calls `handle` answers. For each call, `handle` runs in `requestContext`. */
export const clientOf = <R>(
  handle: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    never,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >,
  requestContext: Context.Context<R>
): HttpClient.HttpClient =>
  HttpClient.make((request, _url, _signal, caller) => {
    // Make a new object for every call: faults are recorded by object, and a caller may send the same request many times at
    // once.
    const asked = HttpClientRequest.removeHash(request)
    const scope = Scope.makeUnsafe()
    const context = requestContext.pipe(
      // Use the caller's scheduler, because a test clock needs it to find out when the fibers that it has woken are idle.
      Context.add(Scheduler.Scheduler, caller.getRef(Scheduler.Scheduler)),
      Context.add(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromClientRequest(asked)),
      Context.add(Scope.Scope, scope)
    )
    let streaming = false
    return Effect.map(handle, (reply) => {
      const shown = HttpServerResponse.omitsBody(reply, asked.method === "HEAD")
        ? HttpServerResponse.empty({ status: reply.status, headers: reply.headers })
        : HttpEffect.scopeTransferToStream(reply)
      streaming = shown.body._tag === "Stream"
      return shown
    }).pipe(
      Effect.setContext(context),
      Effect.onExit((exit) => (streaming ? Effect.void : Scope.close(scope, exit))),
      // A caller that is interrupted must not leave a request half served. Only faults that delay the reply can be
      // interrupted.
      Effect.uninterruptible,
      Effect.flatMap((reply) => arrival(reply, wireFaults.get(asked))),
      Effect.mapBoth({
        onSuccess: (reply) => HttpServerResponse.toClientResponse(servedIn(reply, requestContext), { request }),
        onFailure: (cause) =>
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      })
    )
  })

/** The reply as it arrives: complete, in part, or not at all. */
const arrival = (
  reply: HttpServerResponse.HttpServerResponse,
  fault: WireFault | undefined
): Effect.Effect<HttpServerResponse.HttpServerResponse, TypeError> => {
  switch (fault?._tag) {
    case undefined:
      return Effect.succeed(reply)
    case "Garbage":
      return Effect.fail(transportFailure("HPE_INVALID_CONSTANT", "Parse Error: Expected HTTP/"))
    case "Cut":
      return Effect.succeed(breakingOff(reply, fault))
    case "Reset":
    case "Silence":
    case "SlowBody":
      return Effect.fail(reset())
  }
}

const breakingOff = (
  reply: HttpServerResponse.HttpServerResponse,
  { afterBytes, by }: Extract<WireFault, { readonly _tag: "Cut" }>
): HttpServerResponse.HttpServerResponse => {
  const part = bytesOf(reply)?.subarray(0, afterBytes) ?? new Uint8Array()
  const failure = by === "reset" ? reset() : new TypeError("terminated", { cause: "closed" })
  return withStream(reply, Stream.concat(Stream.succeed(part), Stream.fail(failure)))
}

/** Makes a slow body follow the clock of the service and not the clock of its reader. */
const servedIn = (
  reply: HttpServerResponse.HttpServerResponse,
  context: Context.Context<never>
): HttpServerResponse.HttpServerResponse =>
  reply.body._tag === "Stream" ? withStream(reply, Stream.provideContext(reply.body.stream, context)) : reply

const withStream = (
  reply: HttpServerResponse.HttpServerResponse,
  stream: Stream.Stream<Uint8Array, unknown>
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setHeaders(HttpServerResponse.setBody(reply, HttpBody.stream(stream)), reply.headers)
