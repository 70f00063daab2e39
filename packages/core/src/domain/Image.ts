/**
 * An image of the service's list: an operating system together with a plan on which it can start. `Plan.ts` has the plans by themselves.
 */
import { Schema } from "effect"
import { CommittedOption } from "./Commitment.ts"

/** The operating system on an image. */
export const OperatingSystem = /*#__PURE__*/ Schema.Struct({
  name: Schema.String,
  version: Schema.NullOr(Schema.String),
  /** Identifier of the system's image. */
  image: Schema.NullOr(Schema.String)
}).annotate({ identifier: "OperatingSystem" })
export interface OperatingSystem extends Schema.Schema.Type<typeof OperatingSystem> {}

/** A price in a currency other than rupees. Berth shows it, but never adds it to rupees or compares it with them. */
export const ForeignPrice = /*#__PURE__*/ Schema.Struct({
  /** As the service writes it, such as `USD`. */
  currency: Schema.String,
  perHour: Schema.NullOr(Schema.Number),
  perMonth: Schema.NullOr(Schema.Number)
}).annotate({ identifier: "ForeignPrice" })
export interface ForeignPrice extends Schema.Schema.Type<typeof ForeignPrice> {}

/** The size and price of a plan, as far as an image record states them. Prices are in rupees. */
export const Specs = /*#__PURE__*/ Schema.Struct({
  vcpus: Schema.NullOr(Schema.Number),
  memoryMib: Schema.NullOr(Schema.Number),
  diskGb: Schema.NullOr(Schema.Number),
  series: Schema.NullOr(Schema.String),
  pricePerHourInr: Schema.NullOr(Schema.Number),
  pricePerMonthInr: Schema.NullOr(Schema.Number),
  minimumBillingInr: Schema.NullOr(Schema.Number),
  /** Set if the prices are in another currency; the prices in rupees are null then. */
  foreignPrice: Schema.NullOr(ForeignPrice),
  committedOptions: Schema.Array(CommittedOption)
}).annotate({ identifier: "Specs" })
export interface Specs extends Schema.Schema.Type<typeof Specs> {}

/** An image on a plan (interface.md §2.6). */
export const Image = /*#__PURE__*/ Schema.Struct({
  name: Schema.String,
  /** The value for `image` of a create. */
  image: Schema.String,
  /** Plan slug. */
  plan: Schema.String,
  /** The name under which nodes show the plan. Null if the record has none; nodes then show the slug. */
  sku: Schema.NullOr(Schema.String),
  os: OperatingSystem,
  /** Where the image can be started. */
  zone: Schema.NullOr(Schema.String),
  /** Whether the plan can be ordered now; null if the record does not say. */
  available: Schema.NullOr(Schema.Boolean),
  specs: Specs,
  /** Fields of the reply that Berth does not know, under their wire names. */
  extra: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "Image" })
export interface Image extends Schema.Schema.Type<typeof Image> {}

/**
 * A saved image of the account, made from a node's disk. If the service lists each saved image once, a record has no plan and no price. An
 * older form of the list has one record for each plan (interface.md §2.6).
 */
export const SavedImage = /*#__PURE__*/ Schema.Struct({
  name: Schema.String,
  /** The value for `savedImageTemplateId` of a create. */
  templateId: Schema.NullOr(Schema.Int),
  /** Identifier of the image. */
  imageId: Schema.NullOr(Schema.String),
  /** The value for `image` of a create; null if the record has none. */
  image: Schema.NullOr(Schema.String),
  os: OperatingSystem,
  /** For example `Ready`, in the service's words. */
  state: Schema.NullOr(Schema.String),
  /** Size in GB (10^9 bytes). */
  sizeGb: Schema.NullOr(Schema.Number),
  /** When it was saved, as `YYYY-MM-DD HH:MM:SS` if the service names no zone, otherwise as the service writes it. */
  created: Schema.NullOr(Schema.String),
  /** Plan slug of a record of the older form. */
  plan: Schema.NullOr(Schema.String),
  /** Where the image can be started. */
  zone: Schema.NullOr(Schema.String),
  /** The size and price of the plan in a record of the older form. */
  specs: Schema.NullOr(Specs),
  /** Fields of the reply that Berth does not know, under their wire names. */
  extra: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "SavedImage" })
export interface SavedImage extends Schema.Schema.Type<typeof SavedImage> {}

/** An unreadable record of an image list, with its readable fields. */
export interface LeftOutImage {
  /** The record's plan; null if unreadable, and then it may be any plan. */
  readonly plan: string | null
  /**
   * The strings by which a create may name the image: slug, id and name. Null if the slug is unreadable, and then it may be any image.
   */
  readonly names: ReadonlyArray<string> | null
}

/** Filters of the image list. An image must match all filters that are given (interface.md §4 note 4, A18). */
export const ImageFilter = Schema.Struct({
  type: Schema.optional(Schema.Literals(["public", "private"])),
  vcpus: Schema.optional(Schema.Int),
  /** Memory of the plan in GB. */
  memoryGb: Schema.optional(Schema.Int),
  series: Schema.optional(Schema.String),
  os: Schema.optional(Schema.String),
  /** Used together with `os`. */
  osVersion: Schema.optional(Schema.String)
}).annotate({ identifier: "ImageFilter" })
export interface ImageFilter extends Schema.Schema.Type<typeof ImageFilter> {}
