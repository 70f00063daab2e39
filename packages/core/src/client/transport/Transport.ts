/**
 * The layer below the engine. It turns an endpoint of the contract into a request with address and credentials, and defines the service
 * that sends a request and reads the whole reply. `HttpTransport.ts` implements that service with any `HttpClient` of Effect,
 * `FetchTransport.ts` with the runtime's `fetch`, `NodeTransport.ts` with `node:http`.
 */
import { Context, type Effect, Predicate, Record as Records, Redacted } from "effect"
import type { HttpMethod } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { type ErrorReason, Unreachable } from "../../domain/ErrorReason.ts"
import type { BerthApi } from "../../api/BerthApi.ts"
import { apiKeyParameter, placeParameters, prefix, routes } from "../../api/Routes.ts"
import type { Headers } from "../options/Headers.ts"
import type { Settings } from "../options/Settings.ts"
import { withoutUser } from "./Redaction.ts"

/** A request of the interface, without address and credentials. */
export interface WireRequest {
  readonly method: HttpMethod.HttpMethod
  /** From the root of the service. */
  readonly path: string
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** JSON text. */
  readonly body?: string | undefined
}

type Groups = (typeof BerthApi)["groups"]

/** The route of an endpoint in the contract. */
type Route<E> = E extends { readonly method: infer Method; readonly path: `${typeof prefix}${infer Path}` }
  ? { readonly method: Method; readonly path: Path }
  : never

/** The input of an endpoint, from its schemas. */
type Input<E> = E extends HttpApiEndpoint.ConstraintRequest
  ? ([E["~Params"]] extends [never] ? {} : { readonly params: E["~Params"]["Type"] }) &
      ([E["~Query"]] extends [never] ? {} : { readonly query: E["~Query"]["Type"] }) &
      ([E["~Payload"]] extends [never] ? {} : { readonly payload: E["~Payload"]["Type"] })
  : never

type Endpoints<Group extends keyof Groups> = Groups[Group]["endpoints"]
type Routes = {
  readonly [Group in keyof Groups]: { readonly [Name in keyof Endpoints<Group>]: Route<Endpoints<Group>[Name]> }
}
type Wire = {
  readonly [Group in keyof Groups]: {
    readonly [Name in keyof Endpoints<Group>]: (input: Input<Endpoints<Group>[Name]>) => WireRequest
  }
}

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
}

const fill = (path: string, params: Readonly<Record<string, unknown>>) =>
  path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))

/** The defined parameters, as texts. */
const texts = (query: AnyInput["query"] = {}) => {
  const given: Array<readonly [name: string, value: string]> = []
  for (const name of Object.keys(query)) if (query[name] !== undefined) given.push([name, String(query[name])])
  return given
}

const request =
  ({ method, path }: Pick<WireRequest, "method" | "path">) =>
  ({ params, payload, query }: AnyInput): WireRequest => ({
    method,
    path: prefix + (params === undefined ? path : fill(path, params)),
    query: texts(query),
    body: payload === undefined ? undefined : JSON.stringify(payload)
  })

const { commitments, images, nodes } = routes satisfies Routes

/**
 * The client's half of the contract: for each endpoint of `BerthApi` a function from its parameters to the request. The compiler
 * holds names, methods, paths and parameters to the contract. It builds requests only; the engine interprets the replies
 * (decision 0003).
 *
 * @internal
 */
export const wire: Wire = {
  nodes: Records.map(nodes, request),
  images: Records.map(images, request),
  commitments: Records.map(commitments, request)
}

/** A complete request. Its credentials are unwrapped when it is sent. */
export interface SignedRequest {
  readonly method: WireRequest["method"]
  /** Without the query. */
  readonly url: string
  readonly query: ReadonlyArray<readonly [name: string, value: string | Redacted.Redacted]>
  readonly token: Redacted.Redacted
  readonly body: string | undefined
  /** Further headers, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Maximum number of bytes that are read of the reply's body. */
  readonly maxBodyBytes: number
}

/**
 * The request for the account's own service, with its place, its credentials and the headers of the call: the API key goes in the query,
 * the access token as bearer (interface.md §5). Both stay `Redacted` until the request is sent. A raw request may name another place
 * itself.
 *
 * @internal
 */
