/**
 * The transport over whichever `HttpClient` the program provides.
 */
import { Effect, Layer, Option, Stream } from "effect"
import { HttpBody, HttpClient, type HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { InvalidRequest } from "../domain/ErrorReason.ts"
import { largestBodyBytes, ReplyText, webText } from "./ReplyText.ts"
import { type SignedRequest, Transport, unreachable } from "./Transport.ts"

/** The credentials stay `Redacted` in the request too, so that nobody who inspects it sees them. */
const toHttp = ({ body, method, query, token, url }: SignedRequest): HttpClientRequest.HttpClientRequest =>
  HttpClientRequest.make(method)(url, {
    urlParams: query,
    body: body === undefined ? undefined : HttpBody.text(body, "application/json"),
    acceptJson: true
  }).pipe(HttpClientRequest.bearerToken(token))

const failed = (replied: boolean) => (error: HttpClientError.HttpClientError) => {
  const { reason } = error
  return reason._tag === "InvalidUrlError" || reason._tag === "EncodeError"
    ? new InvalidRequest({ status: null, detail: "its address or body cannot be written", fields: {} })
    : unreachable(reason.cause, replied)
}

const tooLong = Symbol("too long")

const textOf = (
  response: HttpClientResponse.HttpClientResponse,
  headers: HttpClientResponse.HttpClientResponse["headers"]
) => {
  const length = Number(headers["content-length"] ?? Number.NaN)
  if (length > largestBodyBytes) return Effect.succeed(undefined)
  // What is counted before it is unpacked may be of any size after.
  if (length <= largestBodyBytes && headers["content-encoding"] === undefined) return response.text
  return Effect.suspend(() => {
    const text = new ReplyText()
    return response.stream.pipe(
      Stream.runForEachArray((chunks) => (chunks.every(text.add) ? Effect.void : Effect.fail(tooLong))),
      Effect.map(() => text.end()),
      Effect.catch((error) => (error === tooLong ? Effect.succeed(undefined) : Effect.fail(error)))
    )
  })
}

export const layer: Layer.Layer<Transport, never, HttpClient.HttpClient> = Layer.effect(
  Transport,
  Effect.map(HttpClient.HttpClient, (client) => {
    // The spans are the engine's own: those of HttpClient hold whole addresses and unmasked causes, and send ours along.
    const untraced = HttpClient.transformResponse(
      client,
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true)
    )
    return Transport.of({
      send: (request, begun) =>
        Effect.flatMap(Effect.mapError(untraced.execute(toHttp(request)), failed(false)), (response) => {
          const { headers, status } = response
          begun({ status, headers })
          const web = HttpClientResponse.toWeb(response)
          const text = Option.isSome(web)
            ? Effect.tryPromise({
                try: (signal) => webText(web.value, signal),
                catch: (cause) => unreachable(cause, true)
              })
            : Effect.mapError(textOf(response, headers), failed(true))
          return Effect.map(text, (body) => ({ status, headers, body }))
        })
    })
  })
)
