/**
 * The layer below the engine. It turns an endpoint of the contract into a request with address and credentials, and defines the service
 * that sends a request and reads the whole reply. `HttpTransport.ts` implements that service with any `HttpClient` of Effect,
 * `FetchTransport.ts` with the runtime's `fetch`, `NodeTransport.ts` with `node:http`.
 */
import { Context, type Effect, Record as Records, Redacted } from "effect"
import type { HttpMethod } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import type { ErrorReason } from "../../domain/ErrorReason.ts"
import type { BerthApi } from "../../api/BerthApi.ts"
import { apiKeyParameter, placeParameters, prefix, routes } from "../../api/Routes.ts"
import type { Headers } from "../options/Headers.ts"
import type { Settings } from "../options/Settings.ts"

/** A request of the interface, without address and credentials. */
export interface WireRequest {
  readonly method: HttpMethod.HttpMethod
  /** The path from the root of the service. */
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

/** The parameters that are set, as strings. */
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
  /** The address without the query. */
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
 * the access token as bearer (interface.md §5). Both stay `Redacted` until the request is sent. A raw request may set another project and
 * location.
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

/** The address and headers for the wire, with the credentials unwrapped. Only a transport that sends them may use this. */
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
