/**
 * Converts images between wire and domain: reads records of both image lists (A18), and writes an `ImageFilter` as query parameters.
 */
import { Predicate } from "effect"
import type { CommittedOption } from "../domain/Commitment.ts"
import type {
  ForeignPrice,
  Image,
  ImageFilter,
  LeftOutImage,
  OperatingSystem,
  SavedImage,
  Specs
} from "../domain/Image.ts"
import { diskGb } from "./fields/Disk.ts"
import { count, type Field, flag, integer, optionalText, text, unreadable } from "./fields/Field.ts"
import { memoryMibFromGb } from "./fields/Memory.ts"
import { priceInr, pricePerHourInr, pricePerMonthInr } from "./fields/Price.ts"
import { keepUnknown, read, RecordFault, type ReadRecord } from "./fields/RecordReader.ts"

const known: ReadonlyArray<string> = [
  "name",
  "plan",
  "size",
  "image",
  "os",
  "zone",
  "specs",
  "location",
  "currency",
  "available_inventory_status"
]
const specFields: ReadonlyArray<string> = [
  "ram",
  "cpu",
  "disk_space",
  "price_per_month",
  "price_per_hour",
  "series",
  "minimum_billing_amount",
  "committed_sku",
  "sku_name"
]

/** One committed option; null without an id or a duration, because a create could not choose it. Adds unreadable fields to `unused`. */
const committedOption = (
  wire: unknown,
  currency: string | null,
  unused: Record<string, unknown>
): CommittedOption | null => {
  if (!Predicate.isObject(wire)) return null
  const skuId = integer(wire["committed_sku_id"])
  const days = count(wire["committed_days"])
  if (skuId === unreadable || days === unreadable || days === 0) return null
  const amount = read(wire["committed_sku_price"], "committed_sku_price", priceInr, null, unused)
  return {
    skuId,
    name: read(wire["committed_sku_name"], "committed_sku_name", text, "", unused),
    days,
    priceInr: currency ? null : amount,
    foreignPrice: currency && amount !== null ? { currency, amount } : null,
    message: read(wire["committed_node_message"], "committed_node_message", text, "", unused),
    until: read(wire["committed_upto_date"], "committed_upto_date", text, "", unused)
  }
}

/** The currency of a record's prices; null for rupees, which is also the default. */
const foreignCurrency = (wire: unknown): string | null => {
  if (wire === undefined || wire === null) return null
  // A value that is not a string means an unknown currency.
  if (!Predicate.isString(wire)) return "?"
  return /^(?:inr|rs\.?|₹)?$/i.test(wire.trim()) ? null : wire.trim().toUpperCase()
}

/** A monthly price of 0 next to an hourly price means that there is no monthly price. */
const monthly = (perHour: number | null, perMonth: number | null): number | null =>
  perMonth === 0 && perHour !== null && perHour > 0 ? null : perMonth

