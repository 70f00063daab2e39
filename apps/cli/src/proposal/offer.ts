/**
 * Finds the service's offer for an order: its price, or why the order cannot work. It uses the image list, which lists plans and committed
 * options (A19).
 */
import { Images } from "@berthkit/core/client/Images"
import { createRequest } from "@berthkit/core/client/NodeOperations"
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import type { Image } from "@berthkit/core/domain/Image"
import { sumIfKnown } from "@berthkit/core/domain/Money"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import {
  costOfOrder,
  imageFinder,
  maxPerHourOf,
  priceList,
  type PriceList,
  slugsOf,
  sumOfPrices,
  type Terms
} from "@berthkit/core/domain/Price"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Effect, Result } from "effect"
import { quoted } from "@berthkit/terminal/quoted"
import { type Catalogue, catalogueOf } from "../catalogue/ImageList.ts"
import { UsageFault } from "../failure/CliFailure.ts"
import { type Progress, reportLeftOut } from "../output/progress.ts"
import { rupees } from "../output/format.ts"
import { endOfCommitment } from "../records/commitment.ts"
import { imagesOnPlans } from "../records/image.ts"
import { currencyName, diskUnpriced, pricePerHourText } from "../records/price.ts"
import { checkMaxCost } from "./limits.ts"
import { byTheHour, type Proposal, propose } from "./Proposal.ts"

/** Parses an image's slug or id. */
export const imageOf = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text)

/** The account's saved images. */
const savedCatalogue = Images.use((service) =>
  catalogueOf((options) => Effect.map(service.saved(options), imagesOnPlans))
)

/** The prices of a list. */
export const pricesOf = ({ images, leftOut }: Catalogue): PriceList => priceList(images, leftOut)

/** The offer, as far as the service's lists state it. */
interface Offer extends Terms {
  readonly option: CommittedOption | undefined
}

const force = "--force sends it anyway."

const refuse = (message: string, hint: string) => Result.fail(new UsageFault({ message, hint: `${hint}; ${force}` }))

const near = (word: string, words: Iterable<string>): string => didYouMean(nearest(word, Array.from(new Set(words))))

/** Lists up to four words, for the end of a sentence. */
const some = (words: ReadonlyArray<string>): string =>
  words.length === 0 ? "none" : words.length > 4 ? `${words.slice(0, 4).join(", ")}, …` : words.join(", ")

/** Formats options as `SKU (days)`. */
const optionsText = (options: ReadonlyArray<CommittedOption>): string =>
  some(options.map(({ days, skuId }) => `${skuId} (${days} days)`))

/** The committed option with this id, or why `what` has none. */
const optionOf = (
  what: string,
  { committedOptions }: Pick<Terms, "committedOptions">,
  skuId: number
): Result.Result<CommittedOption, UsageFault> => {
  const [option, ...others] = committedOptions.filter((each) => each.skuId === skuId)
  const hint = "See berth plan list"
  if (option === undefined) {
    return refuse(`${what} has no committed option ${skuId}; it has ${optionsText(committedOptions)}.`, hint)
  }
  return others.length === 0
    ? Result.succeed(option)
    : refuse(`The service lists ${optionsText([option, ...others])} for one committed option.`, hint)
}

/** A committed option of a node, and the currency of its price if that is not rupees. */
export interface NodeOption extends CommittedOption {
  readonly foreignCurrency: string | null
}

/** The committed option with this id for an existing node, or why there is none. */
export const optionOfNode = (
  node: Pick<Node, "plan" | "image">,
  catalogue: Catalogue,
  skuId: number
): Result.Result<NodeOption, UsageFault> => {
  if (node.plan !== null && slugsOf(node.plan, catalogue.images).size > 0) {
    const terms = pricesOf(catalogue).ofNode(node)
    const foreignCurrency = terms.foreignPrice && currencyName(terms.foreignPrice)
    return Result.map(optionOf(`The plan ${node.plan}`, terms, skuId), (option) => ({ ...option, foreignCurrency }))
  }
  return refuse(
    `${node.plan === null ? "The node's plan is not known" : `The service does not list the plan ${node.plan}`}, so that the price of committed option ${skuId} is not known.`,
    "See berth plan list"
  )
}

