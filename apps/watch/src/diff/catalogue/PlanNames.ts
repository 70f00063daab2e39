/**
 * The names of plans in the catalogue. A node shows the SKU of its plan or its slug, and two shapes of one record may differ in
 * which one they show. Core's rule `isSamePlan` decides whether two names mean one plan.
 */
import type { Image } from "@berthkit/core/domain/Image"
import { isSamePlan } from "@berthkit/core/domain/Price"
import { Schema } from "effect"

/**
 * The slug with which a plan is ordered with an image, and the plan's SKU in the catalogue. A plan without a SKU has no second
 * name.
 */
export const PlanName = Schema.Struct({ plan: Schema.String, sku: Schema.String, image: Schema.String })
export interface PlanName extends Schema.Schema.Type<typeof PlanName> {}

/** How the catalogue relates two names. */
type Relation =
  | "same"
  /** The catalogue has both names, for two different plans. */
  | "other"
  /** One of the names is missing from the catalogue: the plan is no longer offered, or nothing was read yet. */
  | "unknown"

export interface PlanNames {
  /** The records of a slug; empty for a SKU. */
  readonly ofSlug: (slug: string) => ReadonlyArray<PlanName>
  /** The slugs of a SKU; empty for a slug. */
  readonly slugsOf: (sku: string) => ReadonlySet<string>
  readonly relation: (a: string, b: string) => Relation
}

export const planNames = (names: ReadonlyArray<PlanName>, plans: Iterable<string>): PlanNames => {
  const bySlug = Map.groupBy(names, ({ plan }) => plan)
  const offered = new Set(plans)
  const ofSlug = (slug: string) => bySlug.get(slug) ?? []
  const has = (name: string) => bySlug.has(name) || offered.has(name)
  return {
    ofSlug,
    slugsOf: (sku) => new Set(names.flatMap((name) => (name.sku === sku ? [name.plan] : []))),
    relation: (a, b) =>
      isSamePlan(a, b, ofSlug(a)) || isSamePlan(b, a, ofSlug(b)) ? "same" : has(a) && has(b) ? "other" : "unknown"
  }
}

export const noPlanNames: PlanNames = planNames([], [])

/** The pairs of names in an image list, each once. */
export const namesIn = (list: ReadonlyArray<Image>): ReadonlyArray<PlanName> =>
  withNames(
    [],
    list.flatMap(({ image, plan, sku }) => (sku === null || sku === plan ? [] : [{ plan, sku, image }]))
  )

/**
 * Adds the shown names to the known ones, because nodes keep the name of a plan that is no longer offered. Returns the same
 * list if nothing is new.
 */
export const withNames = (known: ReadonlyArray<PlanName>, shown: ReadonlyArray<PlanName>): ReadonlyArray<PlanName> => {
  const keyOf = ({ image, plan, sku }: PlanName) => JSON.stringify([plan, sku, image])
  const all = new Map([...known, ...shown].map((name) => [keyOf(name), name]))
  return all.size === known.length ? known : Array.from(all.values())
}
