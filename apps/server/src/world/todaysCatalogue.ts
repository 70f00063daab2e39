/**
 * The catalogue of a world that imitates the service of 2026. Each combination of SKU, system and location is a plan with its own slug.
 * Slugs have three styles. In one style, the slug contains the name of another SKU, so that tests fail for programs that cut the SKU out
 * of a slug.
 */
import { deriveBelow } from "../lifecycle/seed.ts"
import {
  type Catalogue,
  catalogueWith,
  type CommittedOption,
  makeCatalogue,
  type Offer,
  type Plan,
  type PublicImage
} from "./catalogue.ts"
import { type catalogueSizes, defaultPlace, locations, type Today } from "./Today.ts"

type Size = (typeof catalogueSizes)[number]

/** Labels of random numbers. The labels of `catalogue.ts` are below 10. */
const use = { price: 11, firstSkuId: 12, firstImageId: 13 } as const

interface Family {
  /** The beginning of the family's SKU names, such as `C3` in `C3.8GB`. */
  readonly prefix: string
  readonly series: string
  readonly name: string
  readonly memoryPerVcpu: number
  /** 0 if a create has to state the size of the disk. */
  readonly diskPerVcpu: number
  /** Whether plans have a monthly price. If not, the catalogue says 0.0. */
  readonly isMonthly: boolean
  readonly memories: { readonly [size in Size]: ReadonlyArray<number> }
}

const powers = [2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256]
const triples = [3, 6, 9, 12, 18, 24, 30, 36, 48, 60, 72, 96]

const family = (
  prefix: string,
  series: string,
  name: string,
  [memoryPerVcpu, diskPerVcpu]: readonly [number, number],
  memories: Family["memories"],
  isMonthly = true
): Family => ({ prefix, series, name, memoryPerVcpu, diskPerVcpu, isMonthly, memories })

const families: ReadonlyArray<Family> = [
  family("C3", "C3", "CPU Intensive 3rd Generation", [2, 25], { short: [4, 8, 16], whole: powers }),
  family("C2", "C2", "CPU Intensive 2nd Generation", [2, 25], { short: [], whole: powers }),
  family("M3", "M3", "High Memory 3rd Generation", [8, 50], { short: [16, 32], whole: powers }),
  family("M2", "M2", "High Memory 2nd Generation", [8, 50], { short: [], whole: powers }),
  family("E1LC", "E1", "Local Storage Compute", [3, 0], { short: [6, 12], whole: triples }),
  family("E1WC", "E1WC", "Compute without Storage", [3, 0], { short: [], whole: triples }),
  family("G3", "G3", "GPU Intensive 3rd Generation", [4, 60], { short: [32], whole: powers }, false)
]

interface System {
  readonly os: string
  readonly slug: string
  readonly versions: { readonly [size in Size]: ReadonlyArray<string> }
}

const systems: ReadonlyArray<System> = [
  { os: "Ubuntu", slug: "Ubuntu", versions: { short: ["24.04"], whole: ["24.04", "22.04", "20.04", "18.04"] } },
  { os: "Debian", slug: "Debian", versions: { short: ["12"], whole: ["12", "13", "11", "10"] } },
  { os: "Rocky", slug: "Rocky", versions: { short: ["9.4"], whole: ["9.4", "8.10", "9.5"] } },
  { os: "AlmaLinux", slug: "AlmaLinux", versions: { short: [], whole: ["9.4", "8.10", "9.5"] } },
  { os: "CentOS Stream", slug: "CentOS-Stream", versions: { short: [], whole: ["9", "10"] } },
  { os: "openSUSE", slug: "openSUSE", versions: { short: [], whole: ["15.6", "15.5"] } },
  { os: "Fedora", slug: "Fedora", versions: { short: [], whole: ["41", "42"] } },
  { os: "Windows", slug: "Windows-Server", versions: { short: [], whole: ["2025", "2022", "2019", "2016"] } }
]

/** A SKU: a size with its price, for all systems and locations. */
interface Sku {
  readonly family: Family
  readonly name: string
  readonly number: number
  readonly vcpus: number
  readonly memoryGb: number
  readonly diskGb: number
  readonly pricePerHourPaise: number
  readonly committed: ReadonlyArray<CommittedOption>
}

const discounts = [
  [90, 12],
  [365, 30]
] as const

const makeSkus = (seed: number, size: Size): ReadonlyArray<Sku> => {
  const percent = 85 + deriveBelow(31, seed, use.price)
  const firstSkuId = 4_000 + deriveBelow(900, seed, use.firstSkuId)
  return families
    .flatMap((family) => family.memories[size].map((memoryGb) => ({ family, memoryGb })))
    .map(({ family, memoryGb }, index): Sku => {
      const vcpus = Math.max(1, Math.round(memoryGb / family.memoryPerVcpu))
      const diskGb = vcpus * family.diskPerVcpu
      const plain = vcpus * 40 + memoryGb * 15 + diskGb
      const pricePerHourPaise = 10 * Math.max(1, Math.round((plain * percent) / 1_000))
      return {
        family,
        name: `${family.prefix}.${memoryGb}GB`,
        number: 2_000 + index,
        vcpus,
        memoryGb,
        diskGb,
        pricePerHourPaise,
        committed: discounts.map(([days, discount], option) => ({
          skuId: firstSkuId + index * discounts.length + option,
          name: `${days} Days Committed`,
          days,
          pricePaise: Math.round((pricePerHourPaise * 24 * days * (100 - discount)) / 100)
        }))
      }
    })
}

