/**
 * The whole interface of the service as one value: the server implements it, the client's requests are derived from its
 * type (`client/transport/Wire.ts`), and the OpenAPI description is printed from it. Paths are stated once, in `Routes.ts`.
 */
import { Predicate } from "effect"
import { HttpApi, OpenApi } from "effect/http-api"
import { described } from "./AllowanceHeaders.ts"
import { csrfHeader, sessionCookies } from "./Authorization.ts"
import { CommitmentsGroup } from "./CommitmentsGroup.ts"
import { ImagesGroup } from "./ImagesGroup.ts"
import { NodesGroup } from "./NodesGroup.ts"
import { apiKeyParameter, prefix } from "./Routes.ts"

const allowanceHeaders = Object.fromEntries(
  Object.entries(described).map(([name, description]) => [name, { description, schema: { type: "integer" } }])
)

const securitySchemes = {
  [apiKeyParameter]: { type: "apiKey", in: "query", name: apiKeyParameter },
  bearer: { type: "http", scheme: "bearer" },
  ...Object.fromEntries(sessionCookies.map((name) => [name, { type: "apiKey", in: "cookie", name }])),
  csrf: { type: "apiKey", in: "header", name: csrfHeader }
}

/** Key and token are both required; on the commitment endpoint the cookies may stand in for the token (decision 6). */
const keyAndToken = { [apiKeyParameter]: [], bearer: [] }
const keyAndCookies = {
  [apiKeyParameter]: [],
  ...Object.fromEntries(sessionCookies.map((name) => [name, []])),
  csrf: []
}

/** Adds what every operation has and what `HttpApi` cannot express. */
const withCommonParts = (spec: Record<string, any>): Record<string, any> => {
  for (const path of Object.values<Record<string, any>>(spec["paths"])) {
    for (const operation of Object.values(path)) {
      for (const response of Object.values<Record<string, any>>(operation.responses))
        response["headers"] = allowanceHeaders
      operation.security = operation.tags.includes("Commitments") ? [keyAndToken, keyAndCookies] : [keyAndToken]
    }
  }
  const creation = spec["paths"][`${prefix}/nodes/`]?.post?.responses?.["202"]
  if (Predicate.isObject(creation)) {
    Object.assign(creation, {
      headers: {
        ...allowanceHeaders,
        location: { description: "Path of the new node (chosen: decision 13)", schema: { type: "string" } }
      }
    })
  }
  return { ...spec, components: { ...spec["components"], securitySchemes } }
}

export class BerthApi extends HttpApi.make("berth")
  .add(NodesGroup)
  .add(ImagesGroup)
  .add(CommitmentsGroup)
  .prefix(prefix)
  .annotateMerge(
    OpenApi.annotations({
      title: "Compute node and image service",
      version: "1",
      description:
        "Virtual machines (nodes), their commitments, and the images and plans they are made from. Each statement names " +
        "its source: documented by the service, observed in public clients of its family, or chosen by Berth.",
      transform: withCommonParts
    })
  ) {}
