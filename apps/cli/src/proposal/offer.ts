/**
 * What the service offers for an order: the plan with its prices, or why the order cannot work. Pure; from the image list, which is
 * where plans and committed options are listed (decision 19).
 */
import type { CommittedOption } from "@berth/core/domain/Commitment"
import type { Image } from "@berth/core/domain/Image"
import type { NodeSpec } from "@berth/core/domain/NodeSpec"
import { fromImages, type Plan } from "@berth/core/domain/Plan"
import { didYouMean, nearest } from "@berth/terminal/usage"
import { Result } from "effect"
import { quoted } from "../commandLine/quoted.ts"
import { UsageFault } from "../failure/CliFailure.ts"

/** What is offered, as far as it is listed. */
export interface Offer {
  readonly plan: Plan | undefined
  readonly option: CommittedOption | undefined
}

const force = "--force sends it anyway."

const refuse = (message: string, hint: string) => Result.fail(new UsageFault({ message, hint: `${hint}; ${force}` }))

const near = (word: string, words: Iterable<string>): string => didYouMean(nearest(word, Array.from(new Set(words))))

/** Some of them, for the end of a sentence. */
const some = (words: ReadonlyArray<string>): string =>
  words.length === 0 ? "none" : words.length > 4 ? `${words.slice(0, 4).join(", ")}, …` : words.join(", ")

/** The options of a plan as `SKU (days)`. */
const optionsOf = ({ committedOptions }: Plan): string =>
  some(committedOptions.map(({ days, skuId }) => `${skuId} (${days} days)`))

/** The committed option of a plan, or why it has none of that id. */
export const optionOf = (plan: Plan, skuId: number): Result.Result<CommittedOption, UsageFault> => {
  const option = plan.committedOptions.find((each) => each.skuId === skuId)
  return option === undefined
    ? refuse(
        `The plan ${plan.plan} has no committed option ${skuId}; it has ${optionsOf(plan)}.`,
        "See berth plan list"
      )
    : Result.succeed(option)
}

/** Why the image does not go with the plan; undefined when it does, or when that is not known. */
const imageFault = ({ image, plan, savedImageTemplateId }: NodeSpec, images: ReadonlyArray<Image>) => {
  // Saved images are on a list of their own.
  if (savedImageTemplateId !== undefined) return undefined
  const isImage =
    typeof image === "number"
      ? (each: Image) => each.os.image === String(image)
      : (each: Image) => each.image === image || each.name === image
  const ofImage = images.filter(isImage)
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

/** The plan of that name, or that there is none. */
export const planNamed = (name: string, plans: ReadonlyArray<Plan>): Result.Result<Plan, UsageFault> => {
  const plan = plans.find((each) => each.plan === name)
  if (plan !== undefined) return Result.succeed(plan)
  const words = plans.map((each) => each.plan)
  return refuse(`There is no plan ${name}${near(name, words)}`, "See berth plan list")
}

/** The offer for an order, or why it cannot work. */
export const offerFor = (spec: NodeSpec, images: ReadonlyArray<Image>): Result.Result<Offer, UsageFault> => {
  const named = planNamed(spec.plan, fromImages(images))
  if (Result.isFailure(named)) return Result.fail(named.failure)
  const plan = named.success
  const fault = imageFault(spec, images)
  if (fault !== undefined) return fault
  return spec.committedSkuId === undefined
    ? Result.succeed({ plan, option: undefined })
    : Result.map(optionOf(plan, spec.committedSkuId), (option) => ({ plan, option }))
}

/** What is known of an order that is sent although it may not work. */
export const knownOffer = ({ committedSkuId, plan }: NodeSpec, images: ReadonlyArray<Image>): Offer => {
  const known = fromImages(images).find((each) => each.plan === plan)
  return { plan: known, option: known?.committedOptions.find(({ skuId }) => skuId === committedSkuId) }
}