/** Builds a slug in one of the three observed styles. `other` is another SKU of the same family. */
const slugOf = (style: number, sku: Sku, other: Sku, { os, version }: PublicImage, location: string): string => {
  const size = `${sku.family.series}-${sku.vcpus}vCPU-${sku.memoryGb}RAM-${sku.diskGb}DISK`
  const system = os.replaceAll(" ", "-")
  if (style === 0) return `${size}-${sku.family.prefix}-Onetemplate-${system}${version}-${location}`
  return `${size}-${(style === 1 ? sku : other).name}-${system}-${version}-${location}`
}

/** Whether a SKU can be ordered: every eighth is sold out. */
const isAvailable = (index: number): boolean => index % 8 !== 4

const generate = (seed: number, size: Size): Catalogue => {
  const skus = makeSkus(seed, size)
  const firstId = 20_000 + deriveBelow(5_000, seed, use.firstImageId)
  const images = systems
    .flatMap(({ os, slug, versions }) =>
      versions[size].map((version) => ({ slug: `${slug}-${version}-Distro`, name: `${os} ${version}`, os, version }))
    )
    .map((image, index): PublicImage => ({ id: firstId + index, ...image }))
  const offers = locations.flatMap((location) =>
    images.flatMap((image, imageIndex) =>
      skus.map((sku, index): Offer => {
        const siblings = skus.filter(({ family }) => family === sku.family)
        const other = siblings[(siblings.indexOf(sku) + 1) % siblings.length]!
        const plan: Plan = {
          slug: slugOf((index + imageIndex) % 3, sku, other, image, location),
          series: sku.family.series,
          vcpus: sku.vcpus,
          memoryGb: sku.memoryGb,
          diskGb: sku.diskGb,
          pricePerHourPaise: sku.pricePerHourPaise,
          pricePerMonthPaise: sku.family.isMonthly ? sku.pricePerHourPaise * 730 : 0,
          minimumBillingPaise: 0,
          committed: sku.family.isMonthly ? sku.committed : [],
          today: {
            sku: sku.name,
            number: sku.number,
            location,
            family: sku.family.name,
            isAvailable: isAvailable(index)
          }
        }
        return { image, plan }
      })
    )
  )
  return catalogueWith(
    offers.map(({ plan }) => plan),
    images,
    offers
  )
}

/**
 * The plans and images of the documented interface, with which one program can be tested in both dialects. At the default
 * location a plan keeps its slug. Nodes show a SKU instead of the slug.
 */
const documented = (seed: number): Catalogue => {
  const { images, offers, plans } = makeCatalogue(seed)
  const planAt = (plan: Plan, index: number, location: (typeof locations)[number]): Plan => ({
    ...plan,
    slug: location === defaultPlace.location ? plan.slug : `${plan.slug}-${location}`,
    today: {
      sku: `${plan.slug[0]}.${plan.vcpus}vCPU.${plan.memoryGb}GB${plan.series === "1CLICK" ? ".1CLICK" : ""}`,
      number: 2_000 + index,
      location,
      family: plan.series,
      isAvailable: true
    }
  })
  const here = locations.map((location) => new Map(plans.map((plan, index) => [plan, planAt(plan, index, location)])))
  return catalogueWith(
    here.flatMap((plans) => Array.from(plans.values())),
    images,
    here.flatMap((plans) => offers.map(({ image, plan }): Offer => ({ image, plan: plans.get(plan)! })))
  )
}

/** Caches catalogues, because a catalogue never changes. */
const known = new Map<string, Catalogue>()
const maxKnown = 16

export const todaysCatalogue = (seed: number, which: Today["catalogue"]): Catalogue => {
  const key = `${seed} ${which}`
  const catalogue = known.get(key) ?? (which === "documented" ? documented(seed) : generate(seed, which))
  if (known.size >= maxKnown) known.clear()
  known.set(key, catalogue)
  return catalogue
}

const byLocation = new WeakMap<Catalogue, Map<string, ReadonlyArray<Offer>>>()

/** The offers at a location. All offers if the location is `undefined`, as it is in a world of the documented interface. */
export const offersAt = (catalogue: Catalogue, location: string | undefined): ReadonlyArray<Offer> => {
  if (location === undefined) return catalogue.offers
  const kept = byLocation.get(catalogue) ?? new Map<string, ReadonlyArray<Offer>>()
  byLocation.set(catalogue, kept)
  const offers = kept.get(location) ?? catalogue.offers.filter(({ plan }) => plan.today?.location === location)
  kept.set(location, offers)
  return offers
}
