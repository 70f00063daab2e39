/**
 * What surrounds the reading of a request by its schema: an empty parameter counts as none (decision 18), and what cannot
 * be read becomes the failure it is instead of a defect.
 */
import { Cause, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { unreadableResponse } from "./failures.ts"

type Query = Readonly<Record<string, string | Array<string>>>

const hasEmpty = (query: Query): boolean => {
  for (const name in query) if (query[name] === "") return true
  return false
}

const withoutEmpty = (query: Query): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""))

export const layer = HttpRouter.middleware((endpoint) => {
  const answered = Effect.catchCause(endpoint, (cause) => {
    const defect = cause.reasons.find(Cause.isDieReason)?.defect
    if (!HttpApiError.HttpApiSchemaError.is(defect)) return Effect.failCause(cause)
    return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) => {
      const response = unreadableResponse(defect, query)
      return response === undefined ? Effect.failCause(cause) : Effect.succeed(response)
    })
  })
  return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) =>
    hasEmpty(query)
      ? Effect.provideService(answered, HttpServerRequest.ParsedSearchParams, withoutEmpty(query))
      : answered
  )
}).layer
