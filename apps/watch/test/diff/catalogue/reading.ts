/** Images, plans and reads of a catalogue for tests. A test states only the fields that matter to it. */
import type { CatalogueImage, CataloguePlan } from "../../../src/diff/CatalogueFact.ts"
import { type CatalogueRead, withPrices } from "../../../src/diff/catalogue/Catalogue.ts"
import { exactPrice } from "@berthkit/core/domain/Price"

export const anImage = (image: string): CatalogueImage => ({
  image,
  name: image,
  os: { name: "Ubuntu", version: "24.04", image: null }
})

/** A plan with the price per month of each of its images. */
export const aPlanWith = (plan: string, byImage: Readonly<Record<string, number | null>>): CataloguePlan =>
  withPrices(
    { plan, vcpus: 1, memoryMib: 1024, diskGb: 15, series: "A" },
    new Map(
      Object.entries(byImage).map(([image, perMonth]) => [
        image,
        exactPrice(perMonth === null ? null : perMonth / 730, perMonth)
      ])
    )
  )

export const aPlan = (plan: string, pricePerMonthInr: number | null = 730): CataloguePlan =>
  aPlanWith(plan, { "Ubuntu-24.04": pricePerMonthInr })

const minute = 60_000

/** A reply that shows these plans and images, some minutes after the first moment. */
export const readAt = (
  minutes: number,
  plans: ReadonlyArray<CataloguePlan>,
  images: ReadonlyArray<CatalogueImage> = [anImage("Ubuntu-24.04")]
): CatalogueRead => {
  const millis = minutes * minute
  const answered = { order: minutes, atMillis: millis, monotonicMillis: millis, serviceMillis: null }
  return { asked: answered, answered, plans, images }
}
