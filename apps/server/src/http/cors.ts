/**
 * Lets pages of other origins call the service from a browser (`--cors`). This does not apply to the control plane, which no
 * page of another origin may use.
 */
import { apiKeyHeader, csrfHeader } from "@berthkit/core/api/Authorization"
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Reply, Step } from "./Exchange.ts"

/** Matches every origin. */
const anyOrigin = "*"

/**
 * Parses an origin as browsers send it, or `*`. `undefined` for anything else, even for an origin that is followed by a
 * slash or a path.
 */
export const readOrigin = (text: string): string | undefined => {
  if (text === anyOrigin) return text
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(text) || !URL.canParse(text)) return undefined
  const { host, origin, protocol } = new URL(text)
  // For the schemes of browser extensions, `URL` says that the origin is `null`.
  return text === (origin === "null" ? `${protocol}//${host}` : origin) ? text : undefined
}

/** Every method that the server knows, so that a page can read a 405 instead of a network failure. */
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

const allowedHeaders = ["authorization", "content-type", apiKeyHeader, csrfHeader]

/** Headers that a page may read, in addition to those that it may always read. */
const exposedHeaders = [
  "allow",
  "date",
  limitHeader,
  remainingHeader,
  resetHeader,
  "location",
  "retry-after",
  "www-authenticate"
].join(", ")

/**
 * How long a browser may cache the answer to a preflight: only ten minutes, so that it soon asks a restarted server again.
 */
const maxAgeSeconds = 600

/** The CORS rules of these origins; `undefined` if there are none. */
export const makeCors = (origins: ReadonlyArray<string>) => {
  if (origins.length === 0) return undefined
  const isOpen = origins.includes(anyOrigin)
  const isAllowed = (origin: string | undefined): boolean =>
    isOpen || (origin !== undefined && origins.includes(origin))
  const shared: Readonly<Record<string, string>> = isOpen ? {} : { vary: "origin" }
  const headersFor = (origin: string | undefined): Readonly<Record<string, string>> =>
    isAllowed(origin)
      ? {
          ...shared,
          "access-control-allow-origin": isOpen ? anyOrigin : origin!,
          "access-control-expose-headers": exposedHeaders
        }
      : shared
  return {
    /** The CORS headers of a reply to this origin. If the origin is not allowed, these headers do not let a page read the reply. */
    headersFor,
    /**
     * The answer to a preflight from an allowed origin. From any other origin, the request counts as an ordinary OPTIONS.
     */
    preflight: ({ headers, method }: HttpServerRequest.HttpServerRequest): Reply | undefined => {
      const origin = headers["origin"]
      if (method !== "OPTIONS" || origin === undefined || headers["access-control-request-method"] === undefined) {
        return undefined
      }
      return isAllowed(origin)
        ? HttpServerResponse.empty({
            status: 204,
            headers: {
              ...shared,
              "access-control-allow-origin": isOpen ? anyOrigin : origin,
              "access-control-allow-methods": allowedMethods,
              "access-control-allow-headers": headersAsked(headers["access-control-request-headers"]),
              "access-control-max-age": String(maxAgeSeconds),
              // Browsers require this header if a page from the internet calls a server on this machine.
              ...(headers["access-control-request-private-network"] === "true"
                ? { "access-control-allow-private-network": "true" }
                : {})
            }
          })
        : undefined
    },
    /** Adds the headers to every reply, including failures and replies that faults changed. */
    allowOrigin: ((next) => (exchange) =>
      Effect.mapEager(next(exchange), (reply) =>
        HttpServerResponse.setHeaders(reply, { ...headersFor(exchange.request.headers["origin"]), ...reply.headers })
      )) satisfies Step
  }
}

/**
 * The headers that a page may send: the headers of the interface, and all others that the page asks for, because the service ignores
 * unknown headers.
 */
const headersAsked = (asked = ""): string => {
  const names = asked.split(",").map((name) => name.trim().toLowerCase())
  const others = names.filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !allowedHeaders.includes(name))
  return [...allowedHeaders, ...others].join(", ")
}