const specsOf = (wire: Record<string, unknown>, currency: string | null, extra: Record<string, unknown>): Specs => {
  const skus = Array.isArray(wire["committed_sku"]) ? wire["committed_sku"] : []
  const unused = {}
  const committedOptions = skus.map((sku) => committedOption(sku, currency, unused)).filter((option) => option !== null)
  if (committedOptions.length < skus.length || Object.keys(unused).length > 0) extra["committed_sku"] = skus
  keepUnknown(wire, specFields, extra)
  const perHour = read(wire["price_per_hour"], "price_per_hour", pricePerHourInr, null, extra)
  const perMonth = monthly(perHour, read(wire["price_per_month"], "price_per_month", pricePerMonthInr, null, extra))
  const minimum = read(wire["minimum_billing_amount"], "minimum_billing_amount", priceInr, null, extra)
  const foreignPrice: ForeignPrice | null = currency === null ? null : { currency, perHour, perMonth }
  const inRupees = (amount: number | null) => (currency === null ? amount : null)
  return {
    vcpus: read(wire["cpu"], "cpu", count, null, extra),
    memoryMib: read(wire["ram"], "ram", memoryMibFromGb, null, extra),
    diskGb: read(wire["disk_space"], "disk_space", diskGb, null, extra),
    series: read(wire["series"], "series", text, null, extra),
    pricePerHourInr: inRupees(perHour),
    pricePerMonthInr: inRupees(perMonth),
    minimumBillingInr: inRupees(minimum),
    foreignPrice,
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
  const zone = Predicate.isObject(wire["zone"]) ? wire["zone"]["slug_name"] : (wire["zone"] ?? wire["location"])
  const specs = Predicate.isObject(wire["specs"]) ? wire["specs"] : {}
  const result = {
    name: read(wire["name"], "name", text, image, extra),
    image,
    plan,
    sku: read(specs["sku_name"], "sku_name", optionalText, null, extra),
    os: osOf(Predicate.isObject(wire["os"]) ? wire["os"] : {}, image, extra),
    zone: read(zone, "zone", text, null, extra),
    available: read(wire["available_inventory_status"], "available_inventory_status", flag, null, extra),
    specs: specsOf(specs, foreignCurrency(wire["currency"]) ?? foreignCurrency(specs["currency"]), extra),
    extra
  }
  keepUnknown(wire, known, extra)
  return result
}

/** Converts `DD-MM-YYYY` to `YYYY-MM-DD`. The time zone is unknown, so this is not an instant. */
const dayFirst = (text: string) => text.replace(/^(\d\d)-(\d\d)-(\d{4})\b/, "$3-$2-$1")

/** A saved image from a disk record, or from a plan record as documented. */
export const savedImageFromWire: ReadRecord<SavedImage> = (wire) => {
  if (!Predicate.isObject(wire)) return new RecordFault("", "an image record", wire)
  if ((wire["plan"] ?? wire["size"]) !== undefined) {
    const onPlan = imageFromWire(wire)
    if (onPlan instanceof RecordFault) return onPlan
    const { available: _, sku: __, ...image } = onPlan
    // The id of the operating system is that of the template (A18).
    const id = integer(image.os.image)
    const templateId = id === unreadable ? null : id
    return { ...image, templateId, imageId: image.os.image, state: null, sizeGb: null, created: null }
  }
  const name = text(wire["name"] ?? wire["image_name"])
  if (name === unreadable) return new RecordFault("name", "a string", wire["name"])
  const used = ["name", "image_name"]
  const extra: Record<string, unknown> = {}
  const field = <A>(name: string, as: Field<A>) => {
    used.push(name)
    return read(wire[name], name, as, null, extra)
  }
  const imageId = field("image_id", optionalText)
  const distribution = field("os_distribution", optionalText)
  const result = {
    name,
    templateId: field("template_id", integer),
    imageId,
    image: field("image", optionalText),
    os: { name: field("distro", optionalText) ?? distribution ?? "", version: null, image: imageId },
    state: field("image_state", optionalText),
    sizeGb: field("image_size", diskGb),
    created: dayFirst(field("creation_time", optionalText) ?? "") || null,
    plan: null,
    zone: field("location", optionalText),
    specs: null,
    extra
  }
  keepUnknown(wire, used, extra)
  return result
}

/** The readable fields of a record that is not a valid image. */
export const leftOutImage = (wire: unknown): LeftOutImage => {
  if (!Predicate.isObject(wire)) return { plan: null, names: null }
  const plan = text(wire["plan"] ?? wire["size"])
  const image = text(wire["image"])
  const os = Predicate.isObject(wire["os"]) ? wire["os"] : {}
  const others = [text(os["image"]), text(wire["name"])].filter(Predicate.isString)
  return { plan: plan === unreadable ? null : plan, names: image === unreadable ? null : [image, ...others] }
}

const isAsked = (shown: string | number | null, asked: string | number | undefined) =>
  asked === undefined || shown === null || String(shown).toLowerCase() === String(asked).toLowerCase()

/**
 * Whether a record passes the filter. The client checks this too, because a service ignores parameters that it does not
 * know. A filter is ignored if the record lacks the field. Records do not state the image type, so the type is not
 * checked.
 */
export const passes =
  ({ memoryGb, os: system, osVersion, series, vcpus }: ImageFilter) =>
  ({ os, specs }: Image): boolean =>
    isAsked(specs.vcpus, vcpus) &&
    isAsked(specs.memoryMib && specs.memoryMib / 1024, memoryGb) &&
    isAsked(specs.series, series) &&
    isAsked(os.name, system) &&
    isAsked(os.version, osVersion)

/** The query of an image list (interface.md §4 note 4). */
export const imageFilterToWire = (filter: ImageFilter) => ({
  ...(filter.type !== undefined && { image_type: filter.type }),
  ...(filter.vcpus !== undefined && { cpu: filter.vcpus }),
  ...(filter.memoryGb !== undefined && { ram: filter.memoryGb }),
  ...(filter.series !== undefined && { series: filter.series }),
  ...(filter.os !== undefined && { os: filter.os }),
  // Send both names, because a service reads only the one that it knows: `version` is documented, and today's service has `osversion`.
  ...(filter.osVersion !== undefined && { version: filter.osVersion, osversion: filter.osVersion })
})
