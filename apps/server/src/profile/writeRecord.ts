/**
 * Rewrites a record of the mock into the form of an observed service: with the service's fields in the service's order, each with its
 * type and format. The mock fills every field whose name it knows with the value of the node or image. Other fields get the service's
 * constant value, or an empty value of their type.
 */
import { Data, DateTime } from "effect"
import { createdMoment } from "../http/records.ts"
import type { World } from "../world/World.ts"
import { derive } from "../lifecycle/seed.ts"
import type { Behaviour, Field, Form, Kind } from "@berthkit/profile/Profile"
import { isObject, type JsonObject, kindOf, part } from "@berthkit/profile/values"

type Statuses = Behaviour["statuses"]

/** The service's word for a status of the mock. */
const wordFor = (status: unknown, statuses: Statuses): string => {
  const own = String(status)
  const asked = own === "Create" ? "create" : own
  return (Object.hasOwn(statuses, asked) ? statuses[asked as keyof Statuses] : undefined) ?? own
}

/** What the mock knows about a node. The addresses come from the mock's own record. */
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

/** What the mock knows about an image, from the mock's own record. */
export const knownImage = (world: World, record: JsonObject): Known => {
  const slug = record["plan"] ?? record["size"]
  return {
    status: undefined,
    id: Number(part(record, "os")["image"]) || 0,
    seed: world.settings.seed,
    values: { ...record, plan: slug, size: slug }
  }
}

/** What the mock knows about a record, under every name that a service may use. */
interface Known {
  /** The values by wire name; nested values are objects. */
  readonly values: JsonObject
  /** The status of the node, as the service spells it. */
  readonly status: string | undefined
  /** Decides, together with the seed, which records do not have a field that only some records have. */
  readonly id: number
  readonly seed: number
}

const use = { missing: 91, null: 92 } as const

const empty: Readonly<Record<Kind, unknown>> = {
  null: null,
  boolean: false,
  integer: 0,
  number: 0.5,
  string: "",
  array: [],
  object: {}
}

/** Whether a record belongs to a random share of the records. The answer is the same each time. */
const hits = (share: number, label: number, { id, seed }: Known, name: string): boolean =>
  share >= 1 || (share > 0 && derive(seed, label, id, hashOf(name)) / 2 ** 32 < share)

const hashOf = (name: string): number => {
  let hash = 0
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0
  return hash >>> 0
}

export const writeRecord = (fields: ReadonlyArray<Field>, known: Known): JsonObject => {
  const record: Array<readonly [string, unknown]> = []
  for (const field of fields) {
    if (hits(field.missing, use.missing, known, field.name)) continue
    record.push([field.name, valueOf(field, known)])
  }
  return Object.fromEntries(record)
}

const valueOf = (field: Field, known: Known): unknown => {
  const isNull =
    field.nullIn === undefined
      ? hits(field.null, use.null, known, field.name)
      : known.status !== undefined && field.nullIn.includes(known.status)
  const [kind = "null"] = field.kinds
  if (isNull || kind === "null") return field.nullText ?? null
  if (field.form?.is === "constant") return field.form.value
  const value = Object.hasOwn(known.values, field.name) ? known.values[field.name] : undefined
  if (kind === "object") {
    const inner = isObject(value) ? value : {}
    return writeRecord(field.fields ?? [], { ...known, values: inner })
  }
  return written(value, kind, field.form)
}

/** Converts a value of the mock to another type and format. */
const written = (value: unknown, kind: Kind, form: Form | undefined): unknown => {
  if (value instanceof Size) return sized(value, kind, form)
  if (value instanceof Moment) return dated(value, kind, form)
  if (value === undefined || value === null) return empty[kind]
  if (kind === kindOf(value)) return value
  // In a record of the mock an address is an object; here it has to become a plain value.
  const plain = isObject(value) ? value["ip_address"] : value
  switch (kind) {
    case "string":
      return typeof plain === "string" || typeof plain === "number" || typeof plain === "boolean" ? String(plain) : ""
    case "integer":
      return Number.isFinite(Number(plain)) ? Math.round(Number(plain)) : 0
    case "number":
      return Number.isFinite(Number(plain)) ? Number(plain) : 0.5
    case "boolean":
      return plain === true || plain === "true" || plain === 1
    case "array":
      return []
    default:
      return empty[kind]
  }
}

/** A size before it is formatted. `bare` is the unit that a number has if the service writes no unit. */
class Size extends Data.Class<{ readonly gigabytes: number; readonly bare: "GB" | "MB" }> {}

const sized = ({ bare, gigabytes }: Size, kind: Kind, form: Form | undefined): unknown => {
  const { decimals = 0, suffix = "", unit = bare } = form?.is === "size" ? form : {}
  const value = unit.startsWith("M") ? gigabytes * 1024 : gigabytes
  if (kind === "string") return `${value.toFixed(decimals)}${suffix}`
  return kind === "integer" || kind === "number" ? value : empty[kind]
}

/** An instant with microseconds (0 to 999) before it is formatted. */
class Moment extends Data.Class<{ readonly millis: number; readonly micros: number }> {}

const dated = ({ micros, millis }: Moment, kind: Kind, form: Form | undefined): unknown => {
  if (kind === "integer") return form?.is === "epoch" && form.unit === "seconds" ? Math.floor(millis / 1000) : millis
  if (kind !== "string") return kind === "number" ? millis / 1000 : empty[kind]
  const { between = "T", decimals = 6, zone = "Z" } = form?.is === "instant" ? form : {}
  const offset = /^([+-])(\d\d):?(\d\d)$/.exec(zone)
  const ahead = offset === null ? 0 : Number(`${offset[1]}1`) * (Number(offset[2]) * 60 + Number(offset[3])) * 60_000
  const iso = DateTime.formatIso(DateTime.makeUnsafe(millis + ahead))
  const fraction = `${iso.slice(20, 23)}${String(micros).padStart(3, "0")}000`.slice(0, decimals)
  return `${iso.slice(0, 10)}${between}${iso.slice(11, 19)}${decimals === 0 ? "" : `.${fraction}`}${zone}`
}
