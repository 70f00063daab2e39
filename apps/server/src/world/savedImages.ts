/**
 * Saved images are private images of the account that were made from a node. This module has the rules for what can be
 * saved. No request of the interface makes a saved image; scenarios and the control plane do.
 */
import { Result } from "effect"
import type { Offer, SavedImage } from "./catalogue.ts"
import { type Invalid, invalid, type TooManySavedImages } from "./Refusal.ts"
import { deriveBelow } from "../lifecycle/seed.ts"
import { defaultPlace, locations, type Place } from "./Today.ts"
import type { World } from "./World.ts"

/** The source of a saved image: a node of the world, or a public image on a plan. */
export interface SavedImageOrder {
  readonly name: string
  readonly nodeId?: number
  /** Slug of a public image. Default: Ubuntu-24.04 (in today's dialect Ubuntu-24.04-Distro). */
  readonly image?: string
  /** Slug of a plan. Default: the first plan that runs the image. */
  readonly plan?: string
}

/** Maximum number of saved images in a world. It is limited because the image list has no pages and shows all of them. */
export const maxSavedImages = 2_000

const use = { savedImageId: 42 } as const

/**
 * Adds a saved image. The image gets the next id. Its slug is its name in lower case with dashes; the id follows if another
 * image has that slug.
 */
export const addSavedImage = (
  world: World,
  name: string,
  { image, plan }: Offer,
  place: Place = defaultPlace
): SavedImage => {
  const id = 50_000 + deriveBelow(40_000, world.settings.seed, use.savedImageId) + world.savedImages.length
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const plain = words.join("-")
  const isFree = plain !== "" && world.savedImages.every(({ slug }) => slug !== plain)
  const today = world.settings.today && { ...place, savedAt: world.latest }
  const slug = isFree ? plain : [...words, id].join("-")
  const saved = { id, slug, name, templateId: id, base: image, plan, ...(today && { today }) }
  world.savedImages.push(saved)
  return saved
}

export const saveImage = (
  world: World,
  order: SavedImageOrder
): Result.Result<SavedImage, Invalid | TooManySavedImages> => {
  if (world.savedImages.length >= maxSavedImages) {
    return Result.fail({ _tag: "TooManySavedImages", limit: maxSavedImages })
  }
  return Result.map(order.nodeId === undefined ? namedOffer(world, order) : offerOf(world, order.nodeId), (offer) =>
    addSavedImage(world, order.name, offer, placeOf(world, order))
  )
}

/** The place of the new image: that of its node. If there is no node, the default project and the location of the plan. */
const placeOf = (world: World, { nodeId, plan }: SavedImageOrder): Place => {
  const node = nodeId === undefined ? undefined : world.nodes.get(nodeId)?.today
  if (node !== undefined) return { projectId: node.projectId, location: node.location }
  const location = plan === undefined ? undefined : world.catalogue.planBySlug.get(plan)?.today?.location
  return { ...defaultPlace, location: locations.find((one) => one === location) ?? defaultPlace.location }
}

/** The offer from which a node was made. If that was a saved image, the new image gets the same base. */
const offerOf = (world: World, nodeId: number): Result.Result<Offer, Invalid> => {
  const node = world.nodes.get(nodeId)
  if (node === undefined) return Result.fail(invalid({ nodeId: [`There is no node ${nodeId}.`] }))
  const saved = world.savedImages.find(({ id }) => id === node.imageId)
  const image = saved?.base ?? world.catalogue.imageById.get(node.imageId)
  return image === undefined
    ? Result.fail(invalid({ nodeId: [`The image of node ${nodeId} no longer exists.`] }))
    : Result.succeed({ image, plan: node.plan })
}

/** The image that is saved if the order names none: its slug in the documented catalogue, and in today's. */
const standardImages = ["Ubuntu-24.04", "Ubuntu-24.04-Distro"]

const namedOffer = (world: World, order: SavedImageOrder): Result.Result<Offer, Invalid> => {
  const { imageBySlug } = world.catalogue
  const image =
    order.image === undefined
      ? standardImages.map((slug) => imageBySlug.get(slug)).find((found) => found !== undefined)
      : imageBySlug.get(order.image)
  const plan = order.plan === undefined ? undefined : world.catalogue.planBySlug.get(order.plan)
  if (image === undefined) return Result.fail(invalid({ image: ["There is no such public image."] }))
  if (order.plan !== undefined && plan === undefined) return Result.fail(invalid({ plan: ["There is no such plan."] }))
  const offer = world.catalogue.offers.find((one) => one.image === image && (plan === undefined || one.plan === plan))
  return offer === undefined
    ? Result.fail(invalid({ plan: [`The image ${image.slug} does not go with this plan.`] }))
    : Result.succeed(offer)
}
