/**
 * A service that answers from a script, for replies the mock service never gives. Everything above the wire is the real
 * client.
 */
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, type HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Berth from "../src/client/Berth.ts"
import type { ClientOptions } from "../src/client/options/Settings.ts"

/** A reply of the script. */
export interface ScriptedReply {
  readonly status: number
  readonly headers?: Record<string, string>
  readonly body?: string
}

export const apiKey = "key/with+odd=chars&more"
export const accessToken = "token.with-odd~chars"

const respond = (request: HttpClientRequest.HttpClientRequest, { body, headers, status }: ScriptedReply) =>
  HttpClientResponse.fromWeb(
    request,
    new Response(body === undefined || body === "" || status === 204 ? null : body, { status, headers: headers ?? {} })
  )

/** The client over a transport that the test provides. */
export const clientOver = (
  execute: (
    request: HttpClientRequest.HttpClientRequest,
    url: URL
  ) => Effect.Effect<ScriptedReply, HttpClientError.HttpClientError>,
  options?: Partial<ClientOptions>
) =>
  Berth.layer({
    baseUrl: "https://service.test",
    credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) },
    ...options
  }).pipe(
    Layer.provide(
      Layer.succeed(
        HttpClient.HttpClient,
        HttpClient.make((request, url) => Effect.map(execute(request, url), (reply) => respond(request, reply)))
      )
    )
  )

/** A client to which the service always gives the same reply. */
export const clientAnswered = (reply: ScriptedReply) => clientOver(() => Effect.succeed(reply))

/** The same for a single create, in an account whose list stays empty. */
export const creationAnswered = (
  create: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<ScriptedReply, HttpClientError.HttpClientError>
) =>
  clientOver((request) =>
    request.method === "POST" ? create(request) : Effect.succeed({ status: 200, body: success([]) })
  )

/** The body of a success. */
export const success = (data: unknown) => JSON.stringify({ message: "Success", code: 200, data, errors: {} })
