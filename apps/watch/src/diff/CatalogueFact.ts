/**
 * Facts about the catalogue and the allowance of an account: the types and data of those events, as `Fact.ts` has them for
 * nodes.
 */
import { OperatingSystem, Specs } from "@berthkit/core/domain/Image"
import { PlanPrice } from "@berthkit/core/domain/Plan"
import { Price } from "@berthkit/core/domain/Price"
import { Schema } from "effect"
import { afterGap, type Known, observedBetween } from "./Fact.ts"

/** An image that nodes can be created from. */
export const CatalogueImage = Schema.Struct({
  image: Schema.String.annotate({ description: "The value for `image` in a create." }),
  name: Schema.String,
  os: OperatingSystem
}).annotate({ identifier: "CatalogueImage" })
export interface CatalogueImage extends Schema.Schema.Type<typeof CatalogueImage> {}

const { diskGb, memoryMib, series, vcpus } = Specs.fields

/** A plan. Its price is stated only if it is the same with all its images. */
export const CataloguePlan = Schema.Struct({
  plan: Schema.String.annotate({ description: "The value for `plan` in a create." }),
  vcpus,
  memoryMib,
  diskGb,
  series,
  ...Price.fields,
  prices: Schema.Array(PlanPrice).annotate({ description: "Images with the same price together; each image once." })
}).annotate({ identifier: "CataloguePlan" })
export interface CataloguePlan extends Schema.Schema.Type<typeof CataloguePlan> {}

/** A fact about one image or plan. */
const aboutEntry = <const Type extends string, const Data extends Schema.Struct.Fields>(type: Type, data: Data) =>
  Schema.Struct({
    subject: Schema.String.annotate({ description: "`images/{image}` or `plans/{plan}`." }),
    type: Schema.Literal(type),
    data: Schema.Struct({ ...data, observedBetween, afterGap })
  })

const nodes = Schema.Int.annotate({ description: "How many nodes of the account have the plan." })

/** An image was added. */
const ImageAdded = aboutEntry("berth.image.added", { before: Schema.Null, after: CatalogueImage })

/** An image was removed: nodes can no longer be created from it. */
const ImageRemoved = aboutEntry("berth.image.removed", { before: CatalogueImage, after: Schema.Null })

/** A plan was added. */
const PlanAdded = aboutEntry("berth.plan.added", { before: Schema.Null, after: CataloguePlan })

/** A plan was removed: nodes can no longer be created on it; existing nodes stay. */
const PlanRemoved = aboutEntry("berth.plan.removed", { before: CataloguePlan, after: Schema.Null, nodes })

/** The price of a plan changed with some image. */
const PlanPriceChanged = aboutEntry("berth.plan.price_changed", {
  before: CataloguePlan,
  after: CataloguePlan,
  nodes,
  differencePerMonthInr: Schema.NullOr(Schema.Number).annotate({
    description:
      "The additional monthly cost of these nodes in rupees; negative if they cost less; null if one of their prices is unknown."
  })
})

/** The allowance is low: at most a tenth is left, or less than the daemon itself needs until it refills. */
const AllowanceLow = Schema.Struct({
  type: Schema.Literal("berth.allowance.low"),
  data: Schema.Struct({
    limit: Schema.Int.annotate({ description: "Requests that the service grants per window." }),
    remaining: Schema.Int.annotate({ description: "Requests that are left." }),
    resetsAt: Schema.NullOr(Schema.DateTimeUtc).annotate({ description: "When it refills; null if unknown." })
  })
})

export const catalogueFacts = [
  ImageAdded,
  ImageRemoved,
  PlanAdded,
  PlanRemoved,
  PlanPriceChanged,
  AllowanceLow
] as const

/** None of these facts is about a node. The version consists of the entry and the number of its changes. */
export type EntryFact = Known<string> &
  (
    | typeof ImageAdded.Type
    | typeof ImageRemoved.Type
    | typeof PlanAdded.Type
    | typeof PlanRemoved.Type
    | typeof PlanPriceChanged.Type
  )

export type AllowanceFact = Known<string> & typeof AllowanceLow.Type
