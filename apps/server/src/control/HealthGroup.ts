/**
 * Whether the server is there: what a script that has started one asks until it answers.
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

const get = HttpApiEndpoint.get("get", "/health", {
  success: Schema.Struct({
    status: Schema.Literal("ok"),
    version: Schema.String,
    worlds: Schema.Int
  }).annotate({ identifier: "Health" })
}).annotateMerge(OpenApi.annotations({ title: "Health", description: "Answers as soon as the server does." }))

export class HealthGroup extends HttpApiGroup.make("health")
  .add(get)
  .annotateMerge(OpenApi.annotations({ title: "Health", description: "The server itself." })) {}
