/**
 * A plan: the size and price of a node. The interface has no such resource, so plans come from the image list
 * (decision 19).
 */
import { Schema } from "effect"
import { type Image, Specs } from "./Image.ts"

/** A plan and the images it can be started with. */
export const Plan = /*#__PURE__*/ Schema.Struct({
  /** Plan slug, what `plan` of a create takes. */
  plan: Schema.String,
  ...Specs.fields,
  /** Images that go with the plan, in the service's order. */
  images: Schema.Array(Schema.String)
}).annotate({ identifier: "Plan" })
export interface Plan extends Schema.Schema.Type<typeof Plan> {}

/** The plans in a list of images, in order of first appearance. The first record of a plan gives its specs. */
export const fromImages = (images: Iterable<Image>): ReadonlyArray<Plan> => {
  const plans = new Map<string, { readonly specs: Specs; readonly images: Set<string> }>()
  for (const image of images) {
    const known = plans.get(image.plan)
    if (known === undefined) plans.set(image.plan, { specs: image.specs, images: new Set([image.image]) })
    else known.images.add(image.image)
  }
  return Array.from(plans, ([plan, { images, specs }]) => ({ plan, ...specs, images: Array.from(images) }))
}
