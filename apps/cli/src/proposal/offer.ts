/**
 * What the service offers for an order: its price, or why the order cannot work. From the image list, which is where plans and
 * committed options are listed (A19).
 */
import type { CommittedOption } from "@berthkit/core/domain/Commitment"
import { Images, type ImageListOptions } from "@berthkit/core/client/Images"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Image, LeftOutImage } from "@berthkit/core/domain/Image"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { imageFinder, type PriceList, priceList, type Terms } from "@berthkit/core/domain/Price"
import { didYouMean, nearest } from "@berthkit/terminal/usage"
import { Effect, Result } from "effect"
import { quoted } from "../commandLine/quoted.ts"
import { UsageFault } from "../failure/CliFailure.ts"

/** An image by its slug, or by its id. */
export const imageOf = (text: string): string | number => (/^\d+$/.test(text) ? Number(text) : text)

/** A list of images, and what it leaves out because it cannot be read. */
export interface Catalogue {
  readonly images: ReadonlyArray<Image>
  readonly leftOut: ReadonlyArray<LeftOutImage>
}

const catalogueOf = (list: (options: ImageListOptions) => Effect.Effect<ReadonlyArray<Image>, BerthError>) =>
  Effect.suspend(() => {
    let leftOut: Catalogue["leftOut"] = []
    const onEnd: ImageListOptions["onEnd"] = (listed) => Effect.sync(() => void (leftOut = listed.leftOut))
    return Effect.map(list({ onEnd }), (images): Catalogue => ({ images, leftOut }))
  })

/** The images of the service. */
export const publicCatalogue = (options?: Pick<ImageListOptions, "retry">) =>
  Images.use((service) => catalogueOf((own) => service.list({}, { ...options, ...own })))

/** The account's saved images. */
export const savedCatalogue = Images.use((service) => catalogueOf(service.saved))

/** The prices of a list. */
export const pricesOf = ({ images, leftOut }: Catalogue): PriceList => priceList(images, leftOut)

/** What is listed: the images of the service, and the account's saved ones where the order is for one of them. */
export interface Listed extends Catalogue {
  readonly saved: Catalogue
}

/** What is offered, as far as it is listed. */
export interface Offer extends Omit<Terms, "committedOptions"> {
  readonly option: CommittedOption | undefined
}

const force = "--force sends it anyway."

const refuse = (message: string, hint: string) => Result.fail(new UsageFault({ message, hint: `${hint}; ${force}` }))

const near = (word: string, words: Iterable<string>): string => didYouMean(nearest(word, Array.from(new Set(words))))

/** Some of them, for the end of a sentence. */
const some = (words: ReadonlyArray<string>): string =>
  words.length === 0 ? "none" : words.length > 4 ? `${words.slice(0, 4).join(", ")}, …` : words.join(", ")

/** Options as `SKU (days)`. */
const optionsText = (options: ReadonlyArray<CommittedOption>): string =>
  some(options.map(({ days, skuId }) => `${skuId} (${days} days)`))

/** The committed option of that id, or why `what` has none. */
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

/** The committed option of that id for an existing node, or why there is none. */
export const optionOfNode = (
  node: Pick<Node, "plan" | "image">,
  catalogue: Catalogue,
  skuId: number
): Result.Result<CommittedOption, UsageFault> =>
  catalogue.images.some(({ plan }) => plan === node.plan)
    ? optionOf(`The plan ${node.plan}`, pricesOf(catalogue).ofNode(node), skuId)
    : refuse(
        `${node.plan === null ? "The node's plan is not known" : `The service does not list the plan ${node.plan}`}, so that the price of committed option ${skuId} is not known.`,
        "See berth plan list"
      )

