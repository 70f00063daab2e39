/**
 * The interface for people and programs to read, both printed from the one value: a page that brings all its scripts
 * along, and the OpenAPI description. Neither asks for credentials.
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { Layer } from "effect"
import { HttpApiScalar } from "effect/http-api"

export const openApiPath = "/openapi.json"
export const docsPath = "/docs"

export const layer = Layer.mergeAll(HttpApiScalar.layer(BerthApi, { path: docsPath }))
