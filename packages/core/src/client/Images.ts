/**
 * The images nodes are made from: all of them with filters, and the account's own saved ones.
 */
import { Context, Effect, Layer } from "effect"
import { imageFilterToWire, imageFromWire, leftOutImage, passes, savedImageFromWire } from "../api/ImageCodec.ts"
import type { ReadRecord } from "../api/fields/RecordReader.ts"
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

/** A catalogue without a filter has about 2000 records of 3 KB, more than other replies may have. */
const catalogueBounds = { maxBodyBytes: 16 * 1024 * 1024, maxBodyTokens: 2_000_000 }

const listing = <A extends Pick<Image, "extra">>(name: string, readRecord: ReadRecord<A>): Operation<Readable<A>> => ({
  name,
  lane: "interactive",
  repeatable: "idempotent",
  expectation: { list: true },
  decode: readable(readRecord),
  drift: (drift) => drift.imageDrift
})
/**
 * A create reads it too, to know a plan by another name.
 *
 * @internal
 */
export const listImages = { ...listing("images.list", imageFromWire), bounds: catalogueBounds }
const savedImages = listing("images.saved", savedImageFromWire)

/** What a list of images came to. */
export interface ListedImages {
  /** How many records cannot be read and are left out, 0 or more. */
  readonly unreadable: number
  /** Those records. Each may be of an image and a plan that others are of, at another price. */
  readonly leftOut: ReadonlyArray<LeftOutImage>
}

/** How to list images. */
export interface ImageListOptions extends CallOptions {
  /** Called with what cannot be read and is left out, before the images are returned. */
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
    /** The images that pass every given filter; each comes once for every plan it goes with. */
    readonly list: (filter?: ImageFilter, options?: ImageListOptions) => Effect.Effect<ReadonlyArray<Image>, BerthError>
    /** The account's saved images. */
    readonly saved: (options?: ImageListOptions) => Effect.Effect<ReadonlyArray<SavedImage>, BerthError>
  }
>()("@berthkit/core/client/Images") {
  static readonly layer = Layer.effect(
    Images,
    Effect.gen(function* () {
      const { call } = yield* Engine

      let hasWarned = false
      /** The images that can be read. Of what is left out a program hears once: it would take the rest for all there is. */
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
            read(call(listImages, wire.images.list({ query: imageFilterToWire(filter) }), options), onEnd),
            (images) => images.filter(passes(filter))
          )
        )

      const saved = ({ onEnd, ...options }: ImageListOptions = {}) =>
        read(call(savedImages, wire.images.saved({ query: {} }), options), onEnd)

      return Images.of({ list, saved })
    })
  )
}
