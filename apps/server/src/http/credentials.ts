/**
 * The caller of a request: read off the request before it is routed, because the allowance it spends depends on it. Whether
 * the caller may use an endpoint is decided in `authorization.ts`.
 */
import { apiKeyHeader, csrfHeader, sessionCookies } from "@berth/core/api/Authorization"
import type { FieldErrors } from "@berth/core/api/Envelope"
import { apiKeyParameter } from "@berth/core/api/Routes"
import type { HttpServerRequest } from "effect/http"
import type { World } from "../world/World.ts"
import { sameSecret, type Worlds } from "../world/Worlds.ts"

export type Identity =
  /** The world the request belongs to. `bySession` when cookies stood in for the token. */
  | { readonly _tag: "Known"; readonly world: World; readonly bySession: boolean }
  /** Something is missing or wrong, by the name of where it belongs. The world is that of the credential that is good. */
  | { readonly _tag: "Unknown"; readonly errors: FieldErrors; readonly world: World | undefined }
  /** Key and token are both good, and of different accounts. The world is that of the key. */
  | { readonly _tag: "Mixed"; readonly world: World }

/** The credentials of a request; `undefined` where it carries none. */
interface Credentials {
  /** `apikey` of the query. */
  readonly apiKey: string | undefined
  /** The header `x-api-key`. */
  readonly repeatedApiKey: string | undefined
  /** The bearer token. */
  readonly accessToken: string | undefined
  /** Whether the three cookies are there and the header repeats the csrf one (A6). */
  readonly session: "absent" | "mismatched" | "valid"
}

/** Identifies the caller of a request. */
export const identify = (worlds: Worlds, request: HttpServerRequest.HttpServerRequest): Identity => {
  const { accessToken, apiKey, repeatedApiKey, session } = readCredentials(request)
  const owner = apiKey === undefined ? undefined : worlds.byApiKey(apiKey)
  const holder = accessToken === undefined ? undefined : worlds.byAccessToken(accessToken)
  // One good credential names the world: how strict another one is does not matter to it.
  const world = owner ?? holder ?? worlds.main
  const mode = world.settings.auth
  if (mode === "off") return { _tag: "Known", world, bySession: false }
  const tokenDecides = mode === "strict" && session !== "valid"
  const errors: Record<string, ReadonlyArray<string>> = {}
  if (owner === undefined) {
    errors["apikey"] = [apiKey === undefined ? "The API key is missing from the query." : "The API key is not known."]
  }
  if (repeatedApiKey !== undefined && !sameSecret(repeatedApiKey, apiKey ?? "")) {
    errors["x-api-key"] = ["The header x-api-key differs from the apikey of the query."]
  }
  if (tokenDecides && holder === undefined) {
    errors["authorization"] = [
      accessToken === undefined
        ? "The access token is missing: Authorization: Bearer …"
        : "The access token is not known."
    ]
    if (session === "mismatched") errors["x-csrftoken"] = ["The header does not repeat the cookie csrftoken."]
  }
  if (owner === undefined || Object.keys(errors).length > 0) {
    return { _tag: "Unknown", errors, world: owner ?? holder }
  }
  if (tokenDecides && holder !== owner) return { _tag: "Mixed", world: owner }
  return { _tag: "Known", world: owner, bySession: mode === "strict" && holder !== owner }
}

/** The token of `Authorization: Bearer …`. */
export const bearerToken = ({ headers }: HttpServerRequest.HttpServerRequest): string | undefined =>
  /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "")?.[1]

/** A key that comes twice and differs is no key. */
const readCredentials = (request: HttpServerRequest.HttpServerRequest): Credentials => ({
  apiKey: onlyValueOf(apiKeyParameter, request.url),
  repeatedApiKey: request.headers[apiKeyHeader],
  accessToken: bearerToken(request),
  session: request.headers["cookie"] === undefined ? "absent" : readSession(request)
})

const readSession = ({ cookies, headers }: HttpServerRequest.HttpServerRequest): Credentials["session"] => {
  if (sessionCookies.some((name) => (cookies[name] ?? "") === "")) return "absent"
  return sameSecret(cookies["csrftoken"] ?? "", headers[csrfHeader] ?? "") ? "valid" : "mismatched"
}

/**
 * A parameter where the query gives it once, or the same each time; `undefined` also where that is empty. `URLSearchParams` reads all of
 * them, which takes twice as long, at every request.
 */
export const onlyValueOf = (name: string, url: string): string | undefined => {
  const at = url.indexOf("?")
  if (at < 0) return undefined
  let only: string | undefined
  for (const part of url.slice(at + 1).split("&")) {
    const equals = part.indexOf("=")
    if (decoded(equals < 0 ? part : part.slice(0, equals)) !== name) continue
    const value = equals < 0 ? "" : decoded(part.slice(equals + 1))
    if (only !== undefined && value !== only) return undefined
    only = value
  }
  return only === "" ? undefined : only
}

const decoded = (text: string): string => (/[%+]/.test(text) ? new URLSearchParams(`_=${text}`).get("_")! : text)
