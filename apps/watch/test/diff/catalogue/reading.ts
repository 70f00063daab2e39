/** Images, plans and reads of a catalogue for tests, of which a test states what matters to it. */
import type { CatalogueImage, CataloguePlan } from "../../../src/diff/CatalogueFact.ts"
import type { CatalogueRead } from "../../../src/diff/catalogue/Catalogue.ts"

export const anImage = (image: string): CatalogueImage => ({
  image,
  name: image,
  os: { name: "Ubuntu", version: "24.04", image: null }
})

export const aPlan = (plan: string, pricePerMonthInr: number | null = 730): CataloguePlan => ({
  plan,
  vcpus: 1,
  memoryMib: 1024,
  diskGb: 15,
  series: "A",
  pricePerHourInr: pricePerMonthInr === null ? null : pricePerMonthInr / 730,
  pricePerMonthInr
})

const minute = 60_000

/** A reply that shows these plans, and these images, so many minutes after the first moment. */
export const readAt = (
  minutes: number,
  plans: ReadonlyArray<CataloguePlan>,
  images: ReadonlyArray<CatalogueImage> = [anImage("Ubuntu-24.04")]
): CatalogueRead => {
  const millis = minutes * minute
  const answered = { order: minutes, atMillis: millis, monotonicMillis: millis, serviceMillis: null }
  return { asked: answered, answered, plans, images }
}
