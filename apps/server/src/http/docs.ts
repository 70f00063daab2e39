/**
 * The interface for people and programs to read, both printed from the one value: a page that brings all its scripts
 * along, and the OpenAPI description. Neither asks for credentials.
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { HttpApiScalar } from "effect/http-api"

export const openApiPath = "/openapi.json"
export const docsPath = "/docs"

/** The page at `docsPath`; `openApiPath` is served with the endpoints. The page's own fonts would come from elsewhere. */
export const layer = HttpApiScalar.layer(BerthApi, { path: docsPath, scalar: { withDefaultFonts: false } })
