/** Reads the images that the flags of `image list` and `plan list` select. */
import { Images } from "@berthkit/core/client/Images"
import type { Image, SavedImage } from "@berthkit/core/domain/Image"
import { Effect } from "effect"
import type { Values } from "../commandLine/Parameter.ts"
import { Output } from "../output/Output.ts"
import { imageFilter, type imageFilterFlags } from "./imageFilter.ts"

/** The records that belong to the account's saved images. A record names its image by slug or by id, depending on what a create accepts. */
const savedAmong = (images: ReadonlyArray<Image>, saved: ReadonlyArray<SavedImage>) => {
  const known = new Set(saved.flatMap(({ image, imageId }) => [image, imageId]).filter((name) => name !== null))
  return images.filter(({ image, os }) => known.has(image) || (os.image !== null && known.has(os.image)))
}

/**
 * Reads the images that the flags select. A service may ignore the filter by type, and records do not state their type. So if private
 * images were requested, berth keeps only the records of the account's saved images, and warns about the others.
 */
export const askedImages = Effect.fnUntraced(function* (flags: Values<typeof imageFilterFlags>) {
  const images = yield* Images
  const found = yield* images.list(imageFilter(flags))
  if (flags.type !== "private" || found.length === 0) return found
  const own = savedAmong(found, yield* images.saved())
  if (own.length < found.length) {
    const others = found.length - own.length
    yield* (yield* Output).warn(
      `The service listed ${others === 1 ? "1 record as private that belongs" : `${others} records as private that belong`} to no saved image of this account. The service may ignore the filter. Berth leaves ${others === 1 ? "it" : "them"} out.`
    )
  }
  return own
})
