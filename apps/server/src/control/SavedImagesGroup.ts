/** Saved images. Tests create them here, because no request of the imitated interface does. */
import { failures } from "@berthkit/core/api/Envelope"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { GivenName } from "../world/WorldOptions.ts"
import { maxTextLength } from "../world/WorldSettings.ts"
import { worldParam } from "./fields.ts"

const Slug = Schema.String.check(Schema.isMaxLength(maxTextLength))

/** The source of a saved image: a node of the world, or a public image with a plan that can run it. */
export const SavedImageOrder = Schema.Struct({
  name: GivenName,
  nodeId: Schema.optionalKey(Schema.Int),
  /** Slug of a public image. Default: Ubuntu-24.04. */
  image: Schema.optionalKey(Slug),
  /** Slug of a plan. Default: the first plan that can run the image. */
  plan: Schema.optionalKey(Slug)
}).annotate({ identifier: "SavedImageOrder" })

export const SavedImageView = Schema.Struct({
  id: Schema.Int,
  slug: Schema.String,
  name: Schema.String,
  templateId: Schema.Int,
  image: Schema.String,
  plan: Schema.String
}).annotate({ identifier: "SavedImageView" })

const add = HttpApiEndpoint.post("add", "/worlds/:world/saved-images", {
  params: worldParam,
  payload: SavedImageOrder,
  success: SavedImageView.pipe(HttpApiSchema.status(201)),
  error: [failures[400], failures[404], failures[409], failures[413], failures[415], failures[422]]
}).annotateMerge(OpenApi.annotations({ title: "Save an image" }))

export class SavedImagesGroup extends HttpApiGroup.make("savedImages")
  .add(add)
  .annotateMerge(OpenApi.annotations({ title: "Saved images", description: "Private images of the account." })) {}
