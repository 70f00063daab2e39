/**
 * The plans a node can have, with prices and committed options. The interface has no such resource: they are read off
 * the image list (A19).
 */
import { Context, Effect, Layer } from "effect"
import type { BerthError } from "../domain/BerthError.ts"
import type { ImageFilter } from "../domain/Image.ts"
import { fromImages, type Plan } from "../domain/Plan.ts"
import type { CallOptions } from "./call/Operation.ts"
import { Images } from "./Images.ts"

/** The service of the plans and their prices. */
export class Plans extends Context.Service<
  Plans,
  {
    /** The plans of the images that pass every given filter, in the service's order. */
    readonly list: (filter?: ImageFilter, options?: CallOptions) => Effect.Effect<ReadonlyArray<Plan>, BerthError>
  }
>()("@berthkit/core/client/Plans") {
  static readonly layer = Layer.effect(
    Plans,
    Effect.gen(function* () {
      const images = yield* Images
      const list = (filter?: ImageFilter, options?: CallOptions) => Effect.map(images.list(filter, options), fromImages)
      return Plans.of({ list })
    })
  )
}