/** Why the image does not go with the plan; undefined when it does, or when that is not known. */
const imageFault = ({ image, plan, savedImageTemplateId }: NodeSpec, images: ReadonlyArray<Image>) => {
  // Saved images are on a list of their own.
  if (savedImageTemplateId !== undefined) return undefined
  const ofImage = imageFinder(images)(image)
  if (ofImage.some((each) => each.plan === plan)) return undefined
  if (ofImage.length > 0) {
    const offered = images.flatMap((each) => (each.plan === plan ? [each.image] : []))
    return refuse(
      `The plan ${plan} does not offer the image ${image}; it offers ${some(offered)}.`,
      `See berth image list --plan ${quoted(plan)}`
    )
  }
  // A service that lists no integer ids leaves open which there are.
  if (typeof image === "number" && images.every(({ os }) => !/^\d+$/.test(os.image ?? ""))) return undefined
  const words = images.map((each) => each.image)
  return refuse(
    typeof image === "number"
      ? `There is no image with the id ${image}.`
      : `There is no image ${image}${near(image, words)}`,
    "See berth image list"
  )
}

/** That there is no such plan; undefined where there is. */
export const planFault = (name: string, images: ReadonlyArray<Image>) => {
  const plans = images.map(({ plan }) => plan)
  return plans.includes(name)
    ? undefined
    : refuse(`There is no plan ${name}${near(name, plans)}`, "See berth plan list")
}

/** Whether the record says nothing of a price per hour. One that cannot be read is kept under its wire name. */
const statesNoPrice = ({ extra, specs }: Image): boolean =>
  specs.pricePerHourInr === null && !("price_per_hour" in extra)

/**
 * The price of a saved image is that of its own record on the plan, which the template id selects: several saved images may have one
 * name. Where `image` names something else it is not known which of the two the service takes. A record that states no price has that
 * of the image which it was made from.
 */
const savedTerms = ({ image, plan, savedImageTemplateId }: NodeSpec, listed: Listed): Terms => {
  const { images, leftOut } = listed.saved
  const find = imageFinder(images)
  const named = new Set(find(image))
  const selected = find(savedImageTemplateId ?? image).filter((record) => record.plan === plan)
  const records = selected.every((record) => named.has(record)) ? selected : []
  const own = priceList(records, leftOut).ofNode({ plan, image: null })
  const [base, ...others] = new Set(records.map((record) => record.image))
  if (own.contradicted || base === undefined || others.length > 0 || !records.every(statesNoPrice)) return own
  const ofBase = pricesOf(listed).ofOrder({ plan, image: base })
  return own.committedOptions.length === 0 ? ofBase : { ...ofBase, committedOptions: own.committedOptions }
}

const termsOf = (spec: NodeSpec, listed: Listed): Terms =>
  spec.savedImageTemplateId === undefined ? pricesOf(listed).ofOrder(spec) : savedTerms(spec, listed)

const offerOf = ({ contradicted, minimumBillingInr, price }: Terms, option: CommittedOption | undefined): Offer => ({
  price,
  minimumBillingInr,
  option,
  contradicted
})

/** The offer for an order, or why it cannot work. */
export const offerFor = (spec: NodeSpec, listed: Listed): Result.Result<Offer, UsageFault> => {
  const fault = planFault(spec.plan, listed.images) ?? imageFault(spec, listed.images)
  if (fault !== undefined) return fault
  const terms = termsOf(spec, listed)
  return spec.committedSkuId === undefined
    ? Result.succeed(offerOf(terms, undefined))
    : Result.map(optionOf(`The plan ${spec.plan} with the image ${spec.image}`, terms, spec.committedSkuId), (option) =>
        offerOf(terms, option)
      )
}

/** What is known of an order that is sent although it may not work. */
export const knownOffer = (spec: NodeSpec, listed: Listed): Offer => {
  const terms = termsOf(spec, listed)
  const option = spec.committedSkuId === undefined ? Result.fail(undefined) : optionOf("", terms, spec.committedSkuId)
  return offerOf(
    terms,
    Result.getOrElse(option, () => undefined)
  )
}
