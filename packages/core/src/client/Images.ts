/**
 * The images nodes are made from: all of them with filters, and the account's own saved ones.
 */
import { Context, Effect, Layer } from "effect"
import { imageFilterToWire, imageFromWire } from "../api/ImageCodec.ts"
import type { BerthError } from "../domain/BerthError.ts"
import type { Image, ImageFilter } from "../domain/Image.ts"
import { argument, fields, oneOf, optional, text, whole } from "./options/Argument.ts"
import { imageDrift } from "./telemetry/Drift.ts"
import { Engine } from "./call/Engine.ts"
import { type CallOptions, many, type Operation, valueOf } from "./call/Operation.ts"
import { unsent } from "./options/OptionCheck.ts"
import { wire } from "./transport/Wire.ts"

export const imageFilterShape = fields<ImageFilter>({
  type: optional(oneOf(["public", "private"])),
  vcpus: optional(whole),
  memoryGb: optional(whole),
  series: optional(text),
  os: optional(text),
  osVersion: optional(text)
})
const imageFilter = argument(imageFilterShape, "filter")

const readImages = many(imageFromWire)
const listImages: Operation<ReadonlyArray<Image>> = {
  name: "images.list",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { list: true },
  decode: readImages,
  drift: imageDrift
}
const savedImages: Operation<ReadonlyArray<Image>> = {
  name: "images.saved",
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { list: true },
  decode: readImages,
  drift: imageDrift
}

export class Images extends Context.Service<
  Images,
  {
    /** The images that pass every given filter; each comes once for every plan it goes with. */
    readonly list: (filter?: ImageFilter, options?: CallOptions) => Effect.Effect<ReadonlyArray<Image>, BerthError>
    /** The account's saved images. */
    readonly saved: (options?: CallOptions) => Effect.Effect<ReadonlyArray<Image>, BerthError>
  }
>()("@berth/core/client/Images") {
  static readonly layer = Layer.effect(
    Images,
    Effect.gen(function* () {
      const { call } = yield* Engine

      const list = (filter?: ImageFilter, options?: CallOptions) =>
        Effect.flatMap(unsent("images.list")(imageFilter(filter ?? {})), (filter) =>
          Effect.map(call(listImages, wire.images.list({ query: imageFilterToWire(filter) }), options), valueOf)
        )

      const saved = (options?: CallOptions) =>
        Effect.map(call(savedImages, wire.images.saved({ query: {} }), options), valueOf)

      return Images.of({ list, saved })
    })
  )
}