/** Why the image does not fit the plan; undefined if it does, or if that is unknown. */
const imageFault = (
  { image, plan, savedImageTemplateId }: Pick<NodeSpec, "image" | "plan" | "savedImageTemplateId">,
  images: ReadonlyArray<Image>
) => {
  // Saved images are in a separate list.
  if (savedImageTemplateId !== undefined) return undefined
  const ofImage = imageFinder(images)(image)
  const isNamed = (each: Image) => each.plan === plan || each.sku === plan
  if (ofImage.some(isNamed)) return undefined
  if (ofImage.length > 0) {
    const offered = Array.from(new Set(images.flatMap((each) => (isNamed(each) ? [each.image] : []))))
    return refuse(
      `The plan ${plan} does not offer the image ${image}; it offers ${some(offered)}.`,
      `See berth image list --plan ${quoted(plan)}`
    )
  }
  // If the service lists no numeric ids, any number may be the id of an image.
  if (typeof image === "number" && images.every(({ os }) => !/^\d+$/.test(os.image ?? ""))) return undefined
  const words = images.map((each) => each.image)
  return refuse(
    typeof image === "number"
      ? `There is no image with the id ${image}.`
      : `There is no image ${image}${near(image, words)}`,
    "See berth image list"
  )
}

/** The fault if the plan is sold out with this image; undefined if it is not, or if that is unknown. */
const soldOutFault = (
  { image, plan, savedImageTemplateId }: Pick<NodeSpec, "image" | "plan" | "savedImageTemplateId">,
  images: ReadonlyArray<Image>
) => {
  // A saved image is in another list, and works with the plan of any image.
  const records = savedImageTemplateId === undefined ? imageFinder(images)(image) : images
  const own = records.filter((each) => each.plan === plan)
  return own.length > 0 && own.every(({ available }) => available === false)
    ? refuse(
        `The plan ${plan} is sold out, according to the image list.`,
        "See which are not: berth plan list --columns plan,available"
      )
    : undefined
}

/** The parts of an order that select a record of the image list. */
type Selection = Pick<Partial<NodeSpec>, "disk" | "image" | "savedImageTemplateId"> & { readonly plan: string }

/**
 * The slugs of the plans that have this SKU and offer the image. All slugs of the SKU if the order names no image, a
 * saved image or an unlisted id, because such an image may work with any of these plans.
 */
const slugsWith = (
  { image, plan: sku, savedImageTemplateId }: Selection,
  images: ReadonlyArray<Image>
): ReadonlyArray<string> => {
  const all = Array.from(slugsOf(sku, images))
  if (image === undefined) return all
  const withImage = Array.from(slugsOf(sku, imageFinder(images)(image)))
  if (withImage.length > 0) return withImage
  return imageFault({ image, plan: sku, savedImageTemplateId }, images) === undefined ? all : []
}

/**
 * If the order names its plan by SKU, replaces the SKU by the slug of the plan that offers the image. Fails if several plans offer it,
 * because their costs may differ.
 */
export const underSlug = <S extends Partial<NodeSpec>>(
  spec: S,
  images: ReadonlyArray<Image>
): Result.Result<S, UsageFault> => {
  const { image, plan, savedImageTemplateId } = spec
  if (plan === undefined || images.some((record) => record.plan === plan)) return Result.succeed(spec)
  const [slug, ...others] = slugsWith({ ...spec, plan }, images)
  if (slug === undefined) return Result.succeed(spec)
  if (others.length === 0) return Result.succeed({ ...spec, plan: slug })
  if (image === undefined) return Result.succeed(spec)
  const withImage = savedImageTemplateId === undefined ? `image ${image}` : `saved image ${savedImageTemplateId}`
  return refuse(
    `The SKU ${plan} is that of several plans with the ${withImage}: ${some([slug, ...others])}.`,
    `Name one of them: --plan ${quoted(slug)}`
  )
}

/** The hint of a plan that needs a disk. */
export const diskHint = "Name the size of the disk in GB: --disk, or disk in a fleet file"

