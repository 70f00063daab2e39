/**
 * The interface for people to read, from the same value as the OpenAPI description for programs. Neither asks for credentials.
 */
import { BerthApi } from "@berth/core/api/BerthApi"
import { htmlPage } from "@berth/web/htmlPage"
import { readAsset } from "@berth/web/readAsset"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { OpenApi } from "effect/http-api"
import { docsPage } from "./docsPage.ts"
import type { OpenApiDocument } from "./OpenApiDocument.ts"

export const openApiPath = "/openapi.json"
export const docsPath = "/docs"
/** Browsers ask for it by themselves. There is none; no test reads of it in a journal. */
export const iconPath = "/favicon.ico"

const make = (): HttpServerResponse.HttpServerResponse => {
  // The type of effect's describes every OpenAPI document; this is the one that is printed from `BerthApi`.
  const document = OpenApi.fromApi(BerthApi) as unknown as OpenApiDocument
  return htmlPage({ html: docsPage(document).text, style: readAsset(new URL("./docs.css", import.meta.url)) })
}

let made: HttpServerResponse.HttpServerResponse | undefined

/** The page at `docsPath`, made when it is first asked for; `openApiPath` is served with the endpoints. */
export const layer = Layer.mergeAll(
  HttpRouter.add(
    "GET",
    docsPath,
    Effect.sync(() => (made ??= make()))
  ),
  HttpRouter.add("GET", iconPath, Effect.succeed(HttpServerResponse.empty()))
)
