/**
 * The interface for people and programs to read, both printed from the one value: a page that brings all its scripts
 * along, and the OpenAPI description. Neither asks for credentials.
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { HttpApiScalar } from "effect/http-api"

export const openApiPath = "/openapi.json"
export const docsPath = "/docs"

/** Sections of the page that lead elsewhere, or load from there, are left out. */
const scalar = {
  withDefaultFonts: false,
  favicon: "data:,",
  hideClientButton: true,
  showDeveloperTools: "never",
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false
}

/** The page at `docsPath`; `openApiPath` is served with the endpoints. */
export const layer = HttpApiScalar.layer(BerthApi, { path: docsPath, scalar })
