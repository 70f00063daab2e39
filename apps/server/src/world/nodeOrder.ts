/**
 * Checks a request for a node against the world, and names every field at fault at once (A4 and A14).
 */
import { Predicate, Result } from "effect"
import { committedOption, type Plan } from "./catalogue.ts"
import { type Invalid, invalid } from "./Refusal.ts"
import type { World } from "./World.ts"

/** The request for a node. A field that is absent here was not given, or could not be read. */
export interface NodeDraft {
  readonly name: string | undefined
  readonly region: string | undefined
  /** A slug. */
  readonly plan: string | undefined
  /** The id of an image, or its slug. */
  readonly image: number | string | undefined
  readonly isSavedImage: boolean | undefined
  readonly templateId: number | undefined
  readonly backups: boolean | undefined
  /** 0 stands for none. */
  readonly skuId: number | undefined
}

/** A checked request for a node. */
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

const maxNameLength = 255

export const checkOrder = (world: World, draft: NodeDraft): Result.Result<NodeOrder, Invalid> => {
  const plan = draft.plan === undefined ? undefined : world.catalogue.planBySlug.get(draft.plan)
  const image = findImage(world, draft)
  const problems = problemsOf(draft, plan, image)
  if (draft.name === undefined || plan === undefined || image === undefined || Object.keys(problems).length > 0) {
    return Result.fail(invalid(problems))
  }
  return Result.succeed({
    name: draft.name,
    plan,
    imageId: image.id,
    backups: draft.backups ?? false,
    skuId: draft.skuId === undefined || draft.skuId === 0 ? null : draft.skuId
  })
}

interface KnownImage {
  readonly id: number
  readonly goesWith: (plan: Plan) => boolean
  /** Present on a saved image. */
  readonly templateId: number | undefined
}

/** The public or saved image that `image` names, by id or slug. A slug of both kinds is the saved one when asked for. */
const findImage = (world: World, { image: wanted, isSavedImage }: NodeDraft): KnownImage | undefined => {
  const saved = world.savedImages.find(({ id, slug }) => id === wanted || slug === wanted)
  const open = Predicate.isNumber(wanted)
    ? world.catalogue.imageById.get(wanted)
    : Predicate.isString(wanted)
      ? world.catalogue.imageBySlug.get(wanted)
      : undefined
  if (saved !== undefined && (open === undefined || isSavedImage === true)) {
    return { id: saved.id, goesWith: (plan) => plan === saved.plan, templateId: saved.templateId }
  }
  if (open === undefined) return undefined
  return {
    id: open.id,
    goesWith: (plan) => world.catalogue.offers.some((offer) => offer.image === open && offer.plan === plan),
    templateId: undefined
  }
}

const problemsOf = (draft: NodeDraft, plan: Plan | undefined, image: KnownImage | undefined) => {
  const problems: { -readonly [field in keyof NodeDraft]?: ReadonlyArray<string> } = {}
  if (draft.name === undefined) problems.name = ["A node needs a name."]
  else if (draft.name.trim() === "") problems.name = ["The name must not be blank."]
  else if (Array.from(draft.name).length > maxNameLength) {
    problems.name = [`The name must have at most ${maxNameLength} characters.`]
  }
  if (draft.region !== undefined && draft.region !== "ncr") problems.region = ["The only region is ncr."]
  if (draft.plan === undefined) problems.plan = ["A node needs a plan."]
  else if (plan === undefined) {
    problems.plan = [
      planShape.test(draft.plan)
        ? "There is no such plan: see the image list for the plans there are."
        : "A plan has the shape <SERIES>-<n>VCPU-<n>RAM-<n>DISK[-<suffix>]."
    ]
  }
  if (image === undefined) problems.image = ["There is no such image: see the image list."]
  else if (plan !== undefined && !image.goesWith(plan)) {
    problems.image = [`This image does not go with the plan ${plan.slug}.`]
  }
  if (draft.isSavedImage === true) {
    if (image !== undefined && image.templateId === undefined) {
      problems.image = ["This is no saved image of the account."]
    }
    if (draft.templateId === undefined) problems.templateId = ["A saved image needs its template id."]
    else if (image?.templateId !== undefined && draft.templateId !== image.templateId) {
      problems.templateId = ["This is not the template id of the saved image."]
    }
  } else if (image?.templateId !== undefined) {
    problems.isSavedImage = ["The image is a saved one: this field must be true."]
  }
  if (draft.skuId !== undefined && draft.skuId !== 0 && plan !== undefined) {
    if (committedOption(plan, draft.skuId) === undefined) {
      problems.skuId = [`This is no committed_sku_id of the plan ${plan.slug}.`]
    }
  }
  return problems
}
