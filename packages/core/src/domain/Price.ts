/**
 * Determines the cost of a node from the image list. Each record of that list is an image on a plan, and has its own price: the same plan
 * may cost more with another image. All code that shows, adds or limits money uses a `PriceList`.
 *
 * A price that no record states is unknown. If several records state different prices, only the lowest and highest are known. No code may
 * simply use the first record that it finds.
 */
import { Schema } from "effect"
import type { CommittedOption } from "./Commitment.ts"
import type { ForeignPrice, Image, LeftOutImage } from "./Image.ts"
import { shareInr, sumIfKnown, sumInr, timesInr } from "./Money.ts"
import type { Node } from "./Node.ts"
import type { NodeSpec } from "./NodeSpec.ts"

const amount = (description: string) => Schema.NullOr(Schema.Number).annotate({ description })

// The schemas are made by calls that are marked as pure, so a bundler can drop them: the promise client uses no schemas.
/** A price, or a sum of prices, in rupees. It is known if the lowest and the highest are the same. */
export const Price = /*#__PURE__*/ (() =>
  Schema.Struct({
    pricePerHourInr: amount("Rupees per hour; null if that is not known."),
    pricePerMonthInr: amount("Rupees per month; null if that is not known."),
    minPricePerHourInr: amount(
      "Lower bound in rupees per hour; null if no price is known. In a sum, an unknown price counts as nothing."
    ),
    maxPricePerHourInr: amount("Upper bound in rupees per hour; null if it is not known."),
    minPricePerMonthInr: amount(
      "Lower bound in rupees per month; null if no price is known. In a sum, an unknown price counts as nothing."
    ),
    maxPricePerMonthInr: amount("Upper bound in rupees per month; null if it is not known.")
  }).annotate({ identifier: "Price" }))()
export interface Price extends Schema.Schema.Type<typeof Price> {}

/** A known price. */
export const exactPrice = (pricePerHourInr: number | null, pricePerMonthInr: number | null): Price => ({
  pricePerHourInr,
  pricePerMonthInr,
  minPricePerHourInr: pricePerHourInr,
  maxPricePerHourInr: pricePerHourInr,
  minPricePerMonthInr: pricePerMonthInr,
  maxPricePerMonthInr: pricePerMonthInr
})

/** An unknown price. */
export const unknownPrice: Price = /*#__PURE__*/ exactPrice(null, null)

/** A string that is the same for equal prices. */
export const priceKey = (price: Price): string =>
  `${price.minPricePerHourInr} ${price.maxPricePerHourInr} ${price.minPricePerMonthInr} ${price.maxPricePerMonthInr}`

/** The lowest and highest of several amounts. Undefined if an amount is unknown, because it may be lower or higher than the others. */
const boundsOf = (amounts: ReadonlyArray<number | null>): readonly [number, number] | undefined => {
  let min = Number.POSITIVE_INFINITY
  let max = Number.NEGATIVE_INFINITY
  for (const amount of amounts) {
    if (amount === null) return undefined
    if (amount < min) min = amount
    if (amount > max) max = amount
  }
  return min > max ? undefined : [min, max]
}

/** The amount, if all are known and equal; otherwise null. */
const agreed = (amounts: ReadonlyArray<number | null>): number | null => {
  const bounds = boundsOf(amounts)
  return bounds !== undefined && bounds[0] === bounds[1] ? bounds[0] : null
}

/** The price of something that costs one of these prices, if it is unknown which. */
export const oneOfPrices = (prices: ReadonlyArray<Price>): Price => {
  if (prices.length === 1) return prices[0]!
  const [minPerHour] = boundsOf(prices.map(({ minPricePerHourInr }) => minPricePerHourInr)) ?? [null]
  const [, maxPerHour] = boundsOf(prices.map(({ maxPricePerHourInr }) => maxPricePerHourInr)) ?? [null, null]
  const [minPerMonth] = boundsOf(prices.map(({ minPricePerMonthInr }) => minPricePerMonthInr)) ?? [null]
  const [, maxPerMonth] = boundsOf(prices.map(({ maxPricePerMonthInr }) => maxPricePerMonthInr)) ?? [null, null]
  return {
    pricePerHourInr: minPerHour === maxPerHour ? minPerHour : null,
    pricePerMonthInr: minPerMonth === maxPerMonth ? minPerMonth : null,
    minPricePerHourInr: minPerHour,
    maxPricePerHourInr: maxPerHour,
    minPricePerMonthInr: minPerMonth,
    maxPricePerMonthInr: maxPerMonth
  }
}

