/**
 * Decides who may use a server on the user's machine: only programs and the server's own page. A browser would send this
 * server requests of any page on the internet, so the guard refuses requests that come from other pages. Pure: it takes
 * facts about a request and returns a refusal or nothing.
 */
import { isIPv6 } from "node:net"

/**
 * What a request asks for: `shell` is the page itself, which holds no data; `open` is data that needs no token; `data` is
 * everything else.
 */
export type Target = "shell" | "open" | "data"

export interface GuardedRequest {
  readonly method: string
  readonly target: Target
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Whether the request has the server's token. */
  readonly showsToken: boolean
}

export interface Access {
  /** The scheme of the server's URL. */
  readonly scheme: "http" | "https"
  /** The origin that browsers see, if a proxy with another origin is in front of the server. */
  readonly publicOrigin?: string | undefined
  /**
   * The host names other than loopback under which the server may be used, in the form of `readHostName`. `any` is safe if all
   * data needs a token: an attacker's page has no token, whatever its host name.
   */
  readonly hosts: ReadonlySet<string> | "any"
  /** Whether the server requires a token. */
  readonly needsToken: boolean
}

/** The words of refusals. */
export interface Wording {
  /** What the guard protects, as the subject of a sentence: `The control plane`. */
  readonly name: string
  /** What the token is called: `control token`. */
  readonly token: string
  /** Tells the reader how to allow a host, in the imperative. */
  readonly toAllow: (host: string) => string
}

export interface Forbidden {
  readonly status: 401 | 403 | 415
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Why a request is refused; `undefined` if it may continue. */
export type Guard = (request: GuardedRequest, access: Access) => Forbidden | undefined

export const makeGuard =
  (wording: Wording): Guard =>
  (request, access) =>
    wrongHost(request, access, wording) ??
    otherSite(request, access, wording) ??
    withoutToken(request, access, wording) ??
    withoutMediaType(request)

/**
 * Refuses unknown host names. An attacker can point a DNS name at this machine, and a page under that name would then have
 * the same origin as this server.
 */
const wrongHost = (
  { headers, showsToken }: GuardedRequest,
  { hosts, needsToken }: Access,
  { name: guarded, toAllow, token }: Wording
): Forbidden | undefined => {
  const { host } = headers
  // A request without a host is not a browser's, because browsers always send one. (HTTP/1.1 requests without a host were
  // refused before.)
  if (host === undefined || showsToken || hosts === "any") return undefined
  const name = hostNameOf(host)
  if (name !== undefined && (isLoopbackName(name) || hosts.has(name))) return undefined
  const orToken = needsToken ? ` or show the ${token}` : ""
  return {
    status: 403,
    message: `${guarded} is not served at ${host.slice(0, 255)}: ${toAllow(name ?? "NAME")}${orToken}.`
  }
}

const otherSite = (
  { headers, method, target }: GuardedRequest,
  { publicOrigin, scheme }: Access,
  { name }: Wording
): Forbidden | undefined => {
  const { host, origin } = headers
  const site = headers["sec-fetch-site"]
  const isOwnOrigin =
    origin === undefined || origin === publicOrigin || (host !== undefined && origin === originOf(scheme, host))
  // Any page may link to this server's page, because that page holds no data: its script requests the data.
  const isLink =
    target === "shell" &&
    method === "GET" &&
    headers["sec-fetch-mode"] === "navigate" &&
    headers["sec-fetch-dest"] === "document"
  const isOwnSite = site === undefined || site === "same-origin" || site === "none" || isLink
  return isOwnOrigin && isOwnSite
    ? undefined
    : {
        status: 403,
        message: `Pages of another origin may not use ${name[0]!.toLowerCase()}${name.slice(1)}: open its own page, or call it from a program.`
      }
}

const withoutToken = (
  { showsToken, target }: GuardedRequest,
  { needsToken }: Access,
  { token }: Wording
): Forbidden | undefined =>
  !needsToken || showsToken || target !== "data"
    ? undefined
    : {
        status: 401,
        message: `The ${token} is missing or wrong: Authorization: Bearer …`,
        headers: { "www-authenticate": "Bearer" }
      }

/**
 * Requires JSON. A browser lets any page send text and forms to any server without asking that server first, but not JSON
 * (Fetch, CORS-safelisted).
 */
const withoutMediaType = ({ headers }: GuardedRequest): Forbidden | undefined => {
  const type = headers["content-type"]
  return !hasBody(headers) || (type !== undefined && isJson(type))
    ? undefined
    : { status: 415, message: "The body must be JSON: content-type application/json." }
}

/** Whether a media type is `application/json`, or one whose name ends in `+json`. */
export const isJson = (contentType: string): boolean =>
  /^\s*application\/(json|[^\s;/]+\+json)\s*(;|$)/i.test(contentType)

/** Whether a request has, or may have, a body. */
export const hasBody = (headers: GuardedRequest["headers"]): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0

/** The name in a `Host` header, without the port. */
const hostNameOf = (host: string): string | undefined => readHostName(host.replace(/:\d{0,5}$/, ""))

/**
 * Brings a host name or address without a port into the form in which hosts are compared. An IPv6 address may be in
 * brackets. `undefined` if the text is neither a name nor an address.
 */
export const readHostName = (text: string): string | undefined => {
  const name = isIPv6(text) ? `[${text}]` : text
  return /^([\w.-]+|\[[\da-f:.]+\])$/i.test(name) ? canonical(name) : undefined
}

/** A name in the form that browsers use: in lower case, an address normalised, without a final dot. */
const canonical = (name: string): string | undefined => URL.parse(`http://${name}`)?.hostname.replace(/(?<=.)\.$/, "")

/** Whether a name from `readHostName` always means this machine. */
export const isLoopbackName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || /^127\.\d+\.\d+\.\d+$/.test(name) || name === "[::1]"

/** The origin of a scheme and a host, without the default port of the scheme. */
const originOf = (scheme: Access["scheme"], host: string): string | undefined =>
  URL.parse(`${scheme}://${host}`)?.origin

/** The token of `Authorization: Bearer …`; undefined if the request has none. */
export const bearerToken = ({ headers }: Pick<GuardedRequest, "headers">): string | undefined =>
  /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1]
