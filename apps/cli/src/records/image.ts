/**
 * An image: once with all its plans, as `berth image list` prints it, and as the service lists it, once for every plan, which is how
 * `berth image saved` prints the account's own.
 */
import { Image, OperatingSystem } from "@berthkit/core/domain/Image"
import { priceList } from "@berthkit/core/domain/Price"
import { Schema } from "effect"
import { memory, numberOr, rupees, textOr } from "../output/format.ts"
import { inr, recordOf } from "../output/RecordDescriptor.ts"

const ImageWithPlans = Schema.Struct({
  image: Schema.String.annotate({ description: "What node create --image takes." }),
  name: Schema.String,
  os: OperatingSystem,
  zone: Schema.NullOr(Schema.String),
  plans: Schema.Array(Schema.String).annotate({ description: "Plans that it goes with, in the service's order." }),
  minPricePerHourInr: Schema.NullOr(Schema.Number).annotate({
    description: "With the cheapest of these plans whose price is known."
  })
})
export interface ImageWithPlans extends Schema.Schema.Type<typeof ImageWithPlans> {}

const least = (prices: ReadonlyArray<number | null>): number | null => {
  const known = prices.filter((price) => price !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** Each image once, in the order of the list. Saved images of one name differ by where they are from, and stay apart. */
export const withPlans = (images: ReadonlyArray<Image>): ReadonlyArray<ImageWithPlans> => {
  const prices = priceList(images)
  return Array.from(
    Map.groupBy(images, ({ image, name, zone }) => JSON.stringify([image, name, zone])).values(),
    (same): ImageWithPlans => {
      const { image, name, os, zone } = same[0]!
      const plans = Array.from(new Set(same.map(({ plan }) => plan)))
      const perHour = plans.map((plan) => prices.ofOrder({ plan, image }).price.pricePerHourInr)
      return { image, name, os, zone, plans, minPricePerHourInr: least(perHour) }
    }
  )
}

const osText = ({ name, version }: OperatingSystem): string => [name, version ?? ""].join(" ").trim()

const plansText = ({ plans }: ImageWithPlans): string => (plans.length === 1 ? plans[0]! : `${plans.length} plans`)

export const imageWithPlansRecord = recordOf(ImageWithPlans, { none: "no such images", idKey: "image" }, [
  { key: "image", title: "IMAGE", value: ({ image }) => image },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12, dropOrder: 2 },
  { key: "os.name", title: "OS", alias: "os", value: ({ os }) => osText(os), dropOrder: 4 },
  { key: "zone", title: "ZONE", value: ({ zone }) => textOr(zone), dropOrder: 1 },
  { key: "plans", title: "PLANS", value: plansText, dropOrder: 3 },
  inr("minPricePerHourInr", "FROM ₹/HOUR", { alias: "price", dropOrder: 5 })
])

export const imageRecord = recordOf(Image, { none: "no such images", idKey: "image" }, [
  { key: "image", title: "IMAGE", value: ({ image }) => image },
  { key: "name", title: "NAME", value: ({ name }) => name, shrinkTo: 12, dropOrder: 2 },
  { key: "os", title: "OS", value: ({ os }) => osText(os), dropOrder: 4 },
  { key: "plan", title: "PLAN", value: ({ plan }) => textOr(plan), dropOrder: 7 },
  { key: "specs.vcpus", title: "VCPU", value: ({ specs }) => numberOr(specs.vcpus), align: "right", dropOrder: 3 },
  {
    key: "specs.memoryMib",
    title: "MEMORY",
    alias: "memory",
    value: ({ specs }) => memory(specs.memoryMib),
    align: "right",
    dropOrder: 5
  },
  { key: "zone", title: "ZONE", value: ({ zone }) => textOr(zone), dropOrder: 1 },
  {
    key: "specs.pricePerHourInr",
    title: "₹/HOUR",
    alias: "price",
    value: ({ specs }) => rupees(specs.pricePerHourInr),
    align: "right",
    dropOrder: 6
  }
])
