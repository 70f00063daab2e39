/**
 * The service of images: all images with filters, and the account's saved images.
 */
import { Context, Effect, Layer, Predicate, Result } from "effect"
import { otherLocation } from "../api/AskedNode.ts"
import { imageFilterToWire, imageFromWire, leftOutImage, passes, savedImageFromWire } from "../api/ImageCodec.ts"
import { type ReadRecord, RecordFault } from "../api/fields/RecordReader.ts"
import type { BerthError } from "../domain/BerthError.ts"
import type { Image, ImageFilter, LeftOutImage, SavedImage } from "../domain/Image.ts"
import { argument, fields, oneOf, optional, text, whole } from "./options/Argument.ts"
import { Engine } from "./call/Engine.ts"
import { type CallOptions, type Operation, readable, type Readable } from "./call/Operation.ts"
import { unsent } from "./options/OptionCheck.ts"
import { wire } from "./transport/Transport.ts"

/** The checks of an `ImageFilter`, field by field. */
export const imageFilterShape = fields<ImageFilter>({
  type: optional(oneOf(["public", "private"])),
  vcpus: optional(whole),
  memoryGb: optional(whole),
  series: optional(text),
  os: optional(text),
  osVersion: optional(text)
})
const imageFilter = argument(imageFilterShape, "filter")

/** An unfiltered catalogue has about 2000 records of 3 KB, which exceeds the limits of other replies. @internal */
export const catalogueBounds = { maxBodyBytes: 16 * 1024 * 1024, maxBodyTokens: 2_000_000 }

const listing = <A extends Pick<Image, "extra">>(name: string, readRecord: ReadRecord<A>): Operation<Readable<A>> => ({
  name,
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { list: true },
  decode: readable(readRecord),
  drift: (drift) => drift.imageDrift
})
const allImages = { ...listing("images.list", imageFromWire), bounds: catalogueBounds }

/**
 * The catalogue without the records of other locations, because their plans and prices are of no use to this client.
 * The call fails if all records are of other locations, because the reply is then about the wrong location. A create
 * also reads the catalogue, to learn the other names of a plan.
 *
 * @internal
 */
export const listImages = (location: string | undefined): Operation<Readable<Image>> => ({
  ...allImages,
  decode: (data, body) => {
    if (!Array.isArray(data)) return allImages.decode(data, body)
    const elsewhere = (wire: unknown) => (Predicate.isObject(wire) ? otherLocation(location, wire) : undefined)
    const here = data.filter((wire) => elsewhere(wire) === undefined)
    return data.length > 0 && here.length === 0
      ? Result.fail(new RecordFault("data[0].location", `records of the location ${location}`, elsewhere(data[0])))
      : allImages.decode(here, body)
  }
})

const savedImages = listing("images.saved", savedImageFromWire)

/** The result of listing images. */
export interface ListedImages {
  /** The number of unreadable records that were left out. */
  readonly unreadable: number
  /** The records that were left out. Each may belong to a known image and plan, with another price. */
  readonly leftOut: ReadonlyArray<LeftOutImage>
}

/** Options for listing images. */
export interface ImageListOptions extends CallOptions {
  /** Called with the unreadable records before the images are returned. */
  readonly onEnd?: ((listed: ListedImages) => Effect.Effect<void>) | undefined
}

/**
 * The service of the images that nodes are made from.
 *
 * @example
 * ```ts
 * import { Images } from "@berthkit/core/client/Images"
 * import { Console, Effect } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const images = yield* Images
 *   const [first] = yield* images.list({ os: "Ubuntu" })
 *   yield* Console.log(first?.image) // Ubuntu-24.04
 * })
 * ```
 */
export class Images extends Context.Service<
  Images,
  {
    /** The images that pass all given filters; each appears once per plan that it works with. */
    readonly list: (filter?: ImageFilter, options?: ImageListOptions) => Effect.Effect<ReadonlyArray<Image>, BerthError>
    /** The account's saved images. */
    readonly saved: (options?: ImageListOptions) => Effect.Effect<ReadonlyArray<SavedImage>, BerthError>
  }
>()("@berthkit/core/client/Images") {
  static readonly layer = Layer.effect(
    Images,
    Effect.gen(function* () {
      const { call, location } = yield* Engine

      let hasWarned = false
      /** The readable images. Warns once about those left out, because a program would otherwise think that the rest is the whole list. */
      const imagesOf = <A>({ value: { records, setAside } }: { readonly value: Readable<A> }) => {
        const [first] = setAside
        if (first === undefined || hasWarned) return Effect.succeed(records)
        hasWarned = true
        const { expected, path } = first.fault
        const what = path === "" ? "is not" : `whose ${path} is not`
        return Effect.as(
          Effect.logWarning(
            `The image list has ${setAside.length === 1 ? "a record" : `${setAside.length} records`} that cannot be read: one ${what} ${expected}.`
          ),
          records
        )
      }

      const read = <A>(
        reply: Effect.Effect<{ readonly value: Readable<A> }, BerthError>,
        onEnd: ImageListOptions["onEnd"]
      ) =>
        reply.pipe(
          Effect.tap(
            ({ value: { setAside } }) =>
              onEnd?.({ unreadable: setAside.length, leftOut: setAside.map(({ wire }) => leftOutImage(wire)) }) ??
              Effect.void
          ),
          Effect.flatMap(imagesOf)
        )

      const list = (filter?: ImageFilter, { onEnd, ...options }: ImageListOptions = {}) =>
        Effect.flatMap(unsent("images.list")(imageFilter(filter ?? {})), (filter) =>
          Effect.map(
            read(call(listImages(location), wire.images.list({ query: imageFilterToWire(filter) }), options), onEnd),
            (images) => images.filter(passes(filter))
          )
        )

      const saved = ({ onEnd, ...options }: ImageListOptions = {}) =>
        read(call(savedImages, wire.images.saved({ query: {} }), options), onEnd)

      return Images.of({ list, saved })
    })
  )
}
