/**
 * The image endpoints: all images with filters, and the account's saved images (interface.md §4 notes 4 and 5).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Authorization } from "./Authorization.ts"
import { describe } from "./Document.ts"
import { failures, success } from "./Envelope.ts"
import * as examples from "./Examples.ts"
import { ListedImage, SavedImage } from "./ImageRecords.ts"
import { documented, oneOf } from "./Stated.ts"
import { routes } from "./Routes.ts"

/** Case-insensitive (A18). */
const imageType = oneOf(["public", "private"])

const list = HttpApiEndpoint.get("list", routes.images.list.path, {
  query: {
    image_type: Schema.optional(imageType).annotate(documented("4 note 4", "`public` or `private`.")),
    cpu: Schema.optional(Schema.Int).annotate(documented("4 note 4", "CPU count of the plan.")),
    ram: Schema.optional(Schema.Int).annotate(documented("4 note 4", "RAM in GB of the plan.")),
    series: Schema.optional(Schema.String).annotate(documented("4 note 4", "Series of the plan, for example `A`.")),
    os: Schema.optional(Schema.String).annotate(documented("4 note 4", "Operating system name.")),
    version: Schema.optional(Schema.String).annotate(
      documented("4 note 4", "Operating system version; used with `os`.")
    )
  },
  success: success(Schema.Array(ListedImage)).annotate({
    identifier: "Images",
    ...documented("4", "The images that match.")
  }),
  error: [failures[422]]
}).annotateMerge(
  describe({
    summary: "List images",
    ...documented("4 note 4", "All images; each filter narrows, and they combine."),
    example: examples.listImages
  })
)

const saved = HttpApiEndpoint.get("saved", routes.images.saved.path, {
  query: {
    image_type: Schema.optional(imageType).annotate(documented("4", "`private` seen."))
  },
  success: success(Schema.Array(SavedImage)).annotate({
    identifier: "SavedImages",
    ...documented("4", "The saved images.")
  }),
  error: [failures[422]]
}).annotateMerge(
  describe({
    summary: "List saved images",
    ...documented("4 note 5", "The images of the account."),
    example: examples.listSavedImages
  })
)

export class ImagesGroup extends HttpApiGroup.make("images")
  .add(list, saved)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Images", description: "What nodes are made from." })) {}
