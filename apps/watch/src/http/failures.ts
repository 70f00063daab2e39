/**
 * Failures of the HTTP interface. Each has a status and one sentence; they are defined as schemas for the API and as responses.
 */
import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"
import { refusalStatus, type Refused } from "./Daemon.ts"

const failureOf = <Status extends number>(status: Status, description: string) =>
  Schema.Struct({ status: Schema.Literal(status), message: Schema.String })
    .annotate({ identifier: `Failure${status}`, description })
    .pipe(HttpApiSchema.status(status))

export const failures = {
  400: failureOf(400, "A parameter or a field is not valid."),
  401: failureOf(401, "The token is missing or wrong."),
  403: failureOf(403, "The request comes from a page of another origin, or names another host."),
  404: failureOf(404, "The requested object does not exist."),
  410: failureOf(410, "Events after the cursor are no longer kept."),
  413: failureOf(413, "The body is too large."),
  415: failureOf(415, "The body must be JSON."),
  429: failureOf(429, "Too many attempts with wrong tokens."),
  500: failureOf(500, "The daemon failed."),
  503: failureOf(503, "The store does not answer, or the requested data is not known yet.")
}

export const fail = <Status extends number>(status: Status, message: string) => ({ status, message })

/** Turns a refusal of the daemon into the failure of an endpoint. */
export const orFailure = Effect.mapError(({ kind, message }: Refused) => fail(refusalStatus[kind], message))

export const failureResponse = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(fail(status, message), {
    status,
    headers: { "cache-control": "no-store", ...headers }
  })
