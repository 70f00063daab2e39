/**
 * Caches the image list while one command runs, because a reply may have 16 MiB. `fresh` reads the list again, for prices right before a
 * purchase.
 */
import { type ImageListOptions, Images } from "@berthkit/core/client/Images"
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Image, LeftOutImage } from "@berthkit/core/domain/Image"
import { Context, Effect, Layer, Semaphore } from "effect"

/** Prices that are older than this are read again. */
export const maxPriceAgeMillis = 60_000

/** A list of images, and the records that are left out because they cannot be read. */
export interface Catalogue {
  readonly images: ReadonlyArray<Image>
  readonly leftOut: ReadonlyArray<LeftOutImage>
}

/** The service's images, and the monotonic time at which their read began. */
export interface TimedCatalogue extends Catalogue {
  readonly readMillis: number
}

export const catalogueOf = (list: (options: ImageListOptions) => Effect.Effect<ReadonlyArray<Image>, BerthError>) =>
  Effect.suspend(() => {
    let leftOut: Catalogue["leftOut"] = []
    const onEnd: ImageListOptions["onEnd"] = (listed) => Effect.sync(() => void (leftOut = listed.leftOut))
    return Effect.map(list({ onEnd }), (images): Catalogue => ({ images, leftOut }))
  })

export class ImageList extends Context.Service<
  ImageList,
  {
    /** The list if it was read within the last minute; otherwise reads it. */
    readonly recent: Effect.Effect<TimedCatalogue, BerthError>
    /** Reads the list again. */
    readonly fresh: (options?: Pick<ImageListOptions, "retry">) => Effect.Effect<TimedCatalogue, BerthError>
    /** The images of the last reading; undefined before the first. */
    readonly last: Effect.Effect<ReadonlyArray<Image> | undefined>
  }
>()("@berthkit/cli/catalogue/ImageList") {
  static readonly layer = Layer.effect(
    ImageList,
    Effect.gen(function* () {
      const images = yield* Images
      const oneAtATime = yield* Semaphore.make(1)
      let latest: TimedCatalogue | undefined
      const fresh = (options?: Pick<ImageListOptions, "retry">) =>
        Effect.gen(function* () {
          const readMillis = yield* monotonicMillis
          const catalogue = yield* catalogueOf((own) => images.list({}, { ...options, ...own }))
          return (latest = { ...catalogue, readMillis })
        })
      const recent = oneAtATime.withPermits(1)(
        Effect.flatMap(monotonicMillis, (now) =>
          latest === undefined || now - latest.readMillis > maxPriceAgeMillis ? fresh() : Effect.succeed(latest)
        )
      )
      return ImageList.of({ recent, fresh, last: Effect.sync(() => latest?.images) })
    })
  )
}

export const recentCatalogue = ImageList.use(({ recent }) => recent)

export const freshCatalogue = ImageList.use(({ fresh }) => fresh())

/** The images that were already read. A create gets them as its option `plans`, and then does not read them again. */
export const knownPlans = ImageList.use(({ last }) => last)
