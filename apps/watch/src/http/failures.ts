/**
 * Failures of the HTTP interface: one sentence with its status, as schemas for the contract and as responses.
 */
import { Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiSchema } from "effect/http-api"

const failureOf = <Status extends number>(status: Status) =>
  Schema.Struct({ status: Schema.Literal(status), message: Schema.String })
    .annotate({ identifier: `Failure${status}` })
    .pipe(HttpApiSchema.status(status))

export const failures = {
  400: failureOf(400),
  401: failureOf(401),
  403: failureOf(403),
  404: failureOf(404),
  410: failureOf(410),
  413: failureOf(413),
  415: failureOf(415),
  429: failureOf(429),
  500: failureOf(500),
  503: failureOf(503)
}

export const fail = <Status extends number>(status: Status, message: string) => ({ status, message })

export const failureResponse = (
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {}
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.jsonUnsafe(fail(status, message), {
    status,
    headers: { "cache-control": "no-store", ...headers }
  })
