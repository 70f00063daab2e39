/**
 * What the mock knows of a node or an image, by every name that a service may have for it: the values that `writeRecord.ts`
 * writes in the form of a service that was observed.
 */
import { createdMoment } from "../http/records.ts"
import type { World } from "../world/World.ts"
import type { Behaviour } from "./Profile.ts"
import { type JsonObject, part } from "./values.ts"
import { type Known, Moment, Size } from "./writeRecord.ts"

type Statuses = Behaviour["statuses"]

/** The service's word for a status of the mock. */
const wordFor = (status: unknown, statuses: Statuses): string => {
  const own = String(status)
  const asked = own === "Create" ? "create" : own
  return (Object.hasOwn(statuses, asked) ? statuses[asked as keyof Statuses] : undefined) ?? own
}

/** A node, from the record that the mock would show of it, which has its addresses. */
export const knownNode = (world: World, record: JsonObject, statuses: Statuses): Known => {
  const id = Number(record["id"])
  const status = wordFor(record["status"], statuses)
  const base = { status, id, seed: world.settings.seed }
  const node = world.nodes.get(id)
  if (node === undefined) return { ...base, values: { ...record, status } }
  const { plan } = node
  const image = world.catalogue.imageById.get(node.imageId)?.slug
  const created = new Moment(createdMoment(world, node))
  return {
    ...base,
    values: {
      ...record,
      label: node.name,
      status,
      created_at: created,
      updated_at: created,
      backup: node.backups,
      backups: node.backups,
      backup_ids: [],
      locked: node.locked,
      is_locked: node.locked,
      tags: [],
      vcpus: plan.vcpus,
      memory: new Size({ gigabytes: plan.memoryGb, bare: "MB" }),
      ram: new Size({ gigabytes: plan.memoryGb, bare: "GB" }),
      disk: new Size({ gigabytes: plan.diskGb, bare: "GB" }),
      plan: plan.slug,
      size: plan.slug,
      region: "ncr",
      image: image ?? ""
    }
  }
}

/** An image, from the record that the mock would show of it. */
export const knownImage = (world: World, record: JsonObject): Known => {
  const slug = record["plan"] ?? record["size"]
  return {
    status: undefined,
    id: Number(part(record, "os")["image"]) || 0,
    seed: world.settings.seed,
    values: { ...record, plan: slug, size: slug }
  }
}
