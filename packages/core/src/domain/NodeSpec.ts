/**
 * What is asked for when a node is created. What comes back is a `Node`.
 */
import { Schema } from "effect"

/** The only region of the service (interface.md §1). */
export const Region = Schema.Literals(["ncr"])
export type Region = typeof Region.Type

const notBlank = Schema.isPattern(/\S/, { expected: "a text that is not blank" })

/**
 * The wish for a node (interface.md §2.2). Only `name`, `plan` and `image` are needed. What is left out is not sent, so
 * the service's own default holds; those defaults are not documented.
 */
export const NodeSpec = Schema.Struct({
  name: Schema.String.check(notBlank, Schema.isMaxLength(255)).annotate({
    description: "Name of the node, 1 to 255 characters, not blank. Names may repeat (decision 14)."
  }),
  plan: Schema.String.check(notBlank).annotate({ description: "Plan slug, such as `C-4VCPU-16RAM-100DISK`." }),
  image: Schema.Union([Schema.String.check(notBlank), Schema.Int]).annotate({
    description: "Slug of a public image, or id of a public or private one."
  }),
  region: Schema.optional(Region).annotate({ description: "Default `ncr`, the only one." }),
  sshKeys: Schema.optional(Schema.Array(Schema.String)).annotate({
    description: "Fingerprints or ids of the keys to install for root."
  }),
  tags: Schema.optional(Schema.Array(Schema.String)),
  backups: Schema.optional(Schema.Boolean).annotate({
    description: "Automated backups; can only be turned on here (interface.md §8)."
  }),
  savedImageTemplateId: Schema.optional(Schema.Int).annotate({
    description: "Template id; its presence says that `image` is a saved image of the account."
  }),
  committedSkuId: Schema.optional(Schema.Int).annotate({ description: "Committed option of the plan to start with." }),
  label: Schema.optional(Schema.String),
  securityAgent: Schema.optional(Schema.Boolean),
  disablePassword: Schema.optional(Schema.Boolean),
  reservedIp: Schema.optional(Schema.String),
  ipv6: Schema.optional(Schema.Boolean),
  vpcId: Schema.optional(Schema.String),
  publicIp: Schema.optional(Schema.Boolean).annotate({ description: "Whether the node gets a public address." }),
  containerId: Schema.optional(Schema.Int),
  securityGroupId: Schema.optional(Schema.Int),
  startScripts: Schema.optional(Schema.Array(Schema.String))
}).annotate({ identifier: "NodeSpec" })
export interface NodeSpec extends Schema.Schema.Type<typeof NodeSpec> {}