const sumOfKnown = (amounts: ReadonlyArray<number | null>): number | null => {
  const known = amounts.filter((amount) => amount !== null)
  return known.length === 0 && amounts.length > 0 ? null : sumInr(known)
}

/** The total of several prices. One unknown price makes the total unknown; the `min…` fields then have the sum of the known prices. */
export const sumOfPrices = (prices: ReadonlyArray<Price>): Price => ({
  pricePerHourInr: sumIfKnown(prices.map(({ pricePerHourInr }) => pricePerHourInr)),
  pricePerMonthInr: sumIfKnown(prices.map(({ pricePerMonthInr }) => pricePerMonthInr)),
  minPricePerHourInr: sumOfKnown(prices.map(({ minPricePerHourInr }) => minPricePerHourInr)),
  maxPricePerHourInr: sumIfKnown(prices.map(({ maxPricePerHourInr }) => maxPricePerHourInr)),
  minPricePerMonthInr: sumOfKnown(prices.map(({ minPricePerMonthInr }) => minPricePerMonthInr)),
  maxPricePerMonthInr: sumIfKnown(prices.map(({ maxPricePerMonthInr }) => maxPricePerMonthInr))
})

/**
 * The number of days, to a tenth, after which hourly billing has cost as much as the committed period; null if a price is unknown or
 * nothing is billed by the hour.
 */
export const breakEvenDays = (committedInr: number | null, pricePerHourInr: number | null): number | null =>
  committedInr === null || pricePerHourInr === null || pricePerHourInr === 0
    ? null
    : Math.round((committedInr / (pricePerHourInr * 24)) * 10) / 10

/** The cost of a node: its hourly price, and the periods that can be committed. */
export interface Terms {
  readonly price: Price
  /** The minimum charge in rupees; null if unknown. */
  readonly minimumBillingInr: number | null
  /** The price in another currency, if all records state the same; the prices in rupees are unknown then. */
  readonly foreignPrice: ForeignPrice | null
  /** Whether the plan has no disk of its own. A disk costs extra, and no record states how much, so the price is a lower bound. */
  readonly isDiskUnpriced: boolean
  /** One per SKU and length. The price is null if the records state different prices. */
  readonly committedOptions: ReadonlyArray<CommittedOption>
  /** Whether an unreadable record may state other terms; no price is known then. */
  readonly contradicted: boolean
}

/** The price in another currency, if all have the same; null if one differs or is in rupees. */
export const sameForeignPrice = <A extends object>([first = null, ...others]: ReadonlyArray<A | null>): A | null =>
  others.every((other) => JSON.stringify(other) === JSON.stringify(first)) ? first : null

const optionsOf = (options: ReadonlyArray<CommittedOption>): ReadonlyArray<CommittedOption> =>
  Array.from(Map.groupBy(options, ({ days, skuId }) => `${skuId} ${days}`).values(), (same) => ({
    ...same[0]!,
    priceInr: agreed(same.map(({ priceInr }) => priceInr)),
    foreignPrice: sameForeignPrice(same.map(({ foreignPrice }) => foreignPrice))
  }))

const termsOf = (records: ReadonlyArray<Image>): Terms => {
  const specs = records.map((record) => record.specs)
  return {
    price: oneOfPrices(specs.map((each) => exactPrice(each.pricePerHourInr, each.pricePerMonthInr))),
    minimumBillingInr: agreed(specs.map(({ minimumBillingInr }) => minimumBillingInr)),
    foreignPrice: sameForeignPrice(specs.map(({ foreignPrice }) => foreignPrice)),
    isDiskUnpriced: specs.some(({ diskGb }) => diskGb === 0),
    committedOptions: optionsOf(specs.flatMap((each) => each.committedOptions)),
    contradicted: false
  }
}

/** The sum of this price and an unknown one. */
const atLeast = ({ minPricePerHourInr, minPricePerMonthInr }: Price): Price => ({
  ...unknownPrice,
  minPricePerHourInr,
  minPricePerMonthInr
})

