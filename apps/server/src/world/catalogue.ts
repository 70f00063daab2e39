/**
 * The catalogue of a world: its plans and public images, generated from the seed (assumption A19 in
 * docs/interface/assumptions.md). The sizes and the operating systems are the same in every world; versions, extra plans,
 * prices and ids depend on the seed. The catalogue also decides which image runs on which plan. Money is in paise (1/100
 * rupee), so that no price is rounded twice.
 */
import { derive, deriveBelow } from "../lifecycle/seed.ts"
import type { SavedImageToday } from "./Today.ts"

/** A period for which a plan can be committed, and its price. */
export interface CommittedOption {
  readonly skuId: number
  readonly name: string
  readonly days: number
  readonly pricePaise: number
}

/** A size of node with its prices. */
export interface Plan {
  readonly slug: string
  readonly series: string
  readonly vcpus: number
  readonly memoryGb: number
  readonly diskGb: number
  readonly pricePerHourPaise: number
  /** The price of 730 hours. */
  readonly pricePerMonthPaise: number
  /** The price of one day. */
  readonly minimumBillingPaise: number
  readonly committed: ReadonlyArray<CommittedOption>
  /** Only in a world that imitates the service of 2026, where a slug belongs to one system and one location. */
  readonly today?: PlanToday
}

/** The additional data of a plan in such a world. */
interface PlanToday {
  /** The name that nodes show as their plan, such as `C3.8GB`. */
  readonly sku: string
  readonly number: number
  readonly location: string
  readonly family: string
  /** Whether it can be ordered now. */
  readonly isAvailable: boolean
}

/** An operating system that the service offers. */
export interface PublicImage {
  readonly id: number
  /** The value of `image` in a create, if that is a string. */
  readonly slug: string
  readonly name: string
  readonly os: string
  readonly version: string | null
}

/** A private image of the account. It runs on the plan with which it was saved. */
export interface SavedImage {
  /** The value of `image` in a create, if that is an integer, and of `os.image` in the list. */
  readonly id: number
  /** The value of `image` in a create, if that is a string. */
  readonly slug: string
  readonly name: string
  /** The value of `saved_image_template_id` in a create. The image list shows only one id, so it equals `id`. */
  readonly templateId: number
  readonly base: PublicImage
  readonly plan: Plan
  /** Only in a world that imitates the service of 2026. */
  readonly today?: SavedImageToday
}

/** A public image on a plan that runs it: one row of the image list. */
export interface Offer {
  readonly image: PublicImage
  readonly plan: Plan
}

/** All plans and public images of a world, with lookups. */
export interface Catalogue {
  readonly plans: ReadonlyArray<Plan>
  readonly images: ReadonlyArray<PublicImage>
  /** In the order of the image list: by image, then by plan. */
  readonly offers: ReadonlyArray<Offer>
  readonly planBySlug: ReadonlyMap<string, Plan>
  readonly imageBySlug: ReadonlyMap<string, PublicImage>
  readonly imageById: ReadonlyMap<number, PublicImage>
}

/** Labels of random numbers. Each use has its own, so that a change of one use does not affect another. */
const use = { price: 1, extraPlan: 2, version: 3, firstImageId: 4, firstSkuId: 5 } as const

interface Size {
  readonly vcpus: number
  readonly memoryGb: number
  readonly diskGb: number
}

interface Series {
  readonly letter: string
  readonly name: string
  readonly suffix: string
  readonly sizes: ReadonlyArray<Size>
  /** The seed picks one of these as an additional size. */
  readonly extras: ReadonlyArray<Size>
  readonly discountPercentByDays: ReadonlyArray<readonly [days: number, percent: number]>
}

const size = (vcpus: number, memoryGb: number, diskGb: number): Size => ({ vcpus, memoryGb, diskGb })

const discounts = [
  [30, 5],
  [90, 12],
  [365, 30]
] as const

const seriesList: ReadonlyArray<Series> = [
  {
    letter: "A",
    name: "A",
    suffix: "",
    sizes: [size(1, 2, 20), size(2, 4, 40), size(4, 8, 80)],
    extras: [size(1, 1, 15), size(8, 16, 160)],
    discountPercentByDays: []
  },
  {
    letter: "B",
    name: "B",
    suffix: "",
    sizes: [size(2, 6, 75), size(4, 12, 150), size(8, 24, 300)],
    extras: [size(12, 36, 450), size(16, 48, 600)],
    discountPercentByDays: discounts
  },
  {
    letter: "C",
    name: "C",
    suffix: "",
    sizes: [size(2, 8, 50), size(4, 16, 100), size(8, 32, 200), size(16, 64, 400)],
    extras: [size(12, 48, 300), size(24, 96, 600)],
    discountPercentByDays: discounts
  },
  {
    // The slug of a plan begins with a series letter (interface.md §2.2), but the series is called 1CLICK (§2.6).
    letter: "C",
    name: "1CLICK",
    suffix: "-1CLICK",
    sizes: [size(2, 4, 50), size(4, 8, 100)],
    extras: [size(8, 16, 200), size(8, 32, 200)],
    discountPercentByDays: discounts.slice(0, 2)
  }
]

