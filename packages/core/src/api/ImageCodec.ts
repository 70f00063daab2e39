/**
 * Between the wire and the domain for images: reads records of both image lists (A18) and writes an
 * `ImageFilter` as query parameters.
 */
import { Predicate } from "effect"
import type { CommittedOption } from "../domain/Commitment.ts"
import type { Image, ImageFilter, LeftOutImage, OperatingSystem, Specs } from "../domain/Image.ts"
import { diskGb } from "./fields/Disk.ts"
import { count, integer, optionalText, text, unreadable } from "./fields/Field.ts"
import { memoryMibFromGb } from "./fields/Memory.ts"
import { priceInr, pricePerHourInr, pricePerMonthInr } from "./fields/Price.ts"
import { keepUnknown, read, RecordFault, type ReadRecord } from "./fields/RecordReader.ts"

const known: ReadonlyArray<string> = ["name", "plan", "size", "image", "os", "zone", "specs"]
const specFields: ReadonlyArray<string> = [
  "ram",
  "cpu",
  "disk_space",
  "price_per_month",
  "price_per_hour",
  "series",
  "minimum_billing_amount",
  "committed_sku"
]

/** One committed option; null without an id or a length, because it then cannot be chosen. Fills `unused` with what it cannot read. */
const committedOption = (wire: unknown, unused: Record<string, unknown>): CommittedOption | null => {
  if (!Predicate.isObject(wire)) return null
  const skuId = integer(wire["committed_sku_id"])
  const days = count(wire["committed_days"])
  if (skuId === unreadable || days === unreadable || days === 0) return null
  return {
    skuId,
    name: read(wire["committed_sku_name"], "committed_sku_name", text, "", unused),
    days,
    priceInr: read(wire["committed_sku_price"], "committed_sku_price", priceInr, null, unused),
    message: read(wire["committed_node_message"], "committed_node_message", text, "", unused),
    until: read(wire["committed_upto_date"], "committed_upto_date", text, "", unused)
  }
}

const specsOf = (wire: Record<string, unknown>, extra: Record<string, unknown>): Specs => {
  const skus = Array.isArray(wire["committed_sku"]) ? wire["committed_sku"] : []
  const unused = {}
  const committedOptions = skus.map((sku) => committedOption(sku, unused)).filter((option) => option !== null)
  if (committedOptions.length < skus.length || Object.keys(unused).length > 0) extra["committed_sku"] = skus
  keepUnknown(wire, specFields, extra)
  return {
    vcpus: read(wire["cpu"], "cpu", count, null, extra),
    memoryMib: read(wire["ram"], "ram", memoryMibFromGb, null, extra),
    diskGb: read(wire["disk_space"], "disk_space", diskGb, null, extra),
    series: read(wire["series"], "series", text, null, extra),
    pricePerHourInr: read(wire["price_per_hour"], "price_per_hour", pricePerHourInr, null, extra),
    pricePerMonthInr: read(wire["price_per_month"], "price_per_month", pricePerMonthInr, null, extra),
    minimumBillingInr: read(wire["minimum_billing_amount"], "minimum_billing_amount", priceInr, null, extra),
    committedOptions
  }
}

const osOf = (wire: Record<string, unknown>, name: string, extra: Record<string, unknown>): OperatingSystem => ({
  name: read(wire["name"], "name", text, name, extra),
  version: read(wire["version"], "version", optionalText, null, extra),
  image: read(wire["image"], "image", optionalText, null, extra)
})

/** An image from a record of either list. Only the names of the image and the plan are required. */
export const imageFromWire: ReadRecord<Image> = (wire) => {
  if (!Predicate.isObject(wire)) return new RecordFault("", "an image record", wire)
  const image = text(wire["image"])
  if (image === unreadable) return new RecordFault("image", "a string", wire["image"])
  const plan = text(wire["plan"] ?? wire["size"])
  if (plan === unreadable) return new RecordFault("plan", "a string", wire["plan"])
  const extra: Record<string, unknown> = {}
  const zone = Predicate.isObject(wire["zone"]) ? wire["zone"]["slug_name"] : wire["zone"]
  const result = {
    name: read(wire["name"], "name", text, image, extra),
    image,
    plan,
    os: osOf(Predicate.isObject(wire["os"]) ? wire["os"] : {}, image, extra),
    zone: read(zone, "zone", text, null, extra),
    specs: specsOf(Predicate.isObject(wire["specs"]) ? wire["specs"] : {}, extra),
    extra
  }
  keepUnknown(wire, known, extra)
  return result
}

/** What is known of a record that is no image. */
export const leftOutImage = (wire: unknown): LeftOutImage => {
  if (!Predicate.isObject(wire)) return { plan: null, names: null }
  const plan = text(wire["plan"] ?? wire["size"])
  const image = text(wire["image"])
  const os = Predicate.isObject(wire["os"]) ? wire["os"] : {}
  const others = [text(os["image"]), text(wire["name"])].filter(Predicate.isString)
  return { plan: plan === unreadable ? null : plan, names: image === unreadable ? null : [image, ...others] }
}

/** The query of an image list (interface.md §4 note 4). */
export const imageFilterToWire = (filter: ImageFilter) => ({
  ...(filter.type !== undefined && { image_type: filter.type }),
  ...(filter.vcpus !== undefined && { cpu: filter.vcpus }),
  ...(filter.memoryGb !== undefined && { ram: filter.memoryGb }),
  ...(filter.series !== undefined && { series: filter.series }),
  ...(filter.os !== undefined && { os: filter.os }),
  ...(filter.osVersion !== undefined && { version: filter.osVersion })
})
