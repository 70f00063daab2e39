/**
 * An image with all its plans, for `berth image list`, and a saved image of the account, for `berth image saved`.
 */
import { type Image, OperatingSystem, SavedImage } from "@berthkit/core/domain/Image"
import { priceList } from "@berthkit/core/domain/Price"
import { Schema } from "effect"
import { disk, memory, nothing, numberOr, rupees, textOr } from "../output/format.ts"
import { type Field, inr, jsonOf, type RecordDescriptor, recordOf } from "../output/RecordDescriptor.ts"

const ImageWithPlans = Schema.Struct({
  image: Schema.String.annotate({ description: "The value for node create --image." }),
  name: Schema.String,
  os: OperatingSystem,
  zone: Schema.NullOr(Schema.String),
  plans: Schema.Array(Schema.String).annotate({
    description: "Plans that it can be used with, in the service's order."
  }),
  minPricePerHourInr: Schema.NullOr(Schema.Number).annotate({
    description: "With the cheapest of these plans whose price is known."
  })
})
export interface ImageWithPlans extends Schema.Schema.Type<typeof ImageWithPlans> {}

const least = (prices: ReadonlyArray<number | null>): number | null => {
  const known = prices.filter((price) => price !== null)
  return known.length === 0 ? null : Math.min(...known)
}

const osText = ({ name, version }: OperatingSystem): string => [name, version ?? ""].join(" ").trim()

/** The name of an image. In today's API, the name in a record is the plan's SKU, so the operating system stands in for it. */
const nameOf = ({ name, os, sku }: Image): string => (name === sku ? osText(os) : name)

/** Each image once, in the order of the list. Saved images of the same name but another origin stay separate. */
export const withPlans = (images: ReadonlyArray<Image>): ReadonlyArray<ImageWithPlans> => {
  const prices = priceList(images)
  return Array.from(
    Map.groupBy(images, (each) => JSON.stringify([each.image, nameOf(each), each.zone])).values(),
    (same): ImageWithPlans => {
      const [first] = same as [Image, ...Array<Image>]
      const { image, os, zone } = first
      const plans = Array.from(new Set(same.map(({ plan }) => plan)))
      const perHour = plans.map((plan) => prices.ofPlan({ plan, image }).price.pricePerHourInr)
      return { image, name: nameOf(first), os, zone, plans, minPricePerHourInr: least(perHour) }
    }
  )
}

/** The saved images that are bound to plans, as records of the image list. */
export const imagesOnPlans = (saved: ReadonlyArray<SavedImage>): ReadonlyArray<Image> =>
  saved.flatMap(({ extra, image, name, os, plan, specs, zone }) =>
    image === null || plan === null || specs === null
      ? []
      : [{ name, image, plan, sku: null, os, zone, available: null, specs, extra }]
  )

const plansText = ({ plans }: ImageWithPlans): string => (plans.length === 1 ? plans[0]! : `${plans.length} plans`)

export const imageWithPlansRecord = recordOf(ImageWithPlans, { none: "no such images", idKey: "image" }, [
  { key: "image", title: "IMAGE", value: ({ image }) => image },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12, dropOrder: 2 },
  { key: "os.name", title: "OS", alias: "os", value: ({ os }) => osText(os), dropOrder: 4 },
  { key: "zone", title: "ZONE", value: ({ zone }) => textOr(zone), dropOrder: 1 },
  { key: "plans", title: "PLANS", value: plansText, dropOrder: 3 },
  inr("minPricePerHourInr", "FROM ₹/HOUR", { alias: "price", dropOrder: 5 })
])

const name: Field<SavedImage> = { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12, dropOrder: 2 }
const system: Field<SavedImage> = { key: "os", title: "OS", value: ({ os }) => osText(os), dropOrder: 4 }

/** The columns of records that are bound to plans. This is the older form of the list. */
const onPlans: ReadonlyArray<Field<SavedImage>> = [
  { key: "image", title: "IMAGE", value: ({ image }) => textOr(image) },
  name,
  system,
  { key: "plan", title: "PLAN", value: ({ plan }) => textOr(plan), dropOrder: 7 },
  {
    key: "specs.vcpus",
    title: "VCPU",
    value: ({ specs }) => (specs === null ? nothing : numberOr(specs.vcpus)),
    align: "right",
    dropOrder: 3
  },
  {
    key: "specs.memoryMib",
    title: "MEMORY",
    alias: "memory",
    value: ({ specs }) => (specs === null ? nothing : memory(specs.memoryMib)),
    align: "right",
    dropOrder: 5
  },
  { key: "zone", title: "ZONE", value: ({ zone }) => textOr(zone), dropOrder: 1 },
  {
    key: "specs.pricePerHourInr",
    title: "₹/HOUR",
    alias: "price",
    value: ({ specs }) => (specs === null ? nothing : rupees(specs.pricePerHourInr)),
    align: "right",
    dropOrder: 6
  }
]

/** The columns of records of saved disks. */
const ofDisks: ReadonlyArray<Field<SavedImage>> = [
  { key: "templateId", title: "TEMPLATE", value: ({ templateId }) => numberOr(templateId), align: "right" },
  name,
  system,
  { key: "state", title: "STATE", value: ({ state }) => textOr(state), dropOrder: 5 },
  { key: "sizeGb", title: "SIZE", alias: "size", value: ({ sizeGb }) => disk(sizeGb), align: "right", dropOrder: 3 },
  { key: "created", title: "CREATED", value: ({ created }) => textOr(created), dropOrder: 1 }
]

const isOnPlan = ({ plan }: SavedImage) => plan !== null

export const savedImageRecord: RecordDescriptor<SavedImage> = {
  ...jsonOf(SavedImage),
  fields: (images) =>
    images.length > 0 && images.every(isOnPlan)
      ? onPlans
      : images.length > 0 && !images.some(isOnPlan)
        ? ofDisks
        : Array.from(new Set([...onPlans, ...ofDisks])),
  none: "no saved images",
  idKey: "image",
  otherIdKey: "templateId"
}
