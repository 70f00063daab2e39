/** Nodes and images as the service of 2026 sends them, which is the wire format of the dialect `today`. */
import { DateTime } from "effect"
import { committedUntil, createdAt, privateAddress, publicAddress } from "../http/records.ts"
import { termAt } from "../lifecycle/CommitmentTerm.ts"
import { committedOption, type CommittedOption, type Offer, type Plan, type SavedImage } from "../world/catalogue.ts"
import type { NodeRecord } from "../world/NodeRecord.ts"
import type { Today } from "../world/Today.ts"
import { phase, type World } from "../world/World.ts"

/** The status words of today's dialect. */
const words = {
  created: "Creating",
  running: "Running",
  "power-off": "Powered off",
  terminate: "Terminating"
} as const

const statusOf = (world: World, node: NodeRecord, now: number): string => {
  const shown = phase(world, node, now)
  return shown === "terminate" || shown === "gone" ? words.terminate : (node.today?.shows ?? words[shown])
}

/**
 * A second number of a node. It differs from the node's id, and is as large as the second numbers that the real service sends.
 */
const vmId = ({ id }: NodeRecord): number => id + 5_432

/** An amount in rupees, or in dollars (a dollar counts as 85 rupees). */
const amount = (paise: number, currency: Today["currency"]): number =>
  currency === "INR" ? paise / 100 : Math.round(paise / 0.85) / 10_000

/** A number as text, with at least one decimal: `2117.0`. */
const decimal = (value: number): string => (Number.isInteger(value) ? value.toFixed(1) : String(value))

const signs = { INR: "Rs.", USD: "$" } as const

const priceOf = ({ pricePerHourPaise, pricePerMonthPaise }: Plan, currency: Today["currency"]): string => {
  const price = (paise: number) => `${signs[currency]} ${decimal(amount(paise, currency))}`
  return `${price(pricePerHourPaise)}/Hour or ${price(pricePerMonthPaise)} Monthly`
}

const committedSku = (option: CommittedOption, from: number, currency: Today["currency"]) => {
  const price = amount(option.pricePaise, currency)
  const until = committedUntil(option, from)
  return {
    committed_sku_id: option.skuId,
    committed_sku_name: `${option.name} , ${signs[currency]} ${decimal(price)}`,
    committed_node_message: `Reserved for ${option.days} days until ${until} at ${signs[currency]} ${decimal(price)} in total.`,
    committed_sku_price: price,
    committed_upto_date: until,
    committed_days: option.days
  }
}

/** The SKU, which node records show as their plan. */
const skuOf = ({ slug, today }: Plan): string => today?.sku ?? slug

const sizesOf = ({ plan, today }: NodeRecord) => ({
  disk: `${today?.diskGb ?? plan.diskGb} GB`,
  memory: `${plan.memoryGb} GB`,
  vcpus: String(plan.vcpus)
})

const osInfo = (world: World, { imageId }: NodeRecord) => {
  const saved = world.savedImages.find(({ id }) => id === imageId)
  const image = saved?.base ?? world.catalogue.imageById.get(imageId)
  const name = image?.os ?? ""
  const version = image?.version ?? ""
  const isWindows = name.startsWith("Windows")
  return {
    name,
    version,
    category: isWindows ? "Windows Virtual Node" : "Linux Virtual Node",
    full_name: `${name} ${version} x86_64`
  }
}

const addresses = (world: World, { id }: NodeRecord) => ({
  public_ip_address: publicAddress(world.settings.seed, id),
  private_ip_address: privateAddress(world.settings.seed, id)
})

/** A node as the list shows it. */
export const listedToday = (world: World, node: NodeRecord, now: number) => ({
  id: node.id,
  name: node.name,
  status: statusOf(world, node, now),
  ...addresses(world, node),
  rescue_mode_status: "Disabled",
  is_locked: node.locked,
  plan: skuOf(node.plan),
  is_accidental_protection: false,
  isEncryptionEnabled: false,
  ...(world.settings.today?.listDates === true ? { created_at: createdAt(world, node) } : {})
})

const currencyOf = ({ settings }: World): Today["currency"] => settings.today?.currency ?? "INR"

/** A node as the reply to a create shows it. */
export const createdToday = (world: World, node: NodeRecord) => ({
  id: node.id,
  name: node.name,
  vm_id: vmId(node),
  created_at: createdAt(world, node),
  ...addresses(world, node),
  backup: node.backups,
  ...sizesOf(node),
  status: words.created,
  plan: skuOf(node.plan),
  region: null,
  is_locked: node.locked,
  zabbix_host_id: null,
  zabbix_host_id_v2: null,
  gpu: "",
  price: priceOf(node.plan, currencyOf(world)),
  additional_ip: [],
  label: node.today?.label ?? "default",
  ssh_keys: [],
  is_active: true,
  scaler_id: null,
  os_info: osInfo(world, node),
  is_monitored: false,
  backup_status: {
    status: node.backups ? "backup_activated" : "backup_not_activated",
    detail: node.backups ? "Activated" : "Not Activated",
    node_id: node.id,
    is_encryption_enabled: false
  },
  location: node.today?.location,
  monitor_status: { status: "not_activated", reason: "" },
  enable_bitninja_details: bitninja,
  is_bitninja_license_active: false,
  is_committed: node.commitment !== null,
  audit_log_message: null,
  bitninja_discount_percentage: 0,
  currency: currencyOf(world),
  vm_type: vmType(node),
  is_accidental_protection: false,
  project_name: `default-project-${node.today?.projectId}`,
  resource_type: null,
  label_id: null
})

