/**
 * Turns the body of a create into an order for a node, or names every field at fault at once, wrong types and
 * impossible values together (decisions 4 and 14).
 */
import type { FieldErrors } from "@berth/core/api/Envelope"
import { NodeCreation } from "@berth/core/api/NodeRecords"
import { Predicate, Result } from "effect"
import { committedOption, type Plan } from "./catalogue.ts"
import { readFields } from "../transport/fields.ts"
import { type Invalid, invalid } from "./Refusal.ts"
import type { World } from "./World.ts"

/** What a node is to be made from, checked. */
export interface NodeOrder {
  readonly name: string
  readonly plan: Plan
  readonly imageId: number
  readonly backups: boolean
  /** The committed option to begin with, `null` for hourly billing. */
  readonly skuId: number | null
}

/** `<SERIES>-<n>VCPU-<n>RAM-<n>DISK[-<suffix>]` (interface.md §2.2). */
const planShape = /^[A-Z0-9]+-\d+VCPU-\d+RAM-\d+DISK(-[A-Za-z0-9-]+)?$/

const longestName = 255

const read = readFields(NodeCreation)

/** `cn_id` is documented with the default FALSE (interface.md §2.2), so `false` says the same as 0 and as nothing. */
const withoutFalseSku = (body: unknown): unknown => {
  if (!Predicate.isObject(body) || !("cn_id" in body) || body.cn_id !== false) return body
  const { cn_id: _, ...rest } = body
  return rest
}

export const readNodeOrder = (world: World, body: unknown): Result.Result<NodeOrder, Invalid> => {
  const { errors, fields, raw } = read(withoutFalseSku(body))
  const plan = Predicate.isString(raw["plan"]) ? world.catalogue.planBySlug.get(raw["plan"]) : undefined
  const image = findImage(world, raw)
  const impossible = Predicate.isObject(body) ? findImpossible(raw, plan, image) : {}
  const all: FieldErrors = { ...impossible, ...errors }
  if (fields === null || plan === undefined || image === undefined || Object.keys(all).length > 0) {
    return Result.fail(invalid(all))
  }
  return Result.succeed({
    name: fields.name,
    plan,
    imageId: image.id,
    backups: fields.backups ?? false,
    skuId: fields.cn_id === undefined || fields.cn_id === 0 ? null : fields.cn_id
  })
}

interface KnownImage {
  readonly id: number
  readonly goesWith: (plan: Plan) => boolean
  /** Present on a saved image. */
  readonly templateId: number | undefined
}

/** The public or saved image that `image` names, by id or slug. A slug of both kinds is the saved one when asked for. */
const findImage = (world: World, raw: Readonly<Record<string, unknown>>): KnownImage | undefined => {
  const wanted = raw["image"]
  const saved = world.savedImages.find(({ id, slug }) => id === wanted || slug === wanted)
  const open = Predicate.isNumber(wanted)
    ? world.catalogue.imageById.get(wanted)
    : Predicate.isString(wanted)
      ? world.catalogue.imageBySlug.get(wanted)
      : undefined
  if (saved !== undefined && (open === undefined || raw["is_saved_image"] === true)) {
    return { id: saved.id, goesWith: (plan) => plan === saved.plan, templateId: saved.templateId }
  }
  if (open === undefined) return undefined
  return {
    id: open.id,
    goesWith: (plan) => world.catalogue.offers.some((offer) => offer.image === open && offer.plan === plan),
    templateId: undefined
  }
}

/** Fields that are of their type and still cannot be. Fields of a wrong type are not this function's business. */
const findImpossible = (
  raw: Readonly<Record<string, unknown>>,
  plan: Plan | undefined,
  image: KnownImage | undefined
): FieldErrors => {
  const errors: Record<string, ReadonlyArray<string>> = {}
  const { cn_id: skuId, image: imageWanted, is_saved_image: isSaved, name, plan: slug, region } = raw
  if (Predicate.isString(name)) {
    if (name.trim() === "") errors["name"] = ["The name must not be blank."]
    else if (Array.from(name).length > longestName) {
      errors["name"] = [`The name must have at most ${longestName} characters.`]
    }
  }
  if (Predicate.isString(region) && region !== "ncr") errors["region"] = ["The only region is ncr."]
  if (Predicate.isString(slug) && plan === undefined) {
    errors["plan"] = [
      planShape.test(slug)
        ? "There is no such plan: see the image list for the plans there are."
        : "A plan has the shape <SERIES>-<n>VCPU-<n>RAM-<n>DISK[-<suffix>]."
    ]
  }
  if (imageWanted !== undefined && image === undefined)
    errors["image"] = ["There is no such image: see the image list."]
  if (image !== undefined && plan !== undefined && !image.goesWith(plan)) {
    errors["image"] = [`This image does not go with the plan ${plan.slug}.`]
  }
  if (isSaved === true) {
    if (image !== undefined && image.templateId === undefined)
      errors["image"] = ["This is no saved image of the account."]
    if (raw["saved_image_template_id"] === undefined) {
      errors["saved_image_template_id"] = ["A saved image needs its template id."]
    } else if (image?.templateId !== undefined && raw["saved_image_template_id"] !== image.templateId) {
      errors["saved_image_template_id"] = ["This is not the template id of the saved image."]
    }
  } else if (image?.templateId !== undefined) {
    errors["is_saved_image"] = ["The image is a saved one, which must be said here."]
  }
  if (Predicate.isNumber(skuId) && skuId !== 0 && plan !== undefined && committedOption(plan, skuId) === undefined) {
    errors["cn_id"] = [`This is no committed_sku_id of the plan ${plan.slug}.`]
  }
  return errors
}
