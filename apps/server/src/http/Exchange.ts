/**
 * Who sent a request: read off the request before it is routed, because the allowance it spends depends on it. Whether
 * the caller may do what is asked is `authorization.ts`'s business.
 */
import { apiKeyHeader, csrfHeader, sessionCookies } from "@berth/core/api/Authorization"
import { apiKeyParameter } from "@berth/core/api/Routes"
import { Context, Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import * as World from "../world/World.ts"
import { type Credentials, type Identity, sameSecret } from "../world/Worlds.ts"

/** The caller of the request being answered, and the real time of the server. */
export interface CallerInfo {
  readonly identity: Identity
  /** Real time in milliseconds since the epoch, from the server's `Clock`. */
  readonly realMillis: () => number
  /** Headers that its endpoint gives the reply. */
  headers?: Readonly<Record<string, string>>
  /** The body, once it has been read. */
  body?: Uint8Array
}

/** Set for every request by `app.ts`; outside of one it is nobody. */
export const Caller = Context.Reference<CallerInfo>("@berth/server/http/Caller", {
  defaultValue: () => ({ identity: { _tag: "Unknown", errors: {} }, realMillis: () => 0 })
})

/** The caller's world and its present instant, for endpoints behind `Authorization`, which lets nobody else through. */
export const callersWorld = Effect.map(Caller, ({ identity, realMillis }) => {
  if (identity._tag !== "Known") throw new Error("An endpoint was reached without authorization")
  return { world: identity.world, now: World.enter(identity.world, realMillis()) }
})

/** Adds a header to the reply of an endpoint. */
export const withHeader = (name: string, value: string) =>
  Effect.map(Caller, (caller) => {
    caller.headers = { ...caller.headers, [name]: value }
  })

/** The credentials a request carries. A key that comes twice and differs is no key. */
export const readCredentials = (request: HttpServerRequest.HttpServerRequest): Credentials => {
  const { headers } = request
  return {
    apiKey: onlyValue(request.url, apiKeyParameter),
    repeatedApiKey: headers[apiKeyHeader],
    accessToken: /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1],
    session: headers["cookie"] === undefined ? "absent" : readSession(request)
  }
}

const onlyValue = (url: string, name: string): string | undefined => {
  const at = url.indexOf("?")
  if (at < 0) return undefined
  const values = new Set(new URLSearchParams(url.slice(at + 1)).getAll(name))
  const [value] = values
  return values.size === 1 && value !== "" ? value : undefined
}

const readSession = ({ cookies, headers }: HttpServerRequest.HttpServerRequest): Credentials["session"] => {
  if (sessionCookies.some((name) => (cookies[name] ?? "") === "")) return "absent"
  return sameSecret(cookies["csrftoken"] ?? "", headers[csrfHeader] ?? "") ? "valid" : "mismatched"
}
