/**
 * Rules for parameters beyond their schemas: every invalid one is reported, an empty one counts as absent (assumption A24 in
 * docs/interface/assumptions.md), whole numbers are written in digits only, and an invalid one is a failure and not a defect.
 */
import { BerthApi } from "@berthkit/core/api/BerthApi"
import { Cause, Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiError } from "effect/http-api"
import { unreadableResponse } from "./failures.ts"

/** The interface as this server serves it: it reports every invalid parameter, not only the first (A4). */
export const ServedApi = BerthApi.annotate(HttpApi.QueryParseOptions, { errors: "all" })

type Query = Readonly<Record<string, string | Array<string>>>

/** Parameters that are whole numbers. Their schemas alone would also accept `1e1` and `10.0`. */
const wholeNumbers: ReadonlySet<string> = new Set(["page_no", "page", "per_page"])
const integer = /^-?\d+$/
const digits = /^\d+$/

/** The names of node ids in paths, in the interface and in the control plane. */
const nodeIds = ["node_id", "id"] as const

/** A placeholder that every number schema rejects. */
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
  // Replaces a bad id instead of answering here, so that a caller without credentials gets the 401 first.
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
