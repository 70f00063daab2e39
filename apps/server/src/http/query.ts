/**
 * Rules for parameters that their schemas do not have. Every invalid parameter is reported, as a failure and not as a
 * defect. An empty parameter counts as absent (assumption A24 in docs/interface/assumptions.md). Whole numbers consist of
 * digits only.
 */
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { Cause, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiError } from "effect/http-api"
import { unreadableResponse } from "./failures.ts"

/** The interface as this server serves it: a reply reports every invalid parameter, not only the first (A4). */
export const ServedApi = BerthApi.annotate(HttpApi.QueryParseOptions, { errors: "all" })

type Query = Readonly<Record<string, string | Array<string>>>

/** Parameters that are whole numbers. Their schemas alone would also accept `1e1` and `10.0`. */
const wholeNumbers: ReadonlySet<string> = new Set(["page_no", "page", "per_page"])
const integer = /^-?\d+$/
const digits = /^\d+$/

/** The path parameters that are ids of nodes, in the interface and in the control plane. */
const nodeIds = ["node_id", "id"] as const

/** Replaces a value that is not written as a whole number. Every number schema rejects it. */
const unreadable = "unreadable"

const isMisspelled = (name: string, value: Query[string] | undefined): boolean =>
  typeof value === "string" && wholeNumbers.has(name) && !integer.test(value)

const isTidy = (query: Query): boolean => {
  for (const name in query) if (query[name] === "" || isMisspelled(name, query[name])) return false
  return true
}

const tidied = (query: Query): Query =>
  Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) =>
      value === "" ? [] : [[name, isMisspelled(name, value) ? unreadable : value]]
    )
  )

export const layer = HttpRouter.middleware((endpoint) => {
  const answered = Effect.catchCause(endpoint, (cause) => {
    const defect = cause.reasons.find(Cause.isDieReason)?.defect
    if (!HttpApiError.HttpApiSchemaError.is(defect)) return Effect.failCause(cause)
    return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) => {
      const response = unreadableResponse(defect, query)
      return response === undefined ? Effect.failCause(cause) : Effect.succeed(response)
    })
  })
  // This only replaces a bad id and does not reply, so that a caller without credentials still gets a 401.
  const withIds = Effect.flatMap(HttpRouter.RouteContext, ({ params, route }) => {
    const misspelled = nodeIds.find((name) => params[name] !== undefined && !digits.test(params[name]))
    return misspelled === undefined
      ? answered
      : Effect.provideService(answered, HttpRouter.RouteContext, {
          route,
          params: { ...params, [misspelled]: unreadable }
        })
  })
  return Effect.flatMap(HttpServerRequest.ParsedSearchParams, (query) =>
    isTidy(query) ? withIds : Effect.provideService(withIds, HttpServerRequest.ParsedSearchParams, tidied(query))
  )
}).layer
