/**
 * Nodes and images of a world in the shapes the service writes them in (interface.md §2.3 to §2.6).
 */
import type { ListedImage, SavedImage } from "@berth/core/api/ImageRecords"
import type { Address, CreatedNode, ListedNode, NodeAttributes } from "@berth/core/api/NodeRecords"
import { DateTime } from "effect"
import type { CommittedOption, Plan } from "../world/catalogue.ts"
import type { ImageRow } from "../world/images.ts"
import { createdMicroseconds, type NodeRecord, privateAddress, publicAddress } from "../world/NodeRecord.ts"
import { phase, type World } from "../world/World.ts"

/** The only region, and the zone of every image (interface.md §1). */
const region = "ncr"

/** ISO 8601 with microseconds (decision 13). */
const createdAt = (world: World, node: NodeRecord): string => {
  const toMilliseconds = DateTime.formatIso(DateTime.makeUnsafe(node.createdAt)).slice(0, -1)
  return `${toMilliseconds}${String(createdMicroseconds(world.settings.seed, node.id)).padStart(3, "0")}Z`
}

const memoryText = (plan: Plan): string => `${plan.memoryGb.toFixed(2)} GB`
const diskText = (plan: Plan): string => `${plan.diskGb} GB`

/** A listed or readable node is never gone: the world has cleared those away. */
const status = (world: World, node: NodeRecord, now: number): typeof ListedNode.Type.status => {
  const shown = phase(world, node, now)
  return shown === "gone" ? "terminate" : shown
}

export const createdNode = (world: World, node: NodeRecord): typeof CreatedNode.Type => ({
  id: node.id,
  name: node.name,
  created_at: createdAt(world, node),
  public_ip_address: publicAddress(world.settings.seed, node.id),
  private_ip_address: privateAddress(world.settings.seed, node.id),
  backup: node.backups,
  disk: diskText(node.plan),
  status: "Create",
  vcpus: String(node.plan.vcpus),
  memory: memoryText(node.plan),
  plan: node.plan.slug,
  region,
  is_locked: node.locked
})

export const listedNode = (world: World, node: NodeRecord, now: number): typeof ListedNode.Type => ({
  id: node.id,
  name: node.name,
  created_at: createdAt(world, node),
  public_ip_address: publicAddress(world.settings.seed, node.id),
  private_ip_address: privateAddress(world.settings.seed, node.id),
  backup: node.backups,
  disk: diskText(node.plan),
  status: status(world, node, now),
  vcpus: String(node.plan.vcpus),
  memory: memoryText(node.plan),
  plan: node.plan.slug,
  region
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
  // Documented as currently unavailable (decision 9).
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

const twoDigits = (value: number): string => String(value).padStart(2, "0")

/** `DD-<MonthName>-YYYY HH:MM` (interface.md §2.6), in UTC. */
const committedUntil = (option: CommittedOption, now: number): string => {
  const { day, hour, minute, month, year } = DateTime.toPartsUtc(DateTime.makeUnsafe(now + option.days * 86_400_000))
  return `${twoDigits(day)}-${monthNames[month - 1]}-${year} ${twoDigits(hour)}:${twoDigits(minute)}`
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

const imageRecord = (row: ImageRow, now: number) => ({
  name: row.name,
  image: row.slug,
  // The record has no other place for the integer id that a create takes as `image` (interface.md §2.2).
  os: { name: row.os, version: row.version, image: String(row.id) },
  zone: { slug_name: region },
  specs: {
    ram: row.plan.memoryGb.toFixed(2),
    cpu: row.plan.vcpus,
    disk_space: row.plan.diskGb,
    price_per_month: rupees(row.plan.pricePerMonthPaise),
    price_per_hour: rupees(row.plan.pricePerHourPaise),
    series: row.plan.series,
    minimum_billing_amount: rupees(row.plan.minimumBillingPaise),
    ...(row.plan.committed.length === 0
      ? {}
      : { committed_sku: row.plan.committed.map((option) => committedSku(option, now)) })
  }
})

export const listedImage = (row: ImageRow, now: number): typeof ListedImage.Type => ({
  ...imageRecord(row, now),
  plan: row.plan.slug
})

export const savedImage = (row: ImageRow, now: number): typeof SavedImage.Type => ({
  ...imageRecord(row, now),
  size: row.plan.slug
})
