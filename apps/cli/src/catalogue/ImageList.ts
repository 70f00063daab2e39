/**
 * The image list as a run has it. One reading serves everything that a command asks of the list, because a reply may have 16 MiB. Prices right
 * before a purchase come from a reading of their own, `fresh`.
 */
import { type ImageListOptions, Images } from "@berthkit/core/client/Images"
import { monotonicMillis } from "@berthkit/core/client/time/Monotonic"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Image, LeftOutImage } from "@berthkit/core/domain/Image"
import { Context, Effect, Layer, Semaphore } from "effect"

/** Prices that were read longer ago are read again. */
export const maxPriceAgeMillis = 60_000

/** A list of images, and what it leaves out because it cannot be read. */
export interface Catalogue {
  readonly images: ReadonlyArray<Image>
  readonly leftOut: ReadonlyArray<LeftOutImage>
}

/** The images of the service, and when the read of them began, by the monotonic clock. */
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
    /** The list as it was read in the last minute; reads it if it was not. */
    readonly recent: Effect.Effect<TimedCatalogue, BerthError>
    /** Reads the list now. */
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

/** What a create need not read again, as its option `plans`. */
export const knownPlans = ImageList.use(({ last }) => last)
