/** Selects the catalogue of a world: the profile's catalogue if it has one, otherwise the catalogue of the world's dialect and seed. */
import { type Catalogue, makeCatalogue } from "./catalogue.ts"
import type { Today } from "./Today.ts"
import { todaysCatalogue } from "./todaysCatalogue.ts"

export const catalogueOf = (settings: {
  readonly seed: number
  readonly catalogue?: Catalogue | undefined
  readonly today?: Today | undefined
}): Catalogue =>
  settings.today === undefined
    ? (settings.catalogue ?? makeCatalogue(settings.seed))
    : todaysCatalogue(settings.seed, settings.today.catalogue)
