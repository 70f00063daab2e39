/**
 * Which catalogue a world has: that of its dialect and seed, or the one that a profile gives it.
 */
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
