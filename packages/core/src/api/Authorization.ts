/**
 * How a request says whose it is (interface.md §5, decisions 5 and 6). This is the contract; checking is the server's
 * work, adding the credentials the client's (`client/transport/Authentication.ts`).
 */
import { HttpApiMiddleware } from "effect/http-api"
import { failures } from "./Envelope.ts"

/** Header in which the API key may come a second time; if present it must be the same (decision 5). */
export const apiKeyHeader = "x-api-key"

/** Cookies that stand in for the bearer token on the commitment endpoint (decision 6). */
export const sessionCookies = ["csrftoken", "sessionid", "role"] as const

/** Header that must repeat the `csrftoken` cookie (decision 6). */
export const csrfHeader = "x-csrftoken"

/**
 * Lets a request through only with valid credentials and within the allowance. What any endpoint may answer, whatever
 * is asked of it, stands here too: a middleware is where it can be said once.
 */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("@berth/core/api/Authorization", {
  error: [failures[401], failures[403], failures[414], failures[429], failures[500], failures[503]]
}) {}
