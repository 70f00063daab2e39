/** Nodes and images of a world in the wire format of the service (interface.md §2.3 to §2.6). */
import type { ImageSpecs, ListedImage, SavedImage } from "@berthkit/core/api/ImageRecords"
import type { Address, CreatedNode, ListedNode, NodeAttributes } from "@berthkit/core/api/NodeRecords"
import { DateTime } from "effect"
import type { CommittedOption, Plan } from "../world/catalogue.ts"
import type { ImageRow } from "../world/images.ts"
import { derive } from "../lifecycle/seed.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import { phase, type World } from "../world/World.ts"

const use = { microseconds: 21, publicOffset: 22, privateOffset: 23 } as const

/**
 * The microseconds in a node's time of creation, 0 to 999: the last three of six decimals (assumption A13 in
 * docs/interface/assumptions.md).
 */
const createdMicroseconds = (seed: number, id: number): number => derive(seed, use.microseconds, id) % 1000

const octets = Array.from({ length: 256 }, (_, value) => String(value))

const dotted = (address: number): string =>
  `${octets[address >>> 24]}.${octets[(address >>> 16) & 255]}.${octets[(address >>> 8) & 255]}.${octets[address & 255]}`

/**
 * Spreads ids over 2^bits addresses. Addresses of neighbouring ids look unrelated, and 2^bits consecutive ids have different
 * addresses, because an odd factor makes this a permutation.
 */
const spread = (seed: number, label: number, id: number, bits: number): number =>
  (Math.imul(id, 0x9e3779b1) + derive(seed, label)) & (2 ** bits - 1)

/** One of 4 194 304 addresses from 100.64.0.0/10, which no internet router forwards. */
export const publicAddress = (seed: number, id: number): string =>
  dotted((100 << 24) | (64 << 16) | spread(seed, use.publicOffset, id, 22))

/** One of 16 777 216 addresses from 10.0.0.0/8. */
export const privateAddress = (seed: number, id: number): string =>
  dotted((10 << 24) | spread(seed, use.privateOffset, id, 24))

/** The only region, and the zone of every image (interface.md §1). */
const region = "ncr"

const dayMillis = 86_400_000

/** The size at which the cache of dates is emptied. */
const maxDates = 4_096

const dates = new Map<number, string>()

/** A day as `YYYY-MM-DD`. The strings are cached, because formatting is slow and the same few days come again and again. */
const dateOf = (day: number): string => {
  const known = dates.get(day)
  if (known !== undefined) return known
  if (dates.size >= maxDates) dates.clear()
  const made = DateTime.formatIsoDateUtc(DateTime.makeUnsafe(day * dayMillis))
  dates.set(day, made)
  return made
}

const digits = (value: number, width: number): string => String(value).padStart(width, "0")

const twoDigits = Array.from({ length: 100 }, (_, value) => digits(value, 2))
const threeDigits = Array.from({ length: 1000 }, (_, value) => digits(value, 3))

/** When a node was created: the milliseconds, and the microseconds that follow them. */
export const createdMoment = (world: World, node: NodeRecord) => ({
  millis: node.createdAt,
  micros: createdMicroseconds(world.settings.seed, node.id)
})

/** When a node was created, in ISO 8601 with microseconds (A13). */
export const createdAt = (world: World, node: NodeRecord): string => {
  const day = Math.floor(node.createdAt / dayMillis)
  const millis = node.createdAt - day * dayMillis
  const hours = twoDigits[Math.floor(millis / 3_600_000)]
  const minutes = twoDigits[Math.floor(millis / 60_000) % 60]
  const seconds = twoDigits[Math.floor(millis / 1000) % 60]
  const micros = threeDigits[createdMicroseconds(world.settings.seed, node.id)]
  return `${dateOf(day)}T${hours}:${minutes}:${seconds}.${threeDigits[millis % 1000]}${micros}Z`
}

/** The status of a node at `now`. It is never `gone`, because the world has already removed such nodes. */
const status = (world: World, node: NodeRecord, now: number): typeof ListedNode.Type.status => {
  const shown = phase(world, node, now)
  return shown === "gone" ? "terminate" : shown
}

