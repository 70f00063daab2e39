/**
 * The whole interface of the service as one value: the server implements it, the client's requests are derived from its
 * type (`client/transport/Transport.ts`), and the OpenAPI description is printed from it. Paths are stated once, in `Routes.ts`.
 */
import { HttpApi, OpenApi } from "effect/http-api"
import * as AllowanceHeaders from "./AllowanceHeaders.ts"
import { csrfHeader, sessionCookies } from "./Authorization.ts"
import { CommitmentsGroup } from "./CommitmentsGroup.ts"
import { complete, type Json } from "./Document.ts"
import exampleReplies from "./exampleReplies.json" with { type: "json" }
import { failures } from "./Examples.ts"
import { ImagesGroup } from "./ImagesGroup.ts"
import { NodesGroup } from "./NodesGroup.ts"
import { chosen } from "./Stated.ts"
import { apiKeyParameter, prefix } from "./Routes.ts"

const header = (described: { readonly description: string }, schema: Json) => ({
  ...described,
  required: true,
  schema
})

const wholeNumber = (minimum: number) => ({ type: "integer", minimum, maximum: Number.MAX_SAFE_INTEGER })

const allowanceHeaders = Object.fromEntries(
  Object.entries(AllowanceHeaders.described).map(([name, description]) => [
    name,
    header({ description }, wholeNumber(0))
  ])
)

/** The headers of replies of one status. */
const headersByStatus = {
  202: { Location: header(chosen(13, "Path of the new node."), { type: "string", format: "uri-reference" }) },
  401: { "WWW-Authenticate": header(chosen(4, "`Bearer`."), { type: "string" }) },
  405: { Allow: header(chosen(4, "The methods that the path answers."), { type: "string" }) },
  429: {
    "Retry-After": header(chosen(21, "Seconds until another request is granted."), wholeNumber(1))
  }
}

const securitySchemes = {
  [apiKeyParameter]: { type: "apiKey", in: "query", name: apiKeyParameter },
  bearer: { type: "http", scheme: "bearer" },
  ...Object.fromEntries(sessionCookies.map((name) => [name, { type: "apiKey", in: "cookie", name }])),
  csrf: { type: "apiKey", in: "header", name: csrfHeader }
}

/** Key and token are both required; on the commitment endpoint the cookies may stand in for the token (A6). */
const keyAndToken = { [apiKeyParameter]: [], bearer: [] }
const keyAndCookies = {
  [apiKeyParameter]: [],
  ...Object.fromEntries(sessionCookies.map((name) => [name, []])),
  csrf: []
}

const api = HttpApi.make("berth").add(NodesGroup).add(ImagesGroup).add(CommitmentsGroup).prefix(prefix)

const document = complete(api, { headers: allowanceHeaders, headersByStatus, replies: exampleReplies, failures })

/** Adds the credentials to the description. They are checked before routing, and effect describes only what a middleware checks. */
const withSecurity = (spec: Json): Json => {
  for (const path of Object.values<Json>(spec["paths"])) {
    for (const operation of Object.values(path)) {
      operation.security = operation.tags.includes("Commitments") ? [keyAndToken, keyAndCookies] : [keyAndToken]
    }
  }
  spec["components"].securitySchemes = securitySchemes
  return spec
}

export class BerthApi extends api.annotateMerge(
  OpenApi.annotations({
    title: "Compute node and image service",
    version: "1",
    servers: [{ url: "/", description: "The server that this description comes from." }],
    description:
      "Virtual machines (nodes), their commitments, and the images and plans they are made from. Each statement names " +
      "its source: documented by the service, observed in public clients of its family, or chosen by Berth.",
    transform: (spec) => withSecurity(document(spec))
  })
) {}