export const authenticated = ({ credentials, headers, location, maxBodyBytes, origin, project }: Settings) => {
  const place = texts({ [placeParameters.project]: project, [placeParameters.location]: location })
  return ({ body, method, path, query }: WireRequest, further: Headers | undefined): SignedRequest => ({
    method,
    url: `${origin}${path}`,
    query: [
      ...query,
      ...place.filter(([name]) => query.every(([given]) => given !== name)),
      [apiKeyParameter, credentials.apiKey]
    ],
    token: credentials.accessToken,
    body,
    headers: further === undefined ? headers : { ...headers, ...further },
    maxBodyBytes
  })
}

/** The address and headers for the wire, with the credentials unwrapped. Only for a transport that sends them on. */
export const unwrapped = ({ body, headers: further, query, token, url }: SignedRequest) => {
  const search = new URLSearchParams()
  for (const [name, value] of query) search.append(name, typeof value === "string" ? value : Redacted.value(value))
  const headers: Record<string, string> = {
    ...further,
    accept: "application/json",
    authorization: `Bearer ${Redacted.value(token)}`
  }
  if (body !== undefined) headers["content-type"] = "application/json"
  return { address: `${url}?${search}`, headers }
}

/** The beginning of a reply. Header names are in lower case. */
export interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** The part of a body that was read. */
export interface Body {
  readonly body: string
  /** Whether this is the whole body, within the limit. */
  readonly whole: boolean
}

/** A reply, with the part of its body that was read. */
export interface WireReply extends Head, Body {}

/**
 * Runs at the last moment before a request is sent, for requests that must not be sent twice. If it fails, nothing is sent.
 */
export type Leaving = Effect.Effect<void, ErrorReason>

/**
 * The service that sends one request and reads its reply.
 *
 * @example
 * ```ts
 * import * as Berth from "@berthkit/core/client/Berth"
 * import { Nodes } from "@berthkit/core/client/Nodes"
 * import * as HttpTransport from "@berthkit/core/client/transport/HttpTransport"
 * import { Transport } from "@berthkit/core/client/transport/Transport"
 * import { Console, Effect, Layer, Redacted } from "effect"
 *
 * const noting = Effect.map(Transport, ({ send }) =>
 *   Transport.of({
 *     send: (request, ...others) => Effect.andThen(Console.log(request.method), send(request, ...others))
 *   })
 * )
 * const client = Berth.layerOver(
 *   { baseUrl: "http://berth.test", credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") } },
 *   Layer.provide(Layer.effect(Transport, noting), HttpTransport.layer)
 * )
 * const program = Effect.gen(function* () {
 *   yield* Nodes.use((nodes) => nodes.listPage()) // GET
 * }).pipe(Effect.provide(client))
 * ```
 */
export class Transport extends Context.Service<
  Transport,
  {
    /**
     * Sends the request once. Calls `begun` as soon as the reply has begun; an interruption ends the exchange. A request with `leaving`
     * gets a new connection if the transport can open one: if a reused connection breaks, nobody can tell whether the service has read the
     * request.
     */
    readonly send: (
      request: SignedRequest,
      begun: (head: Head) => void,
      leaving?: Leaving
    ) => Effect.Effect<WireReply, ErrorReason>
  }
>()("@berthkit/core/client/transport/Transport") {}

/** Failures to connect, also through a proxy: the request was certainly not sent. */
const notSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_PROXY_TUNNEL",
  "ERR_SSL_WRONG_VERSION_NUMBER"
])

/** Failures that mean the same when `connect` fails with them; an open connection can fail with them, too. */
const notSentByConnect = new Set(["EHOSTUNREACH", "ENETUNREACH"])

/**
 * Codes of a certificate that this side does not trust, in Node and Bun: nothing was sent. Other codes do not prove that: a service's
 * alert about our certificate, or a length that does not match, may come after the request.
 */
const certificate =
  /^(?:UNABLE_TO_|CERT_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF|HOSTNAME_MISMATCH$|INVALID_(?:CA|PURPOSE)$|ERR_TLS_CERT_)/

/** The words of such an error in Deno, which has no code for it. They do not prove that nothing was sent: an address may contain them. */
const certificateWords = /invalid peer certificate/

