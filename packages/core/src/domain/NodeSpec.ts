/**
 * The specification of a create, which returns a `Node`.
 */
import { Schema } from "effect"
import { CommitmentSetting } from "./Commitment.ts"

/** The only region of the service (interface.md §1). */
export const Region = Schema.Literals(["ncr"])
export type Region = typeof Region.Type

const notBlank = Schema.isPattern(/\S/, { expected: "a text, but it is empty" })

/**
 * The node to create (interface.md §2.2). Only `name`, `plan` and `image` are required. Omitted fields are not sent, so the service's
 * undocumented defaults apply.
 */
export const NodeSpec = Schema.Struct({
  /** Name of the node, 1 to 255 characters, not blank. Names may repeat (A14). */
  name: Schema.String.check(notBlank, Schema.isMaxLength(255)),
  /** Plan slug, such as `C-4VCPU-16RAM-100DISK`. */
  plan: Schema.String.check(notBlank),
  /** Slug of a public image, or id of a public or private one. */
  image: Schema.Union([Schema.String.check(notBlank), Schema.Int]),
  /** Default `ncr`, the only region. */
  region: Schema.optional(Region),
  /** The SSH keys to install for root: fingerprints or ids. A service with projects installs only keys that are given as public keys. */
  sshKeys: Schema.optional(Schema.Array(Schema.String)),
  tags: Schema.optional(Schema.Array(Schema.String)),
  /** Automated backups; can only be turned on here (interface.md §8). */
  backups: Schema.optional(Schema.Boolean),
  /** Template id; present when `image` is a saved image of the account. */
  savedImageTemplateId: Schema.optional(Schema.Int),
  /** The committed option of the plan for the first period. */
  committedSkuId: Schema.optional(Schema.Int),
  /** What happens at the end of that commitment. */
  commitmentSetting: Schema.optional(CommitmentSetting),
  /** Size of the disk in GB, at least 1. Some series need it, because their plans have a disk of 0 GB. */
  disk: Schema.optional(Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))),
  label: Schema.optional(Schema.String),
  securityAgent: Schema.optional(Schema.Boolean),
  disablePassword: Schema.optional(Schema.Boolean),
  reservedIp: Schema.optional(Schema.String),
  ipv6: Schema.optional(Schema.Boolean),
  vpcId: Schema.optional(Schema.String),
  /** Whether the node gets a public address. */
  publicIp: Schema.optional(Schema.Boolean),
  containerId: Schema.optional(Schema.Int),
  securityGroupId: Schema.optional(Schema.Int),
  startScripts: Schema.optional(Schema.Array(Schema.String)),
  /**
   * Additional fields of the request under their wire names, with JSON values. A field that Berth has a name for is refused, and so is
   * `number_of_instances`, because a create makes one node.
   */
  extra: Schema.optional(Schema.Record(Schema.String, Schema.Unknown))
}).annotate({ identifier: "NodeSpec" })
export interface NodeSpec extends Schema.Schema.Type<typeof NodeSpec> {}
