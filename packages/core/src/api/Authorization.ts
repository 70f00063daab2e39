/**
 * How a request identifies its account (interface.md §5, A5 and A6). This is the contract; the server checks the credentials, and the
 * client adds them (`client/transport/Transport.ts`).
 */
import { HttpApiMiddleware } from "effect/http-api"
import { failures } from "./Envelope.ts"

/** Header that may repeat the API key; if present it must be the same (A5). */
export const apiKeyHeader = "x-api-key"

/** Cookies that stand in for the bearer token on the commitment endpoint (A6). */
export const sessionCookies = ["csrftoken", "sessionid", "role"] as const

/** Header that must repeat the `csrftoken` cookie (A6). */
export const csrfHeader = "x-csrftoken"

/**
 * Lets a request through only with valid credentials and within the allowance. The failures that every endpoint may return
 * are declared here too, once.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("@berthkit/core/api/Authorization", {
  error: [
    failures[400],
    failures[401],
    failures[403],
    failures[405],
    failures[408],
    failures[413],
    failures[414],
    failures[429],
    failures[431],
    failures[500],
    failures[503]
  ]
}) {}