const bitninja = { show_bitninja: true, bitninja_cost: 760 }

const vmType = ({ commitment }: NodeRecord): string => (commitment === null ? "vm" : "committed_vm")

/** A public key as records show it. Its label is taken from its comment. */
const keyOf = (key: string) => ({ label: key.trim().split(/\s+/)[2]?.split("@")[0] ?? "key", ssh_key: key })

/** The term for which a node is committed; `null` if the node has no commitment. */
const committedInfo = (world: World, node: NodeRecord, now: number) => {
  const term = node.commitment === null ? null : termAt(node.commitment, now)
  const option = term === null ? undefined : committedOption(node.plan, term.skuId)
  if (term === null || option === undefined) return null
  return { ...committedSku(option, term.startedAt, currencyOf(world)), committed_node_status: node.commitment?.setting }
}

/** A node as the reply to a get shows it. */
export const attributesToday = (world: World, node: NodeRecord, now: number) => ({
  id: node.id,
  vm_id: vmId(node),
  name: node.name,
  label: node.today?.label ?? "default",
  plan: skuOf(node.plan),
  ...sizesOf(node),
  ssh_keys: (node.today?.sshKeys ?? []).map(keyOf),
  os_info: osInfo(world, node),
  price: priceOf(node.plan, currencyOf(world)),
  created_at: createdAt(world, node),
  is_bitninja_license_active: false,
  ngc_container: "",
  gpu: "",
  cdp_tab_enabled: true,
  monitoring_tab_enabled: true,
  is_snapshot_allowed: true,
  alert_tab_enabled: true,
  is_volume_attachable: true,
  zabbix_host_id: null,
  zabbix_host_id_v2: 20_000 + node.id,
  is_fortigate_vm: false,
  status: statusOf(world, node, now),
  any_license_attached: {
    is_license_attached: false,
    license_deletion_message: "",
    mssql_license_attached: false
  },
  is_locked: node.locked,
  is_upgradable: true,
  vm_type: vmType(node),
  committed_details: node.plan.committed.map((option) => committedSku(option, now, currencyOf(world))),
  committed_info: committedInfo(world, node, now),
  series: node.plan.series,
  ...addresses(world, node),
  pool_ip_address: [],
  start_scripts: [],
  is_accidental_protection: false,
  hypervisor: false,
  is_node_compliance: false,
  is_never_connected: false,
  rescue_mode_status: "Disabled",
  snapshot_exist: false,
  is_vpc_attached: false,
  cluster_name: null,
  security_group_count: 1
})

/** The data in the reply to a delete. */
export const deletedToday = (node: NodeRecord) => ({ vm_id: vmId(node), location: node.today?.location })

/**
 * The description of an image. It is as long as a description from the real service, because clients must cope with the
 * size of the real catalogue.
 */
const description = "<br>\r\n<p>\r\n    This text has the usual length and says nothing. </p>".repeat(12)

/** A record of the catalogue. */
export const offerToday = ({ image, plan }: Offer, now: number, currency: Today["currency"]) => ({
  name: skuOf(plan),
  plan: plan.slug,
  image: image.slug,
  os: { name: image.os, version: image.version, image: image.slug, category: image.os },
  location: plan.today?.location,
  specs: {
    id: String(plan.today?.number),
    sku_name: skuOf(plan),
    ram: plan.memoryGb.toFixed(2),
    cpu: plan.vcpus,
    disk_space: plan.diskGb,
    price_per_month: amount(plan.pricePerMonthPaise, currency),
    price_per_hour: amount(plan.pricePerHourPaise, currency),
    series: plan.series,
    minimum_billing_amount: amount(plan.minimumBillingPaise, currency),
    committed_sku: plan.committed.map((option) => committedSku(option, now, currency)),
    family: plan.today?.family
  },
  cpu_type: "vCPU",
  gpu_card_details: {},
  node_description: description,
  installed_application_version: {},
  can_support_bitninja: bitninja,
  bitninja_discount_percentage: 0,
  available_inventory_status: plan.today?.isAvailable,
  currency,
  is_blockstorage_attachable: true
})

const digits = (value: number): string => String(value).padStart(2, "0")

/** `DD-MM-YYYY HH:MM:SS` in UTC; the service does not name a zone. */
const creationTime = (millis: number): string => {
  const { day, hour, minute, month, second, year } = DateTime.toPartsUtc(DateTime.makeUnsafe(millis))
  return `${digits(day)}-${digits(month)}-${year} ${digits(hour)}:${digits(minute)}:${digits(second)}`
}

/** A saved image: the record of a disk, without a plan or a price. */
export const savedToday = ({ base, id, name, plan, templateId, today }: SavedImage, runningNodes: number) => ({
  template_id: templateId,
  is_windows: base.os.startsWith("Windows"),
  vm_info: [],
  image_type: "E2E Image",
  os_distribution: `${(today?.location ?? "").slice(0, 3).toUpperCase()}-${name}`,
  name,
  image_id: String(id),
  distro: base.os,
  sku_type: `${plan.series}VPS`,
  image_state: "Ready",
  running_vms: String(runningNodes),
  cloning_ops: "0",
  image_size: `${((plan.diskGb || 40) * 0.954).toFixed(3)} GB`,
  creation_time: creationTime(today?.savedAt ?? 0)
})