/** The fault if neither the plan nor the order has a disk. */
const diskFault = ({ disk, plan }: Selection, images: ReadonlyArray<Image>) =>
  disk === undefined && images.some((each) => each.plan === plan && each.specs.diskGb === 0)
    ? refuse(`The plan ${plan} has no disk of its own, and the order names none.`, diskHint)
    : undefined

/** The fault if the plan is unknown, or if the order has to name a disk for it; undefined if the order can be made. */
export const planFault = (selection: Selection, images: ReadonlyArray<Image>) => {
  const { image, plan: name, savedImageTemplateId } = selection
  const plans = images.map(({ plan }) => plan)
  const names = [...plans, ...images.flatMap(({ sku }) => sku ?? [])]
  if (plans.includes(name)) return diskFault(selection, images)
  const slugs = slugsWith(selection, images)
  // The SKU does not fit the image, or the image is unknown.
  if (image !== undefined && slugs.length === 0 && slugsOf(name, images).size > 0) {
    return imageFault({ image, plan: name, savedImageTemplateId }, images)
  }
  return slugs.length > 0
    ? refuse(`${name} is a SKU and not a plan; its plans are ${some(slugs)}.`, "See berth plan list")
    : refuse(`There is no plan ${name}${near(name, names)}`, "See berth plan list")
}

/** Whether the record states no hourly price. If the record states a price that cannot be read, `extra` has it under its wire name. */
const statesNoPrice = ({ extra, specs }: Image): boolean =>
  specs.pricePerHourInr === null && !("price_per_hour" in extra)

/**
 * The price of a saved image. Several saved images may have the same name, so the template id selects the record. If
 * `image` names a different image, nobody knows which of the two the service uses, so the price is unknown. A record
 * that states no price has the price of the image from which it was made.
 */
const savedTerms = (
  { image, plan, savedImageTemplateId }: NodeSpec,
  catalogue: Catalogue,
  { images, leftOut }: Catalogue
): Terms => {
  const find = imageFinder(images)
  const named = new Set(find(image))
  const selected = find(savedImageTemplateId ?? image).filter((record) => record.plan === plan)
  const records = selected.every((record) => named.has(record)) ? selected : []
  const own = priceList(records, leftOut).ofNode({ plan, image: null })
  const [base, ...others] = new Set(records.map((record) => record.image))
  if (own.contradicted || base === undefined || others.length > 0 || !records.every(statesNoPrice)) return own
  const ofBase = pricesOf(catalogue).ofOrder({ plan, image: base })
  return own.committedOptions.length === 0 ? ofBase : { ...ofBase, committedOptions: own.committedOptions }
}

/** The prices of orders, including those of saved images, which have a separate list. */
export const pricesOfOrders = Effect.fnUntraced(function* (
  orders: ReadonlyArray<Pick<NodeSpec, "plan" | "image" | "savedImageTemplateId">>,
  catalogue: Catalogue
) {
  const prices = pricesOf(catalogue)
  const keyOf = ({ image, plan, savedImageTemplateId }: (typeof orders)[number]) =>
    JSON.stringify([plan, image, savedImageTemplateId])
  const saved = new Map<string, Terms>()
  for (const order of orders) {
    if (order.savedImageTemplateId === undefined || saved.has(keyOf(order))) continue
    saved.set(keyOf(order), yield* termsOf({ ...order, name: "" }, catalogue))
  }
  const ofOrder = (order: (typeof orders)[number]) => saved.get(keyOf(order)) ?? prices.ofOrder(order)
  return { ...prices, ofOrder } satisfies PriceList
})

/**
 * The terms of an order. If the list of saved images cannot be read, the price of a saved image is unknown, but the order does not fail.
 */
const termsOf = (spec: NodeSpec, catalogue: Catalogue) =>
  spec.savedImageTemplateId === undefined
    ? Effect.succeed(pricesOf(catalogue).ofOrder(spec))
    : Effect.map(
        Effect.orElseSucceed(savedCatalogue, (): Catalogue => ({ images: [], leftOut: [] })),
        (saved) => savedTerms(spec, catalogue, saved)
      )

/**
 * The offer for an order, or why it cannot work. With `force`, berth sends an order even if it may not work. Warns about records that the
 * lists leave out.
 */
