/**
 * Worlds: create, list, reset and delete them. A world is a mock account with its own nodes, clock and seed. Tests that run
 * in parallel on one server take a world each, so they never affect each other.
 */
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { algorithms } from "@berthkit/profile/algorithms"
import { Snapshot } from "../state/Snapshot.ts"
import { DurationText } from "../lifecycle/timeText.ts"
import { ClockText, RateLimit, WorldOptions } from "../world/WorldOptions.ts"
import { Instant, worldParam } from "./fields.ts"

/** A new world and its credentials. */
const WorldMade = Schema.Struct({
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

/** A change of a running world. Absent fields change nothing, and neither do absent parts of the rate limit. */
export const WorldUpdate = Schema.Struct({
  rateLimit: Schema.optionalKey(RateLimit)
}).annotate({ identifier: "WorldUpdate" })

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
}).annotateMerge(OpenApi.annotations({ title: "Get a world" }))

const update = HttpApiEndpoint.patch("update", "/worlds/:world", {
  params: worldParam,
  payload: WorldUpdate,
  success: WorldSummary,
  error: [failures[400], failures[404], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Change the rate limit of a world",
    description: "Spent requests stay spent. A reset restores the rate limit that the world started with."
  })
)

const remove = HttpApiEndpoint.delete("delete", "/worlds/:world", {
  params: worldParam,
  success: HttpApiSchema.NoContent,
  error: [failures[404], failures[409]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Delete a world",
    description: "Its credentials stop working; its journal can still be read. `default` cannot be deleted."
  })
)

const reset = HttpApiEndpoint.post("reset", "/worlds/:world/reset", {
  params: worldParam,
  success: WorldSummary,
  error: [failures[404], failures[409]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Reset a world",
    description: "The reply comes when the reset is complete. The world keeps its credentials."
  })
)

const snapshot = HttpApiEndpoint.get("snapshot", "/worlds/:world/snapshot", {
  params: worldParam,
  success: Snapshot,
  error: [failures[404]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Take a snapshot",
    description: "The world as JSON, without its credentials."
  })
)

const restore = HttpApiEndpoint.put("restore", "/worlds/:world/snapshot", {
  params: worldParam,
  payload: Snapshot,
  success: WorldSummary,
  error: [failures[400], failures[404], failures[409], failures[413], failures[415], failures[422]]
}).annotateMerge(
  OpenApi.annotations({
    title: "Put a snapshot into a world",
    description:
      "From then on it gives the same replies, byte for byte, as the world of the snapshot. It keeps its own credentials."
  })
)

export class WorldsGroup extends HttpApiGroup.make("worlds")
  .add(make, list, get, update, remove, reset, snapshot, restore)
  .annotateMerge(
    OpenApi.annotations({ title: "Worlds", description: "Isolated accounts, one per test if you like." })
  ) {}
