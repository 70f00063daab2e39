/**
 * Images as the service writes them, exactly as documented. `ImageCodec.ts` reads them into the domain.
 */
import { Schema } from "effect"
import { documented, text, wholeNumber } from "./Stated.ts"

const amount = text(/^\d+\.\d\d$/)
const rupees = amount.annotate(documented("2.6", "Rupees."))

/** One committed option of a plan (interface.md §2.6). */
export const CommittedSku = Schema.Struct({
  committed_sku_id: wholeNumber(1),
  committed_sku_name: Schema.String,
  committed_node_message: Schema.String.annotate(documented("2.6", "The reservation period and its cost in words.")),
  committed_sku_price: rupees,
  committed_upto_date: text(/^\d\d-[A-Z][a-z]+-\d{4} \d\d:\d\d$/).annotate(
    documented("2.6", "Shape `DD-<MonthName>-YYYY HH:MM`.")
  ),
  committed_days: wholeNumber(1)
}).annotate({ identifier: "CommittedSku" })

/** The size and the prices of an image's plan (interface.md §2.6). */
export const ImageSpecs = Schema.Struct({
  ram: amount.annotate(documented("2.6", "GB, two decimals.")),
  cpu: wholeNumber(1).annotate(documented("2.6", "Cores.")),
  disk_space: wholeNumber(0).annotate(documented("2.6", "GB.")),
  price_per_month: rupees,
  price_per_hour: rupees,
  series: Schema.String.annotate(documented("2.6", "Series letter or name; `A`, `B`, `C`, `1CLICK` seen.")),
  minimum_billing_amount: rupees,
  committed_sku: Schema.optionalKey(Schema.Array(CommittedSku)).annotate(documented("2.6", "Committed-plan options."))
}).annotate({ identifier: "ImageSpecs" })

const shared = {
  name: Schema.String.annotate(documented("2.6", "Name of the node image.")),
  image: Schema.String.annotate(documented("2.6", "Base image name used for node creation.")),
  os: Schema.Struct({
    name: Schema.String,
    version: Schema.NullOr(Schema.String),
    image: Schema.String.annotate(documented("2.6", "Identifier of the OS image."))
  }),
  zone: Schema.Struct({ slug_name: Schema.String.annotate(documented("2.6", "Where the image can be launched.")) }),
  specs: ImageSpecs
}

/** An element of the image list (interface.md §2.6). */
export const ListedImage = Schema.Struct({
  ...shared,
  plan: Schema.String.annotate(documented("2.6", "Unique plan slug of the image."))
}).annotate({ identifier: "ListedImage" })

/** An element of the saved-image list. In the documented example, the field with the plan is called `size` (interface.md §2.6). */
export const SavedImage = Schema.Struct({
  ...shared,
  size: Schema.String.annotate(documented("2.6", "Unique plan slug of the image."))
}).annotate({ identifier: "SavedImage" })