export const offerFor = Effect.fnUntraced(function* (
  spec: NodeSpec,
  catalogue: Catalogue,
  { force }: { readonly force: boolean }
): Effect.fn.Return<Offer, UsageFault, Images | Progress> {
  const { images } = catalogue
  const terms = yield* termsOf(spec, catalogue)
  yield* reportLeftOut
  const fault = force ? undefined : (planFault(spec, images) ?? imageFault(spec, images) ?? soldOutFault(spec, images))
  if (fault !== undefined) return yield* Effect.fromResult(fault)
  if (spec.committedSkuId === undefined) return { ...terms, option: undefined }
  const option = optionOf(`The plan ${spec.plan} with the image ${spec.image}`, terms, spec.committedSkuId)
  return { ...terms, option: force ? Result.getOrUndefined(option) : yield* Effect.fromResult(option) }
})

/** The proposal for one create. */
export const createProposal = (spec: NodeSpec, offer: Offer): Proposal => {
  const { foreignPrice, isDiskUnpriced, option } = offer
  const ofDisk = isDiskUnpriced ? `; ${diskUnpriced}` : ""
  const { price, ...cost } = costOfOrder(offer, spec.committedSkuId === undefined ? undefined : { option })
  return propose(createRequest(spec), {
    action: "create",
    id: null,
    name: spec.name,
    ...price,
    ...cost,
    foreignCommittedPrice: option?.foreignPrice ?? null,
    foreignPrice:
      foreignPrice === null || spec.committedSkuId === undefined
        ? foreignPrice
        : { ...foreignPrice, perHour: null, perMonth: null },
    outcome:
      option === undefined
        ? byTheHour + ofDisk
        : `committed for ${option.days} days${option.until === "" ? "" : `, until ${option.until}`}; ${
            spec.commitmentSetting === undefined
              ? "after that billed by the hour"
              : endOfCommitment[spec.commitmentSetting]
          }, unless berth commitment set changes it${ofDisk}`
  })
}

/** Fails if creates of this order cost too much. */
export const checkCost = (
  proposals: ReadonlyArray<Proposal>,
  { plan }: NodeSpec,
  { contradicted, foreignPrice, isDiskUnpriced }: Offer,
  maxCost: number | undefined
) => {
  if (proposals.length === 0) return Effect.void
  const perHourInr = sumIfKnown(proposals.map((proposal) => maxPerHourOf(proposal, proposal.minimumBillingInr)))
  return checkMaxCost(perHourInr, maxCost, () => {
    const cost = sumOfPrices(proposals)
    const prices = `See its prices: berth plan get ${quoted(plan)}, or omit --max-cost: berth then asks you`
    const text = pricePerHourText(cost)
    const what = proposals.length === 1 ? "The node costs" : `The ${proposals.length} nodes cost`
    const { maxPricePerHourInr: atMost, minPricePerHourInr: atLeast } = cost
    const isByHour = atMost === null || perHourInr === null || atMost === perHourInr
    const isAbove = !isByHour || (atLeast !== null && maxCost !== undefined && atLeast > maxCost)
    const than = `${isAbove ? "more than" : "which may be more than"} --max-cost ${maxCost}.`
    const above = {
      message: isByHour
        ? `${what} ${text}, ${than}`
        : `${what} ${text}, and with the price per month or the minimum charge ₹${rupees(perHourInr)} per hour over 730 hours, ${than}`,
      hint: "Raise --max-cost, or choose a cheaper plan: berth plan list --sort price"
    }
    return {
      foreign:
        foreignPrice === null
          ? undefined
          : {
              message: `The price is in ${currencyName(foreignPrice)}, and --max-cost is in rupees: they cannot be compared.`,
              hint: prices
            },
      unknown: isDiskUnpriced
        ? { message: `${what} ${text ?? "an unknown price"}, ${than.slice(0, -1)}: ${diskUnpriced}.`, hint: prices }
        : text !== undefined
          ? above
          : contradicted
            ? {
                message:
                  "The price is not known, so it may be above --max-cost: an unreadable record of the image list may belong to this plan and image.",
                hint: "See it: berth api /images/, or omit --max-cost: berth then asks you"
              }
            : { message: "The price is not known, so it may be above --max-cost.", hint: prices },
      above
    }
  })
}
