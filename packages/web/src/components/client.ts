/**
 * A client of an `HttpApi` for a page, of which nothing but its types is in the script: which endpoints there are, what each takes and
 * what it replies. A reply is what the server sent; the server answers for its form.
 */
import type { DateTime } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"

interface AnyApi {
  readonly groups: Readonly<Record<string, { readonly endpoints: Readonly<Record<string, AnyEndpoint>> }>>
}

type AnyEndpoint = Pick<
  HttpApiEndpoint.HttpApiEndpoint<string, any, string, any, any, any, any, any, any, any, any>,
  "method" | "path" | "~Params" | "~Query" | "~Payload" | "~Success"
>

type Values<T> = T[keyof T]

type EndpointOf<Api extends AnyApi> = Values<{ [G in keyof Api["groups"]]: Values<Api["groups"][G]["endpoints"]> }>

/** The endpoints by `METHOD /path`. */
type Routes<Api extends AnyApi> = {
  [E in EndpointOf<Api> as E extends AnyEndpoint ? `${E["method"]} ${E["path"]}` : never]: E
}

/** What goes over the wire. An endpoint wraps its schemas in codecs whose own wire form is any JSON. */
type EncodedOf<S> = S extends { readonly schema: infer Inner }
  ? EncodedOf<Inner>
  : S extends { readonly Encoded: infer Encoded }
    ? JsonOf<Encoded>
    : never

/** Instants are texts in JSON. */
type JsonOf<T> = T extends DateTime.DateTime ? string : T extends object ? { readonly [K in keyof T]: JsonOf<T[K]> } : T

type Part<Name extends string, S> = [S] extends [never]
  ? unknown
  : Record<never, never> extends EncodedOf<S>
    ? { readonly [N in Name]?: EncodedOf<S> }
    : { readonly [N in Name]: EncodedOf<S> }

interface Limits {
  /** How long the reply may take, in milliseconds. */
  readonly maxMillis?: number
  /** Ends the request instead of the time. */
  readonly signal?: AbortSignal
}

type Input<E> = E extends AnyEndpoint
  ? Part<"params", E["~Params"]> & Part<"query", E["~Query"]> & Part<"payload", E["~Payload"]> & Limits
  : never

type InputArgs<E> = Record<never, never> extends Input<E> ? [input?: Input<E>] : [input: Input<E>]

/** What an endpoint replies. */
type Reply<E> = E extends AnyEndpoint ? EncodedOf<E["~Success"]> : never

/** What the reply to a request is: `ReplyTo<typeof WatchApi, "GET /api/status">`. */
export type ReplyTo<Api extends AnyApi, Route extends keyof Routes<Api>> = Reply<Routes<Api>[Route]>

/** The body of a failure. */
interface Failure {
  readonly message?: string
  /** Sentences by field. */
  readonly errors?: Readonly<Record<string, ReadonlyArray<string>>>
}

type Headers = Readonly<Record<string, string>>

/** The server has answered, with a failure. */
export class Refused extends Error {
  readonly status: number
  readonly failure: Failure
  /** The headers that the page's own option gave the request. */
  readonly sent: Headers

  constructor(status: number, failure: Failure, sent: Headers = {}) {
    super(failure.message ?? `The server answered ${status}.`)
    this.status = status
    this.failure = failure
    this.sent = sent
  }
}

interface Loose {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly payload?: unknown
  readonly maxMillis?: number
  readonly signal?: AbortSignal
}

const pathOf = (path: string, { params = {}, query = {} }: Loose): string => {
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  ).toString()
  return search === "" ? filled : `${filled}?${search}`
}

interface ClientOptions {
  /** Where the paths of the contract begin. Default: at the root of the server. */
  readonly root?: string
  /** Default 15 000. */
  readonly maxMillis?: number
  /** Headers of each request. */
  readonly headers?: () => Headers
}

/** Asks the server of this page. Rejects with `Refused`, or with what `fetch` rejects with when there is no reply. */
export const makeClient = <Api extends AnyApi>({
  headers = () => ({}),
  maxMillis = 15_000,
  root = ""
}: ClientOptions) => {
  const request = async (route: string, input: Loose = {}): Promise<Response> => {
    const [method, path] = route.split(" ") as [string, string]
    const { payload } = input
    const own = headers()
    const reply = await fetch(root + pathOf(path, input), {
      method,
      headers: {
        accept: "application/json",
        ...own,
        ...(payload === undefined ? {} : { "content-type": "application/json" })
      },
      signal: input.signal ?? AbortSignal.timeout(input.maxMillis ?? maxMillis),
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) })
    })
    if (reply.ok) return reply
    throw new Refused(reply.status, ((await reply.json().catch(() => undefined)) as Failure | undefined) ?? {}, own)
  }
  return {
    /** The body of a reply, or nothing of one without a body. */
    ask: async <Route extends keyof Routes<Api> & string>(
      route: Route,
      ...[input]: InputArgs<Routes<Api>[Route]>
    ): Promise<ReplyTo<Api, Route>> => {
      const reply = await request(route, input as Loose)
      return (reply.status === 204 ? undefined : await reply.json()) as ReplyTo<Api, Route>
    },
    /** A reply as soon as its headers are there. */
    open: <Route extends keyof Routes<Api> & string>(
      route: Route,
      ...[input]: InputArgs<Routes<Api>[Route]>
    ): Promise<Response> => request(route, input as Loose),
    /** What is served beside the contract, such as its description. */
    read: async (path: string): Promise<unknown> => (await request(`GET ${path}`)).json()
  }
}
