/**
 * The transport over the `HttpClient` that the program provides.
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import {
  FetchHttpClient,
  HttpBody,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  HttpClientResponse
} from "effect/http"
import { InvalidRequest } from "../../domain/ErrorReason.ts"
import { codingOf, isShort, ReplyText, webText } from "./ReplyText.ts"
import { type SignedRequest, Transport } from "./Transport.ts"
import { unreachable, unreachableBy } from "./unreachable.ts"

/** The credentials stay `Redacted` in the request, so that inspecting it does not show them. */
const toHttp = ({ body, headers, method, query, token, url }: SignedRequest): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.make(method)(url, {
    urlParams: query,
    headers,
    body: body === undefined ? undefined : HttpBody.text(body, "application/json"),
    acceptJson: true
  }).pipe(HttpClientRequest.bearerToken(token))

const failed = (replied: boolean) => (error: HttpClientError.HttpClientError) => {
  const { reason } = error
  return reason._tag === "InvalidUrlError" || reason._tag === "EncodeError"
    ? new InvalidRequest({ status: null, detail: "its address or body cannot be written", fields: {} })
    : unreachableBy(reason.cause, replied, false)
}

const full = Symbol("full")

const textOf = (
  response: HttpClientResponse.HttpClientResponse,
  headers: HttpClientResponse.HttpClientResponse["headers"],
  maxBytes: number
) => {
  if (isShort(headers, maxBytes)) return Effect.map(response.text, (body) => ({ body, whole: true }))
  return Effect.suspend(() => {
    const text = new ReplyText(headers, maxBytes)
    return response.stream.pipe(
      // Failing ends the exchange.
      Stream.runForEachArray((chunks) => (chunks.every(text.add) ? Effect.void : Effect.fail(full))),
      Effect.catch((error) => (error === full ? Effect.void : Effect.fail(error))),
      Effect.map(() => text.end())
    )
  })
}

/** The formats of `DecompressionStream`; some runtimes do not have the last one. */
const formats = { gzip: "gzip", deflate: "deflate", br: "brotli" } as const

/** The body as it was before a gateway compressed it. */
const decodedText = (
  response: HttpClientResponse.HttpClientResponse,
  format: (typeof formats)[keyof typeof formats],
  maxBytes: number
) =>
  Effect.tryPromise({
    try: (signal) => {
      const decoder = new DecompressionStream(format as ConstructorParameters<typeof DecompressionStream>[0])
      const body = Stream.toReadableStream(response.stream).pipeThrough(decoder as ReadableWritablePair)
      return webText(new Response(body), response.headers, maxBytes, signal)
    },
    catch: (cause) => unreachable(cause, true)
  })

/** The interface has no redirects, and following one would pass on the credentials; only `fetch` does so by default. */
const withoutRedirects = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.provideService(effect, FetchHttpClient.RequestInit, {
      ...Context.getOrUndefined(context, FetchHttpClient.RequestInit),
      redirect: "manual"
    })
  )

/** A transport over the `HttpClient` that the program provides. */
export const layer: Layer.Layer<Transport, never, HttpClient.HttpClient> = Layer.effect(
  Transport,
  Effect.map(HttpClient.HttpClient, (client) => {
    // The engine creates its own spans. Those of HttpClient contain full addresses and unmasked causes, and send our trace to the service.
    const bare = HttpClient.transformResponse(client, (response) =>
      withoutRedirects(Effect.provideService(response, HttpClient.TracerDisabledWhen, () => true))
    )
    return Transport.of({
      send: (request, begun, leaving = Effect.void) => {
        const executed = Effect.mapError(bare.execute(toHttp(request)), failed(false))
        return Effect.flatMap(Effect.andThen(leaving, executed), (response) => {
          const { headers, status } = response
          begun({ status, headers })
          const web = HttpClientResponse.toWeb(response)
          const coding = codingOf(headers)
          const text = Option.isSome(web)
            ? Effect.tryPromise({
                try: (signal) => webText(web.value, headers, request.maxBodyBytes, signal),
                catch: (cause) => unreachable(cause, true)
              })
            : coding !== undefined
              ? decodedText(response, formats[coding], request.maxBodyBytes)
              : Effect.mapError(textOf(response, headers, request.maxBodyBytes), failed(true))
          return Effect.map(text, (read) => ({ status, headers, ...read }))
        })
      }
    })
  })
)