/** The price of a node whose plan has this price: only a lower bound if the disk costs extra. */
export const withDisk = (price: Price, { isDiskUnpriced }: Pick<Terms, "isDiskUnpriced">): Price =>
  isDiskUnpriced ? atLeast(price) : price

const ofNodes = (terms: Terms): Terms => ({ ...terms, price: withDisk(terms.price, terms) })

const contradictedTerms = ({ committedOptions, isDiskUnpriced }: Terms): Terms => ({
  price: unknownPrice,
  isDiskUnpriced,
  minimumBillingInr: null,
  foreignPrice: null,
  committedOptions: committedOptions.map((option) => ({ ...option, priceInr: null, foreignPrice: null })),
  contradicted: true
})

/** Finds the records of an image named by a create or a node: a number is an id; a string is a slug, otherwise an id, otherwise a name. */
export const imageFinder = <I extends Pick<Image, "image" | "name" | "os">>(
  images: ReadonlyArray<I>
): ((image: string | number) => ReadonlyArray<I>) => {
  const bySlug = Map.groupBy(images, ({ image }) => image)
  const byId = Map.groupBy(images, ({ os }) => os.image)
  const byName = Map.groupBy(images, ({ name }) => name)
  return (image) => {
    const id = byId.get(String(image))
    return (typeof image === "number" ? id : (bySlug.get(image) ?? id ?? byName.get(image))) ?? []
  }
}

/**
 * Whether a node shows the ordered plan, by the same text or by the SKU that the image list has for the slug. The text
 * of a slug proves no SKU, because some slugs contain another SKU's name.
 */
export const isSamePlan = (asked: string, shown: string, images: ReadonlyArray<Pick<Image, "plan" | "sku">>): boolean =>
  asked === shown || images.some(({ plan, sku }) => plan === asked && sku === shown)

/**
 * The slugs in the image list for the plan that a node shows: the string itself, or the plans with this SKU. A string that is a slug is
 * never read as a SKU.
 */
export const slugsOf = (shown: string, images: ReadonlyArray<Pick<Image, "plan" | "sku">>): ReadonlySet<string> =>
  new Set(
    images.some(({ plan }) => plan === shown)
      ? [shown]
      : images.flatMap((record) => (isSamePlan(record.plan, shown, [record]) ? record.plan : []))
  )

/** The parts of an order that determine its cost. The region is always the same. */
export type Order = Pick<NodeSpec, "plan" | "image">

/** The prices of one image list. */
export interface PriceList {
  /** The price for a create, from its plan and image together. Unknown if the list has no record of both. */
  readonly ofOrder: (order: Order) => Terms
  /**
   * The price of an existing node. If its image is unknown or no longer listed, the price is known only if the plan costs the same with all
   * images. A node may show the SKU of its plan instead of the slug.
   */
  readonly ofNode: (node: Pick<Node, "plan" | "image">) => Terms
  /** The listed price of a plan, or of an image on it. A disk that costs extra is not included, because its price is not listed. */
  readonly ofPlan: (listed: Pick<Node, "plan" | "image">) => Terms
}

/**
 * The prices of an image list. Different records of the same plan and image, for example by series or zone, are alternatives. A record that
 * was left out as unreadable is an alternative, too: its unknown fields, even its price, may have any value.
 */
