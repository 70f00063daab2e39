/**
 * What lets pages of other origins call the service from a browser (`--cors`). The control plane has no part in it: no page of
 * another origin may drive that.
 */
import { apiKeyHeader, csrfHeader } from "@berthkit/core/api/Authorization"
import { limitHeader, remainingHeader, resetHeader } from "@berthkit/core/api/AllowanceHeaders"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Reply, Step } from "./Exchange.ts"

/** Stands for every origin. */
const anyOrigin = "*"

/** An origin as a browser sends it, or `*`; `undefined` for anything else, a path or a final slash included. */
export const readOrigin = (text: string): string | undefined => {
  if (text === anyOrigin) return text
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\s]+$/.test(text) || !URL.canParse(text)) return undefined
  const { host, origin, protocol } = new URL(text)
  // Extensions of browsers have origins of schemes that have none in a URL.
  return text === (origin === "null" ? `${protocol}//${host}` : origin) ? text : undefined
}

/** Any that the server knows, so that a page can read a 405 instead of a failure of the network. */
const allowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE"

const allowedHeaders = ["authorization", "content-type", apiKeyHeader, csrfHeader]

/** Headers that a page may read beside those that it always may. */
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

/** How long a browser may go without asking again: ten minutes, so that a server that is started anew is soon asked. */
const maxAgeSeconds = 600

/** For these origins; `undefined` when there are none. */
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
    /** The headers of a reply to this origin; none that a page could use when it is not allowed. */
    headersFor,
    /** The answer to a preflight of an allowed origin. Of any other it is an ordinary OPTIONS. */
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
              // A page of the internet that calls a server on this machine.
              ...(headers["access-control-request-private-network"] === "true"
                ? { "access-control-allow-private-network": "true" }
                : {})
            }
          })
        : undefined
    },
    /** Gives every reply its headers: failures and those that faults have changed included. */
    allowOrigin: ((next) => (exchange) =>
      Effect.mapEager(next(exchange), (reply) =>
        HttpServerResponse.setHeaders(reply, { ...headersFor(exchange.request.headers["origin"]), ...reply.headers })
      )) satisfies Step
  }
}

/** Those of the interface, and whatever else the page sends: the service ignores what it does not know. */
const headersAsked = (asked = ""): string => {
  const names = asked.split(",").map((name) => name.trim().toLowerCase())
  const others = names.filter((name) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !allowedHeaders.includes(name))
  return [...allowedHeaders, ...others].join(", ")
}
