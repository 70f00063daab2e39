/**
 * Finds the caller of a request before the request is routed, because the caller decides which allowance the request spends.
 * Later checks whether the caller may use the endpoint (assumptions A4 to A6 in docs/interface/assumptions.md).
 */
import { apiKeyHeader, Authorization, csrfHeader, sessionCookies } from "@berthkit/core/api/Authorization"
import { CommitmentsGroup } from "@berthkit/core/api/CommitmentsGroup"
import { fail, type Failure, type FieldErrors } from "@berthkit/core/api/Envelope"
import { apiKeyParameter } from "@berthkit/core/api/Routes"
import { bearerToken } from "@berthkit/web/guard"
import { Effect, Layer, type Types } from "effect"
import type { HttpServerRequest } from "effect/http"
import { sameSecret, type Worlds } from "../world/Worlds.ts"
import { CurrentExchange, type Identity, type Reply } from "./Exchange.ts"

/** Identifies the caller of a request. */
export const identify = (worlds: Worlds, request: HttpServerRequest.HttpServerRequest): Identity => {
  const { accessToken, apiKey, repeatedApiKey, session } = readCredentials(request)
  const owner = apiKey === undefined ? undefined : worlds.byApiKey(apiKey)
  const holder = accessToken === undefined ? undefined : worlds.byAccessToken(accessToken)
  // One good credential is enough to find the world, even if the world then refuses the other credential.
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

const unauthorized = (errors: FieldErrors) => fail(401, "The API key or the access token is missing or wrong.", errors)

/** Why the caller may not use an endpoint; `undefined` if the caller may. */
const objection = (identity: Identity, group: string): Failure<401> | Failure<403> | undefined => {
  if (identity._tag === "Unknown") return unauthorized(identity.errors)
  if (identity._tag === "Mixed") return fail(403, "The API key and the access token are of different accounts.")
  // Cookies can replace the token only on the commitment endpoint (A6).
  return identity.bySession && group !== CommitmentsGroup.identifier
    ? unauthorized({ authorization: ["This endpoint takes the access token, not cookies."] })
    : undefined
}

/** Admits a request to its endpoint only with good credentials. */
export const authorization: Layer.Layer<Authorization> = Layer.succeed(Authorization)((endpoint, { group }) =>
  Effect.flatMap(CurrentExchange, (exchange): Effect.Effect<Reply, Types.unhandled | Failure<401> | Failure<403>> => {
    const failure = objection(exchange?.identity ?? { _tag: "Unknown", errors: {}, world: undefined }, group.identifier)
    return failure === undefined ? endpoint : Effect.fail(failure)
  })
)

/** The credentials of a request. A credential that the request does not have is `undefined`. */
const readCredentials = (request: HttpServerRequest.HttpServerRequest) => ({
  // A key that appears twice with different values does not count.
  apiKey: onlyValueOf(apiKeyParameter, request.url),
  repeatedApiKey: request.headers[apiKeyHeader],
  accessToken: bearerToken(request),
  /** `valid` if all three cookies are present and the header repeats the cookie `csrftoken` (A6). */
  session: request.headers["cookie"] === undefined ? "absent" : readSession(request)
})

const readSession = ({ cookies, headers }: HttpServerRequest.HttpServerRequest): "absent" | "mismatched" | "valid" => {
  if (sessionCookies.some((name) => (cookies[name] ?? "") === "")) return "absent"
  return sameSecret(cookies["csrftoken"] ?? "", headers[csrfHeader] ?? "") ? "valid" : "mismatched"
}

/**
 * The value of a query parameter that appears once, or several times with one value; `undefined` if it is absent, empty or
 * ambiguous. Every request needs this, and `URLSearchParams` would take twice as long.
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