/** The first version is in every world; the seed picks one of the others. */
const systems = [
  { os: "Ubuntu", slug: "Ubuntu", versions: ["24.04", "22.04", "20.04"], minimumMemoryGb: 0 },
  { os: "Debian", slug: "Debian", versions: ["12", "11", "13"], minimumMemoryGb: 0 },
  { os: "Rocky Linux", slug: "Rocky", versions: ["9.4", "8.10", "9.5"], minimumMemoryGb: 0 },
  { os: "AlmaLinux", slug: "AlmaLinux", versions: ["9.4", "8.10", "9.5"], minimumMemoryGb: 0 },
  { os: "CentOS Stream", slug: "CentOS-Stream", versions: ["9", "10"], minimumMemoryGb: 2 },
  { os: "openSUSE Leap", slug: "openSUSE", versions: ["15.6", "15.5"], minimumMemoryGb: 2 },
  { os: "Fedora", slug: "Fedora", versions: ["41", "40", "42"], minimumMemoryGb: 2 },
  { os: "Windows Server", slug: "Windows-Server", versions: ["2022", "2019"], minimumMemoryGb: 8 }
]

/**
 * Ready-made applications, which run only on plans of the series 1CLICK. Their system has no version (interface.md §2.6).
 */
const applications: ReadonlyArray<{ readonly name: string; readonly slug: string }> = [
  { name: "WordPress", slug: "WordPress-1CLICK" },
  { name: "GitLab", slug: "GitLab-1CLICK" }
]

const hourlyPaise = (plan: Size): number => plan.vcpus * 110 + plan.memoryGb * 45 + plan.diskGb * 2

const makePlans = (seed: number): ReadonlyArray<Plan> => {
  const percent = 85 + deriveBelow(31, seed, use.price)
  let nextSkuId = 100 + deriveBelow(900, seed, use.firstSkuId)
  return seriesList.flatMap((series, index) => {
    const extra = series.extras[deriveBelow(series.extras.length, seed, use.extraPlan, index)]!
    const sizes = [...series.sizes, extra].sort((a, b) => a.vcpus - b.vcpus || a.memoryGb - b.memoryGb)
    return sizes.map((plan): Plan => {
      const pricePerHourPaise = Math.round((hourlyPaise(plan) * percent) / 100)
      return {
        slug: `${series.letter}-${plan.vcpus}VCPU-${plan.memoryGb}RAM-${plan.diskGb}DISK${series.suffix}`,
        series: series.name,
        ...plan,
        pricePerHourPaise,
        pricePerMonthPaise: pricePerHourPaise * 730,
        minimumBillingPaise: pricePerHourPaise * 24,
        committed: series.discountPercentByDays.map(([days, discount]) => ({
          skuId: nextSkuId++,
          name: `${days} Days Committed`,
          days,
          pricePaise: Math.round((pricePerHourPaise * 24 * days * (100 - discount)) / 100)
        }))
      }
    })
  })
}

const isApplication = (image: PublicImage): boolean => image.slug.endsWith("-1CLICK")

/** Caches catalogues by seed, because most worlds use one of a few seeds, and a catalogue never changes. */
const known = new Map<number, Catalogue>()
const maxKnown = 64

/** The catalogue of a seed: the same seed gives the same catalogue. */
export const makeCatalogue = (seed: number): Catalogue => {
  const catalogue = known.get(seed) ?? generate(seed)
  if (known.size >= maxKnown) known.clear()
  known.set(seed, catalogue)
  return catalogue
}

const generate = (seed: number): Catalogue => {
  const plans = makePlans(seed)
  const minimumMemoryGb = new Map(systems.map((system) => [system.os, system.minimumMemoryGb]))
  const firstId = 1000 + deriveBelow(9000, seed, use.firstImageId)
  const images = [
    ...systems.flatMap((system, index) => {
      const [first, ...others] = system.versions
      const other = others[derive(seed, use.version, index) % others.length]!
      return [first!, other].map((version) => ({
        slug: `${system.slug}-${version}`,
        name: `${system.os} ${version}`,
        os: system.os,
        version: version as string | null
      }))
    }),
    ...applications.map(({ name, slug }) => ({ slug, name, os: name, version: null }))
  ].map((image, index): PublicImage => ({ id: firstId + index, ...image }))
  const offers = images.flatMap((image) =>
    plans
      .filter(
        (plan) =>
          (plan.series === "1CLICK") === isApplication(image) && plan.memoryGb >= (minimumMemoryGb.get(image.os) ?? 0)
      )
      .map((plan): Offer => ({ image, plan }))
  )
  return catalogueWith(plans, images, offers)
}

export const catalogueWith = (
  plans: ReadonlyArray<Plan>,
  images: ReadonlyArray<PublicImage>,
  offers: ReadonlyArray<Offer>
): Catalogue => ({
  plans,
  images,
  offers,
  planBySlug: new Map(plans.map((plan) => [plan.slug, plan])),
  imageBySlug: new Map(images.map((image) => [image.slug, image])),
  imageById: new Map(images.map((image) => [image.id, image]))
})

/** The committed option with this id, if the plan has it. */
export const committedOption = (plan: Plan, skuId: number): CommittedOption | undefined =>
  plan.committed.find((option) => option.skuId === skuId)
