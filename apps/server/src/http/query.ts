/**
 * What surrounds the reading of a request by its schema: an empty parameter counts as none (decision 18), and what cannot
 * be read becomes the failure it is instead of a defect.
 */
import { Cause, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApiError } from "effect/http-api"
import { unreadableResponse } from "./failures.ts"

type Query = Readonly<Record<string, string | Array<string>>>

const withoutEmpty = (query: Query): Query =>
  Object.values(query).includes("")
    ? Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""))
    : query

export const layer = HttpRouter.middleware((endpoint) =>
  Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) =>
    endpoint.pipe(
      Effect.provideService(HttpServerRequest.ParsedSearchParams, withoutEmpty(query)),
      Effect.catchCause((cause) => {
        const defect = cause.reasons.find(Cause.isDieReason)?.defect
        const response = HttpApiError.HttpApiSchemaError.is(defect) ? unreadableResponse(defect, query) : undefined
        return response === undefined ? Effect.failCause(cause) : Effect.succeed(response)
      })
    )
  )
).layer
