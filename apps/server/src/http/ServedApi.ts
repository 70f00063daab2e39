/**
 * The interface as this server serves it: the same value, read so that every parameter at fault is found and not only the
 * first (decision 4).
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { HttpApi } from "effect/http-api"

export const ServedApi = BerthApi.annotate(HttpApi.QueryParseOptions, { errors: "all" })
