/**
 * A client of an `HttpApi` for a page. It uses only the types of the API, so the page's script contains none of the API's
 * code. It does not validate replies, because the server guarantees their form.
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

/**
 * The wire type of a schema. An endpoint wraps its schemas in codecs whose wire type is any JSON, so this type looks at
 * the schema inside.
 */
type EncodedOf<S> = S extends { readonly schema: infer Inner }
  ? EncodedOf<Inner>
  : S extends { readonly Encoded: infer Encoded }
    ? JsonOf<Encoded>
    : never

/** Instants are strings in JSON. */
type JsonOf<T> = T extends DateTime.DateTime ? string : T extends object ? { readonly [K in keyof T]: JsonOf<T[K]> } : T

type Part<Name extends string, S> = [S] extends [never]
  ? unknown
  : Record<never, never> extends EncodedOf<S>
    ? { readonly [N in Name]?: EncodedOf<S> }
    : { readonly [N in Name]: EncodedOf<S> }

interface Limits {
  /** Timeout of this request in milliseconds. Default: the client's timeout. */
  readonly maxMillis?: number
  /** A signal that aborts the request. If it is given, there is no timeout. */
  readonly signal?: AbortSignal
}

type Input<E> = E extends AnyEndpoint
  ? Part<"params", E["~Params"]> & Part<"query", E["~Query"]> & Part<"payload", E["~Payload"]> & Limits
  : never

type InputArgs<E> = Record<never, never> extends Input<E> ? [input?: Input<E>] : [input: Input<E>]

/** The body of an endpoint's successful reply. */
type Reply<E> = E extends AnyEndpoint ? EncodedOf<E["~Success"]> : never

/** The body of the reply to a request, such as `ReplyTo<typeof WatchApi, "GET /api/status">`. */
export type ReplyTo<Api extends AnyApi, Route extends keyof Routes<Api>> = Reply<Routes<Api>[Route]>

/** The body of a failure. */
interface Failure {
  readonly message?: string
  /** Sentences by field. */
  readonly errors?: Readonly<Record<string, ReadonlyArray<string>>>
}

type Headers = Readonly<Record<string, string>>

/** The server has answered with a failure. */
export class Refused extends Error {
  readonly status: number
  readonly failure: Failure
  /** The headers that the client's option `headers` added to the request. */
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
  /** The prefix of the API's paths. Default: the root of the server. */
  readonly root?: string
  /** Timeout of a request in milliseconds. Default: 15 000. */
  readonly maxMillis?: number
  /** Called for each request: returns headers to add. */
  readonly headers?: () => Headers
}

/** A request that can be sent, or shown to the reader. */
export interface Prepared<A> {
  readonly send: () => Promise<A>
  readonly method: string
  /** Below the root. */
  readonly path: string
  readonly payload: unknown
}

/** A client of this page's server. Its calls reject with `Refused`, or with the error of `fetch` if there is no reply. */
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
  /** Sends a request and returns the body of its reply; undefined if the reply has none. */
  const ask = async <Route extends keyof Routes<Api> & string>(
    route: Route,
    ...[input]: InputArgs<Routes<Api>[Route]>
  ): Promise<ReplyTo<Api, Route>> => {
    const reply = await request(route, input as Loose)
    return (reply.status === 204 ? undefined : await reply.json()) as ReplyTo<Api, Route>
  }
  return {
    ask,
    /** The same, to be sent later. */
    prepare: <Route extends keyof Routes<Api> & string>(
      route: Route,
      ...args: InputArgs<Routes<Api>[Route]>
    ): Prepared<ReplyTo<Api, Route>> => {
      const [method, path] = route.split(" ") as [string, string]
      const [input = {}] = args as [input?: Loose]
      return { send: () => ask(route, ...args), method, path: pathOf(path, input), payload: input.payload }
    },
    /** Sends a request and resolves as soon as the reply's headers arrive. */
    open: <Route extends keyof Routes<Api> & string>(
      route: Route,
      ...[input]: InputArgs<Routes<Api>[Route]>
    ): Promise<Response> => request(route, input as Loose),
    /** Reads a resource outside the API, such as its description. */
    read: async (path: string): Promise<unknown> => (await request(`GET ${path}`)).json()
  }
}
