/**
 * A client over scripted replies, for unit tests of programs that use Berth: everything above the wire is the real client,
 * and nothing is sent anywhere. For a service with state of its own, use the mock service instead.
 */
import { Cause, Effect, Exit, Layer, Predicate, Redacted } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { apiKeyParameter, prefix } from "./api/Routes.ts"
import * as Berth from "./client/Berth.ts"
import { isSecretName } from "./domain/secretName.ts"
import type { ClientOptions as EngineOptions } from "./client/options/Settings.ts"
import { type Client, type ClientOptions, createClient } from "./promise.ts"
import { scheduler } from "./promise/scheduler.ts"

/** A reply that arrives. */
export interface HttpReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** The body as it goes over the wire. */
  readonly body?: string
}

/** A reply of the script: `ok`, `failure`, `lost`, or one of your own. */
export type Reply = HttpReply | "lost"

/** A request as it reached the service, without the credentials. */
export interface Request {
  readonly method: string
  /** The path below `/myaccount/api/v1`, such as `/nodes/7/`. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Names are in lower case. Headers with credentials or cookies are left out. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed body; undefined without one. */
  readonly body: unknown
}

/**
 * The replies in order, or a function that answers each request, at once or later. An Effect that fails, or a Promise that rejects, plays a
 * failed connection; an error with the `code` `ECONNREFUSED` means that nothing was sent. An Effect or Promise that never ends plays a
 * silent service. An Effect is interrupted if the client gives up the request.
 */
export type Script =
  | ReadonlyArray<Reply>
  | ((request: Request) => Reply | Promise<Reply> | Effect.Effect<Reply, unknown>)

/** A success with this data, in the service's envelope. */
export const ok = (data: unknown, headers: Readonly<Record<string, string>> = {}) =>
  enveloped(200, { message: "Success", code: 200, data, errors: {} }, headers)

/** A failure with this status, in the service's envelope. `errors` is field → messages. */
export const failure = (
  status: number,
  message: string,
  errors: Readonly<Record<string, ReadonlyArray<string>>> = {},
  headers: Readonly<Record<string, string>> = {}
) => enveloped(status, { message, code: status, data: {}, errors }, headers)

const enveloped = (status: number, envelope: object, headers: Readonly<Record<string, string>>) =>
  ({
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(envelope)
  }) satisfies HttpReply

/** No reply: the connection breaks after the request was sent. */
export const lost: Reply = "lost"

/** A record of a node as the service lists it, with the fields you name. */
export const nodeRecord = (fields: { readonly id: number } & Readonly<Record<string, unknown>>) => ({
  name: `node-${fields.id}`,
  created_at: "2026-01-01T00:00:00.000000Z",
  public_ip_address: "203.0.113.7",
  private_ip_address: "10.0.0.7",
  backup: false,
  disk: "100 GB",
  status: "running",
  vcpus: "4",
  memory: "16.00 GB",
  plan: "C-4VCPU-16RAM-100DISK",
  region: "ncr",
  ...fields
})

/** A service that answers from a script, and the requests it has received so far. */
export interface Scripted {
  readonly requests: ReadonlyArray<Request>
  readonly fetch: typeof globalThis.fetch
  /** Like `fetch`, for programs with Effect. The script's Effects run in the fiber that sends the request, and so use its `Clock`. */
  readonly httpClient: HttpClient.HttpClient
}

/** Plays a script. A request after the end of the script gets a failure that names the request. */
export const scripted = (script: Script): Scripted => {
  const requests: Array<Request> = []
  const replyTo = (request: Request) => {
    if (typeof script === "function") return script(request)
    return (
      script[requests.length - 1] ??
      failure(
        400,
        `The script has ${script.length} replies, and none for request ${requests.length}: ${summary(request)}`
      )
    )
  }
  const answer = (request: Request) =>
    Effect.suspend(() => {
      requests.push(request)
      return Effect.flatMap(arriving(replyTo(request)), (reply) =>
        reply === "lost" ? Effect.fail(connectionBroke) : Effect.succeed(responseOf(reply))
      )
    })
  return {
    requests,
    fetch: async (input, init) => {
      const { body, headers, method = "GET", signal } = init ?? {}
      const url = new URL(input instanceof globalThis.Request ? input.url : input)
      const text = body === undefined || body === null ? undefined : textOf(body)
      const request = requestOf(method, url, Object.fromEntries(new Headers(headers)), text)
      const exit = await Effect.runPromiseExit(answer(request), { scheduler, signal: signal ?? undefined })
      signal?.throwIfAborted()
      if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
      return exit.value
    },
    httpClient: HttpClient.make((request, url) => {
      const text = request.body._tag === "Uint8Array" ? textOf(request.body.body) : undefined
      return Effect.mapBoth(answer(requestOf(request.method, url, request.headers, text)), {
        onFailure: (cause) =>
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) }),
        onSuccess: (response) => HttpClientResponse.fromWeb(request, response)
      })
    })
  }
}

const connectionBroke = new Cause.UnknownError(undefined, "the script lost the reply")

const summary = ({ method, path }: Request) => `${method} ${path}`

const textOf = (body: NonNullable<RequestInit["body"]>) =>
  body instanceof Uint8Array ? new TextDecoder().decode(body) : String(body)

const requestOf = (
  method: string,
  { pathname, searchParams }: URL,
  headers: Readonly<Record<string, string>>,
  body: string | undefined
): Request => ({
  method,
  path: pathname.startsWith(prefix) ? pathname.slice(prefix.length) : pathname,
  query: Object.fromEntries(Array.from(searchParams).filter(([name]) => name !== apiKeyParameter)),
  headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecretName(name))),
  body: body === undefined ? undefined : JSON.parse(body)
})

const arriving = (reply: Reply | Promise<Reply> | Effect.Effect<Reply, unknown>): Effect.Effect<Reply, unknown> => {
  if (Effect.isEffect(reply)) return reply
  return Predicate.isPromise(reply) ? Effect.tryPromise(() => reply) : Effect.succeed(reply)
}

const responseOf = ({ body, headers = {}, status }: HttpReply) =>
  new Response(body === "" || status === 204 ? null : (body ?? null), { status, headers: { ...headers } })

const account = { baseUrl: "https://berth.test", apiKey: "test-key", accessToken: "test-token" }

/** The services of the client over a script. Waits use the `Clock`, so a test can skip them with a `TestClock`. */
export const layer = (script: Script | Scripted, options?: Partial<EngineOptions>) =>
  Berth.layer({
    baseUrl: account.baseUrl,
    credentials: { apiKey: Redacted.make(account.apiKey), accessToken: Redacted.make(account.accessToken) },
    ...options
  }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, play(script).httpClient)))

/** A promise client over a script. */
export const createTestClient = (script: Script | Scripted, options?: Partial<ClientOptions>): Client =>
  createClient({ ...account, ...options, fetch: play(script).fetch })

const play = (script: Script | Scripted): Scripted =>
  typeof script === "object" && "fetch" in script ? script : scripted(script)
