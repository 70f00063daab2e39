/**
 * A saved image: a private image of the account, made from a node at some time. It can be started on the plan it was saved
 * with. Nothing in the interface makes one; scenarios and the control plane do.
 */
import type { Plan, PublicImage } from "./catalogue.ts"

export interface SavedImage {
  /** What `image` of a create takes as an integer, and what `os.image` shows. */
  readonly id: number
  /** What `image` of a create takes as a string. */
  readonly slug: string
  readonly name: string
  /** What `saved_image_template_id` of a create must be. The image list shows only one id, so the two are the same. */
  readonly templateId: number
  readonly base: PublicImage
  readonly plan: Plan
}