export const priceList = (images: ReadonlyArray<Image>, leftOut: ReadonlyArray<LeftOutImage> = []): PriceList => {
  const plans = Map.groupBy(images, ({ plan }) => plan)
  const slugs = new Map<string, ReadonlySet<string>>()
  /** The slugs of the plan that a node shows. */
  const slugsFor = (plan: string): ReadonlySet<string> => {
    const found = slugs.get(plan) ?? slugsOf(plan, images)
    slugs.set(plan, found)
    return found
  }
  const recordsOf = (plan: string | null) =>
    plan === null ? [] : Array.from(slugsFor(plan)).flatMap((slug) => plans.get(slug) ?? [])
  const ofImage = imageFinder(images)
  const known = new Map<string, Terms>()
  const termsBy = (key: string, read: () => Terms): Terms => {
    const terms = known.get(key) ?? read()
    known.set(key, terms)
    return terms
  }
  /** The terms of a plan's records: of all records, or of those with one of these images. */
  const termsFor = (plan: string | null, records: ReadonlyArray<Image>, names?: ReadonlySet<string>): Terms => {
    const slugs = new Set([plan, ...records.map((record) => record.plan)])
    const mayBe = (record: LeftOutImage) =>
      (record.plan === null || slugs.has(record.plan)) &&
      (names === undefined || (record.names?.some((name) => names.has(name)) ?? true))
    const terms = termsOf(records)
    return leftOut.some(mayBe) ? contradictedTerms(terms) : terms
  }
  const offered = ({ image, plan }: Order) => ofImage(image).filter((record) => record.plan === plan)
  const shown = ({ image, plan }: Order) => ofImage(image).filter((record) => slugsFor(plan).has(record.plan))
  const termsWith = (kind: string, { image, plan }: Order, records: ReadonlyArray<Image>) =>
    termsBy(JSON.stringify([kind, plan, image]), () =>
      termsFor(plan, records, new Set([String(image), ...records.map((record) => record.image)]))
    )
  const ofAnyImage = (plan: string | null) => termsBy(JSON.stringify([plan]), () => termsFor(plan, recordsOf(plan)))
  const ofPlan: PriceList["ofPlan"] = ({ image, plan }) => {
    if (image === null || plan === null) return ofAnyImage(plan)
    const records = shown({ image, plan })
    return records.length === 0 ? ofAnyImage(plan) : termsWith("node", { image, plan }, records)
  }
  return {
    ofOrder: (order) => ofNodes(termsWith("order", order, offered(order))),
    ofNode: (node) => ofNodes(ofPlan(node)),
    ofPlan
  }
}

/**
 * What an order costs. Every command that creates a node shows, adds up and limits these amounts.
 *
 * @internal
 */
export interface OrderCost {
  /** For a committed period, its price divided by its hours. */
  readonly price: Price
  /** Null if it is unknown. Also null for a committed period, because that is billed as a whole. */
  readonly minimumBillingInr: number | null
  /** The price of the whole period; null if there is no period, or if its price is unknown. */
  readonly committedPriceInr: number | null
}

const hoursPerDay = 24
/**
 * Hours of a month, to convert between prices per month and per hour.
 *
 * @internal
 */
export const hoursPerMonth = 730
const hoursOfLongestMonth = 744

/**
 * The most that a node costs per hour in rupees, for every way of billing; null if its hourly price is unknown. A
 * monthly price or a minimum charge above the price of the longest month by the hour counts too, divided by 730 hours.
 *
 * @internal
 */
export const maxPerHourOf = (
  { maxPricePerHourInr, maxPricePerMonthInr }: Pick<Price, "maxPricePerHourInr" | "maxPricePerMonthInr">,
  minimumBillingInr: number | null = null
): number | null => {
  if (maxPricePerHourInr === null) return null
  const accounted = timesInr(maxPricePerHourInr, hoursOfLongestMonth)
  const others = [maxPricePerMonthInr, minimumBillingInr].flatMap((amount) =>
    amount === null || amount <= accounted ? [] : [shareInr(amount, hoursPerMonth)]
  )
  return Math.max(maxPricePerHourInr, ...others)
}

/**
 * The hourly price of a committed period of this many days, in rupees.
 *
 * @internal
 */
export const committedPerHour = (committedInr: number, days: number): number =>
  shareInr(committedInr, days * hoursPerDay)

/**
 * The cost of a node: by the hour, or for the committed period that `commitment` names. The price of a period may be unlisted.
 *
 * @internal
 */
export const costOfOrder = (
  { isDiskUnpriced, minimumBillingInr, price }: Pick<Terms, "isDiskUnpriced" | "minimumBillingInr" | "price">,
  commitment?: { readonly option: CommittedOption | undefined }
): OrderCost => {
  if (commitment === undefined) return { price, minimumBillingInr, committedPriceInr: null }
  const { option } = commitment
  const committedPriceInr = option?.priceInr ?? null
  return {
    // A committed option that is unlisted, or listed at several prices, has no known price.
    price:
      option === undefined || committedPriceInr === null
        ? unknownPrice
        : withDisk(exactPrice(committedPerHour(committedPriceInr, option.days), null), { isDiskUnpriced }),
    minimumBillingInr: null,
    committedPriceInr
  }
}