/** Whether a proxy asks for a password or forbids the connection, as Node and undici report it. A retry would go through the same proxy. */
const isProxyRefusal = (code: string | undefined, text: string): boolean =>
  code === "ERR_PROXY_TUNNEL"
    ? /\b40[37]\b/.test(text)
    : code === "UND_ERR_ABORTED" && /^Proxy response \(40[37]\) !== 200 when HTTP Tunneling$/.test(text)

const maxDetailLength = 1000

/**
 * Describes a transport failure: the innermost code and message, because errors may be nested, and whether the request was certainly not
 * sent.
 */
const describe = (cause: unknown) => {
  let code: string | undefined
  let syscall: unknown
  let text = "the connection failed"
  for (let at: unknown = cause, depth = 0; Predicate.isObjectOrArray(at) && depth < 8; depth++) {
    const inner = at as { code?: unknown; message?: unknown; cause?: unknown; errors?: unknown; syscall?: unknown }
    if (Predicate.isString(inner.code)) code = inner.code
    syscall = inner.syscall ?? syscall
    if (Predicate.isString(inner.message) && inner.message !== "") text = inner.message
    at = inner.cause ?? (Array.isArray(inner.errors) ? inner.errors[0] : undefined)
  }
  const isTrusted = code === undefined ? !certificateWords.test(text) : !certificate.test(code)
  const fault: Unreachable["fault"] = !isTrusted ? "certificate" : isProxyRefusal(code, text) ? "proxy" : "network"
  // How undici reports an unexpected `100 Continue` and an impossible status.
  if (code === "UND_ERR_SOCKET" && text === "bad response") text = "it sent an unexpected 100 Continue"
  if (code === "ERR_ASSERTION") text = "its reply is not HTTP"
  // Keep only OpenSSL's reason: its message also names functions, files and lines.
  const tls = /:SSL routines:[^:]*:([^:]+)/.exec(text)?.[1]
  if (tls === "wrong version number") return { text: "there is no TLS at this address", unsent: true, code, fault }
  if (tls !== undefined) text = `TLS failed: ${tls}`
  text = withoutUser(text.replace(/\s+/g, " ").slice(0, maxDetailLength))
  const unsent =
    fault === "proxy" ||
    (code !== undefined &&
      (fault === "certificate" || notSent.has(code) || (notSentByConnect.has(code) && syscall === "connect")))
  return { text: code !== undefined && !text.includes(code) ? `${text} (${code})` : text, unsent, code, fault }
}

/** The reason for a failure below HTTP. `replied` says whether a reply had begun. */
export const unreachable = (cause: unknown, replied: boolean): Unreachable => {
  const { fault, text, unsent } = describe(cause)
  return new Unreachable({ sent: replied ? "yes" : unsent ? "no" : "maybe", detail: text, fault, cause })
}

/** The reason for a failure before anything was sent. */
export const unreached = (cause: unknown): Unreachable => {
  const { fault, text } = describe(cause)
  return new Unreachable({ sent: "no", detail: text, fault, cause })
}

/** Errors that JavaScript throws for a mistake in a program. */
const mistakes = /^(?:Type|Reference|Range|Syntax|URI)Error$/

/** Words in the `TypeError` with which the `fetch` of runtimes and browsers reports that the network failed. */
const networkWords = /fetch|load failed|network|request|terminated|connect|socket|time|abort/i

/**
 * Like `unreachable`, for a `fetch` that the program provides. An error without a code counts as a bug of that `fetch` if it is thrown at
 * once, or if it is a mistake without a cause that does not mention the network. Whether the request was sent remains unknown.
 */
export const unreachableBy = (cause: unknown, replied: boolean, isAtOnce: boolean): Unreachable => {
  const reason = unreachable(cause, replied)
  const { code } = describe(cause)
  const isMistake =
    cause instanceof Error &&
    cause.cause === undefined &&
    mistakes.test(cause.name) &&
    !networkWords.test(cause.message)
  return code === undefined && (isAtOnce || isMistake)
    ? new Unreachable({ sent: reason.sent, detail: reason.detail, fault: "fetch", cause })
    : reason
}
