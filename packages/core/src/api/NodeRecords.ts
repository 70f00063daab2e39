/**
 * The three record shapes of a node, and the body of a create, exactly as documented. `NodeCodec.ts` reads them into the domain.
 */
import { Schema } from "effect"
import { chosen, documented, observed, oneOf, stated, text, wholeNumber } from "./Stated.ts"

const ipv4 = Schema.String.annotate({ format: "ipv4" })

const id = wholeNumber(1).annotate(documented("2.3", "Identifier of the node."))
const createdAt = Schema.String.annotate({
  format: "date-time",
  ...chosen(13, "ISO 8601 with microseconds and `Z`.")
})
const diskText = text(/^\d+ GB$/).annotate(documented("2.3", "Size with unit, shape `<n> GB`."))
const memoryText = text(/^\d+\.\d\d GB$/).annotate(documented("2.3", "Shape `<n.nn> GB`."))
const vcpusText = text(/^\d+$/).annotate(documented("2.3", "Number of virtual CPUs, as a string."))
const addressText = ipv4.annotate(documented("2.3", "IPv4 address."))
const status = Schema.Literals(["created", "running", "power-off", "terminate"]).annotate(
  documented("3", "One of the four documented statuses.")
)

/** The record of a create reply (interface.md §2.3). */
export const CreatedNode = Schema.Struct({
  id,
  name: Schema.String,
  created_at: createdAt,
  public_ip_address: addressText,
  private_ip_address: addressText,
  backup: Schema.Boolean.annotate(documented("2.3", "Whether backups are enabled.")),
  disk: diskText,
  status: Schema.Literal("Create").annotate(documented("2.3", "The create reply shows `Create`.")),
  vcpus: vcpusText,
  memory: memoryText,
  plan: Schema.String.annotate(documented("2.3", "Plan slug.")),
  region: Schema.String.annotate(documented("2.3", "Region identifier.")),
  is_locked: Schema.Boolean
}).annotate({ identifier: "CreatedNode", ...documented("2.3", "Node record returned by create.") })

/** An address as get-by-id shows it: documented only as "object" (interface.md §2.4). */
export const Address = Schema.Struct({
  ip_address: ipv4,
  netmask: ipv4,
  gateway: ipv4,
  type: oneOf(["public", "private"])
}).annotate({ identifier: "Address", ...chosen(8, "Network configuration of the node.") })

/** The attributes of get-by-id (interface.md §2.4). */
export const NodeAttributes = Schema.Struct({
  id,
  name: Schema.String,
  vcpus: wholeNumber(1).annotate(documented("2.4", "Virtual CPU count.")),
  disk: wholeNumber(0).annotate(documented("2.4", "Disk space in gigabytes.")),
  locked: Schema.Boolean.annotate(documented("2.4", "Whether the node refuses user actions; currently unavailable.")),
  created_at: createdAt,
  status,
  backups: Schema.Boolean.annotate(documented("2.4", "Whether automated backups are enabled.")),
  public_ip_address: Address,
  private_ip_address: Address,
  tags: Schema.Array(Schema.String).annotate(documented("2.4", "Tags on the node; currently unavailable."))
}).annotate({ identifier: "NodeAttributes", ...documented("2.4", "Node attributes, get by id.") })

/** An element of the list, in the shape of the documented example (interface.md §2.5, A8). */
export const ListedNode = Schema.Struct({
  id,
  name: Schema.String,
  created_at: createdAt,
  public_ip_address: addressText,
  private_ip_address: addressText,
  backup: Schema.Boolean,
  disk: diskText,
  status,
  vcpus: vcpusText,
  memory: memoryText,
  plan: Schema.String,
  region: Schema.String
}).annotate({ identifier: "ListedNode", ...documented("2.5", "Node in a list, in the shape of the example.") })

/** The body of a create (interface.md §2.2). Unknown fields are accepted and ignored (A14). */
export const NodeCreation = Schema.Struct({
  name: Schema.String.check(stated({ pattern: "\\S", maxLength: 255 })).annotate(
    documented("2.2", "Name of the node, not blank, at most 255 characters.")
  ),
  region: oneOf(["ncr"]).annotate(documented("2.2", "Region identifier; only `ncr` is available.")),
  plan: text(/^[A-Z0-9]+-\d+VCPU-\d+RAM-\d+DISK(-[A-Za-z0-9-]+)?$/).annotate(
    documented("2.2", "Unique plan slug, shape `<SERIES>-<n>VCPU-<n>RAM-<n>DISK[-<suffix>]`.")
  ),
  image: Schema.Union([wholeNumber(1), Schema.String]).annotate(
    documented("2.2", "Integer: id of a public or private image. String: slug of a public image.")
  ),
  ssh_keys: Schema.optional(
    Schema.Union([Schema.Array(Schema.Union([Schema.String, Schema.Int])), Schema.String])
  ).annotate(documented("2.2", "SSH key fingerprints or ids; some examples send a single string.")),
  backups: Schema.optional(Schema.Boolean).annotate(
    documented("2.2", "Automated backups. Can only be enabled when the node is created.")
  ),
  tags: Schema.optional(Schema.Array(Schema.String)).annotate(documented("2.2", "Tag names to attach.")),
  is_saved_image: Schema.optional(Schema.Boolean).annotate(
    documented("2.2", "True when `image` refers to a saved image.")
  ),
  saved_image_template_id: Schema.optional(Schema.NullOr(Schema.Int)).annotate(
    documented("2.2", "Template id of the saved image.")
  ),
  cn_id: Schema.optional(wholeNumber(0)).annotate(documented("2.2", "The committed_sku_id of the plan.")),
  label: Schema.optional(Schema.String).annotate(documented("2.2", "Seen in an example.")),
  enable_security_agent: Schema.optional(Schema.Boolean).annotate(documented("2.2", "Seen in an example.")),
  disable_password: Schema.optional(Schema.Boolean).annotate(documented("2.2", "Seen in an example.")),
  reserve_ip: Schema.optional(Schema.String).annotate(documented("2.2", "Seen in an example, empty.")),
  is_ipv6_availed: Schema.optional(Schema.Boolean).annotate(documented("2.2", "Seen in an example.")),
  vpc_id: Schema.optional(Schema.String).annotate(documented("2.2", "Seen in an example, empty.")),
  default_public_ip: Schema.optional(Schema.Boolean).annotate(documented("2.2", "Seen in an example.")),
  ngc_container_id: Schema.optional(Schema.NullOr(Schema.Int)).annotate(documented("2.2", "Null seen in an example.")),
  security_group_id: Schema.optional(Schema.Int).annotate(documented("2.2", "Seen in an example.")),
  start_scripts: Schema.optional(Schema.Array(Schema.String)).annotate(
    documented("2.2", "Seen in an example as an empty array.")
  )
}).annotate({
  identifier: "NodeCreation",
  ...observed(14, "Node creation request; clients of this family also send `project_id` and `location`.")
})
export interface NodeCreation extends Schema.Schema.Type<typeof NodeCreation> {}
