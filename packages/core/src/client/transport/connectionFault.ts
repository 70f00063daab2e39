/**
 * Finds out what a connection error means in Node, undici, Bun and Deno, by its code or its words. Errors in a page have no codes, so
 * bundles for pages have `promise/withoutCodes.ts` instead of this file.
 */

/** Failures to connect, also through a proxy: the request was certainly not sent. */
const notSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_PROXY_TUNNEL",
  "ERR_SSL_WRONG_VERSION_NUMBER"
])

/** Failures that mean the same if `connect` reports them. An open connection can also fail with them. */
const notSentByConnect = new Set(["EHOSTUNREACH", "ENETUNREACH"])

/**
 * Codes for a certificate that this side does not trust, in Node and Bun. They prove that nothing was sent. Other codes
 * do not: a service's alert about our certificate, or a length that does not match, may come after the request.
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

/** The innermost code and message of an error. */
export interface Told {
  readonly code: string | undefined
  readonly syscall: unknown
  readonly text: string
}

/** What failed, in words, and whether the request was certainly not sent. `code` is set if the words leave it out. */
export interface ConnectionFault {
  readonly fault: "network" | "certificate" | "proxy"
  readonly unsent: boolean
  readonly text: string
  readonly code: string | undefined
}

export const connectionFault = ({ code, syscall, text }: Told): ConnectionFault => {
  const isTrusted = code === undefined ? !certificateWords.test(text) : !certificate.test(code)
  const fault = !isTrusted ? "certificate" : isProxyRefusal(code, text) ? "proxy" : "network"
  const unsent =
    fault === "proxy" ||
    (code !== undefined &&
      (fault === "certificate" || notSent.has(code) || (notSentByConnect.has(code) && syscall === "connect")))
  const of = (text: string) => ({ fault, unsent, text, code }) as const
  // How undici reports an unexpected `100 Continue` and an impossible status.
  if (code === "UND_ERR_SOCKET" && text === "bad response") return of("it sent an unexpected 100 Continue")
  if (code === "ERR_ASSERTION") return of("its reply is not HTTP")
  // Keep only OpenSSL's reason: its message also names functions, files and lines.
  const tls = /:SSL routines:[^:]*:([^:]+)/.exec(text)?.[1]
  if (tls === "wrong version number") {
    return { fault, unsent: true, text: "there is no TLS at this address", code: undefined }
  }
  return of(tls === undefined ? text : `TLS failed: ${tls}`)
}