export const listedNode = (world: World, node: NodeRecord, now: number): typeof ListedNode.Type => ({
  id: node.id,
  name: node.name,
  created_at: createdAt(world, node),
  public_ip_address: publicAddress(world.settings.seed, node.id),
  private_ip_address: privateAddress(world.settings.seed, node.id),
  backup: node.backups,
  disk: `${node.plan.diskGb} GB`,
  status: status(world, node, now),
  vcpus: String(node.plan.vcpus),
  memory: `${node.plan.memoryGb.toFixed(2)} GB`,
  plan: node.plan.slug,
  region
})

export const createdNode = (world: World, node: NodeRecord): typeof CreatedNode.Type => ({
  ...listedNode(world, node, world.latest),
  status: "Create",
  is_locked: node.locked
})

const address = (ip: string, type: "public" | "private"): typeof Address.Type => ({
  ip_address: ip,
  netmask: "255.255.255.0",
  gateway: ip.replace(/\d+$/, "1"),
  type
})

export const nodeAttributes = (world: World, node: NodeRecord, now: number): typeof NodeAttributes.Type => ({
  id: node.id,
  name: node.name,
  vcpus: node.plan.vcpus,
  disk: node.plan.diskGb,
  locked: node.locked,
  created_at: createdAt(world, node),
  status: status(world, node, now),
  backups: node.backups,
  public_ip_address: address(publicAddress(world.settings.seed, node.id), "public"),
  private_ip_address: address(privateAddress(world.settings.seed, node.id), "private"),
  // The documentation says that tags are currently unavailable (A9).
  tags: []
})

const rupees = (paise: number): string => (paise / 100).toFixed(2)

const monthNames = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
] as const

/** When a term that begins at `now` ends: `DD-<MonthName>-YYYY HH:MM` (interface.md §2.6), in UTC. */
export const committedUntil = (option: Pick<CommittedOption, "days">, now: number): string => {
  const { day, hour, minute, month, year } = DateTime.toPartsUtc(DateTime.makeUnsafe(now + option.days * dayMillis))
  return `${digits(day, 2)}-${monthNames[month - 1]}-${year} ${digits(hour, 2)}:${digits(minute, 2)}`
}

const committedSku = (option: CommittedOption, now: number) => {
  const until = committedUntil(option, now)
  const price = rupees(option.pricePaise)
  return {
    committed_sku_id: option.skuId,
    committed_sku_name: option.name,
    committed_node_message: `Reserved for ${option.days} days until ${until} at Rs. ${price} in total.`,
    committed_sku_price: price,
    committed_upto_date: until,
    committed_days: option.days
  }
}

const specsOf = (plan: Plan, now: number): typeof ImageSpecs.Type => ({
  ram: plan.memoryGb.toFixed(2),
  cpu: plan.vcpus,
  disk_space: plan.diskGb,
  price_per_month: rupees(plan.pricePerMonthPaise),
  price_per_hour: rupees(plan.pricePerHourPaise),
  series: plan.series,
  minimum_billing_amount: rupees(plan.minimumBillingPaise),
  ...(plan.committed.length === 0 ? {} : { committed_sku: plan.committed.map((option) => committedSku(option, now)) })
})

/**
 * The part of a row that both image lists have. Many rows have the same plan, so the specs of each plan are made only once.
 */
const imageRecords = (rows: ReadonlyArray<ImageRow>, now: number) => {
  const specs = new Map<Plan, typeof ImageSpecs.Type>()
  return rows.map((row) => {
    const known = specs.get(row.plan) ?? specsOf(row.plan, now)
    specs.set(row.plan, known)
    return {
      name: row.name,
      image: row.slug,
      // The integer id that a create takes as `image` (interface.md §2.2) is only here in the record.
      os: { name: row.os, version: row.version, image: String(row.id) },
      zone: { slug_name: region },
      specs: known,
      slug: row.plan.slug
    }
  })
}

export const listedImages = (rows: ReadonlyArray<ImageRow>, now: number): ReadonlyArray<typeof ListedImage.Type> =>
  imageRecords(rows, now).map(({ slug, ...record }) => ({ ...record, plan: slug }))

export const savedImages = (rows: ReadonlyArray<ImageRow>, now: number): ReadonlyArray<typeof SavedImage.Type> =>
  imageRecords(rows, now).map(({ slug, ...record }) => ({ ...record, size: slug }))
