/**
 * The layer below the engine: sends one request and reads the whole reply. `HttpTransport.ts` does so over any `HttpClient` of
 * Effect, `FetchTransport.ts` over the runtime's `fetch`, `NodeTransport.ts` over `node:http`.
 */
import { Context, type Effect, Predicate, Redacted } from "effect"
import type { HttpMethod } from "effect/http"
import { type ErrorReason, Unreachable } from "../../domain/ErrorReason.ts"

/** A request of the interface, without address and credentials. */
export interface WireRequest {
  readonly method: HttpMethod.HttpMethod
  /** From the root of the service. */
  readonly path: string
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** JSON text. */
  readonly body?: string | undefined
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
  /** Longest body that is read of its reply. */
  readonly maxBodyBytes: number
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
  /** Whether that is all of it, within the limit. */
  readonly whole: boolean
}

/** A reply, with the part of its body that was read. */
export interface WireReply extends Head, Body {}

/**
 * Runs at the last moment before a request is sent, for requests that must not be sent twice. If it fails, nothing is sent.
 */
export type Leaving = Effect.Effect<void, ErrorReason>

/** The service that sends one request and reads its reply. */
export class Transport extends Context.Service<
  Transport,
  {
    /**
     * Sends the request once. Calls `begun` as soon as the reply has begun; an interruption ends the exchange. A request with
     * `leaving` goes on a connection of its own where the transport can make one: of a connection that was used before and breaks
     * nobody can tell whether the service has read the request.
     */
    readonly send: (
      request: SignedRequest,
      begun: (head: Head) => void,
      leaving?: Leaving
    ) => Effect.Effect<WireReply, ErrorReason>
  }
>()("@berthkit/core/client/transport/Transport") {}

/** Failures to connect, also through a proxy, or to trust the server's certificate: the request was certainly not sent. */
const notSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "ERR_PROXY_TUNNEL",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "ERR_SSL_WRONG_VERSION_NUMBER"
])

/** Failures that mean the same when `connect` fails with them; an open connection can fail with them, too. */
const notSentByConnect = new Set(["EHOSTUNREACH", "ENETUNREACH"])

const maxDetailLength = 1000

/** The innermost code or message of a transport failure, which may be nested, and whether nothing was sent. */
const describe = (cause: unknown): { readonly text: string; readonly unsent: boolean } => {
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
  // The errors of undici for an unexpected `100 Continue`, and for an impossible status.
  if (code === "UND_ERR_SOCKET" && text === "bad response") text = "it sent an unexpected 100 Continue"
  if (code === "ERR_ASSERTION") text = "its reply is not HTTP"
  // OpenSSL names its functions, its files and its lines.
  const tls = /:SSL routines:[^:]*:([^:]+)/.exec(text)?.[1]
  if (tls === "wrong version number") return { text: "there is no TLS at this address", unsent: true }
  if (tls !== undefined) text = `TLS failed: ${tls}`
  text = text.replace(/\s+/g, " ").slice(0, maxDetailLength)
  const unsent = code !== undefined && (notSent.has(code) || (notSentByConnect.has(code) && syscall === "connect"))
  return { text: code !== undefined && !text.includes(code) ? `${text} (${code})` : text, unsent }
}

/** The reason for a failure below HTTP. `replied` when a reply had begun. */
export const unreachable = (cause: unknown, replied: boolean): Unreachable => {
  const { text, unsent } = describe(cause)
  return new Unreachable({ sent: replied ? "yes" : unsent ? "no" : "maybe", detail: text })
}

/** The reason for a failure before anything was sent. */
export const unreached = (cause: unknown): Unreachable => new Unreachable({ sent: "no", detail: describe(cause).text })
