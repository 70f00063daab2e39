/**
 * Worlds: made, listed, reset and deleted. Parallel tests that share one server take a world each and never meet.
 */
import { failures } from "@berth/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { algorithms } from "../world/allowance.ts"
import { authModes, deleteStyles } from "../world/World.ts"
import { ClockText, DurationText, Instant, ScenarioText, worldParam } from "./fields.ts"

const described = (description: string) => ({ description })

/** What a fresh account may be called: visible ASCII, so that it fits into a header and a query. */
const Credential = Schema.String.check(Schema.isPattern(/^[!-~]{1,255}$/))

const RateLimit = Schema.Struct({
  limit: Schema.optional(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))),
  window: Schema.optional(DurationText),
  algorithm: Schema.optional(Schema.Literals(algorithms))
})

/** What a world begins with. Everything may be left out; then it is as `--help` says of the flag of that name. */
export const WorldOptions = Schema.Struct({
  seed: Schema.optional(Schema.Int).annotate(described("Default 1.")),
  clock: Schema.optional(ClockText).annotate(described("`real` (default), `frozen`, or a factor such as `x60`.")),
  scenario: Schema.optional(ScenarioText).annotate(described("`empty` (default), `small`, or `fleet:N`.")),
  provisioning: Schema.optional(DurationText).annotate(described("From a create to running; default 2 seconds.")),
  termination: Schema.optional(DurationText).annotate(described("From a delete to being gone; default 2 seconds.")),
  rateLimit: Schema.optional(RateLimit).annotate(described("Default 1200 per hour, fixed-window.")),
  auth: Schema.optional(Schema.Literals(authModes)),
  deleteStyle: Schema.optional(Schema.Literals(deleteStyles)),
  uniqueNames: Schema.optional(Schema.Boolean),
  apiKey: Schema.optional(Credential).annotate(described("Default: one that follows from the server's seed.")),
  accessToken: Schema.optional(Credential).annotate(described("Default: one that follows from the server's seed."))
}).annotate({ identifier: "WorldOptions" })
export type WorldOptions = typeof WorldOptions.Type

/** A world and the credentials that reach it. */
export const WorldMade = Schema.Struct({
  id: Schema.String,
  apiKey: Schema.String,
  accessToken: Schema.String
}).annotate({ identifier: "WorldMade" })

/** A world at a glance. */
export const WorldSummary = Schema.Struct({
  id: Schema.String,
  seed: Schema.Int,
  clock: ClockText,
  now: Instant,
  nodes: Schema.Int,
  savedImages: Schema.Int,
  allowance: Schema.Struct({
    algorithm: Schema.Literals(algorithms),
    limit: Schema.Int,
    window: DurationText,
    remaining: Schema.Int,
    resetAt: Instant
  })
}).annotate({ identifier: "WorldSummary" })

const make = HttpApiEndpoint.post("make", "/worlds", {
  payload: WorldOptions,
  success: WorldMade.pipe(HttpApiSchema.status(201)),
  error: [failures[400], failures[409], failures[413], failures[415], failures[422]]
}).annotateMerge(OpenApi.annotations({ title: "Make a world" }))

const list = HttpApiEndpoint.get("list", "/worlds", {
  success: Schema.Array(WorldSummary)
}).annotateMerge(OpenApi.annotations({ title: "List the worlds" }))

const get = HttpApiEndpoint.get("get", "/worlds/:world", {
  params: worldParam,
  success: WorldSummary,
  error: [failures[404]]
}).annotateMerge(OpenApi.annotations({ title: "Look at a world" }))

const remove = HttpApiEndpoint.delete("delete", "/worlds/:world", {
  params: worldParam,
  success: HttpApiSchema.NoContent,
  error: [failures[404], failures[409]]
}).annotateMerge(
  OpenApi.annotations({ title: "Delete a world", description: "Its credentials are no longer known. `default` stays." })
)

const reset = HttpApiEndpoint.post("reset", "/worlds/:world/reset", {
  params: worldParam,
  success: WorldSummary,
  error: [failures[404]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Reset a world",
    description: "It is as it was when it was made, before the reply. Its credentials stay."
  })
)

export class WorldsGroup extends HttpApiGroup.make("worlds")
  .add(make, list, get, remove, reset)
  .annotateMerge(
    OpenApi.annotations({ title: "Worlds", description: "Isolated accounts, one per test if you like." })
  ) {}
