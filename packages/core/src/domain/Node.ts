/**
 * A node: a virtual machine of the account, whichever of the service's record shapes it came in.
 */
import { Schema } from "effect"
import { NodeStatus } from "./NodeStatus.ts"

/** The service's number for a node: a positive integer, never reused (interface.md §4 note 2, decision 11). */
export const NodeId = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).pipe(Schema.brand("NodeId"))
export type NodeId = typeof NodeId.Type

/**
 * What is known of a node. `null` is "the reply did not say": the three record shapes carry different fields, and a
 * field that could not be read is `null` here and kept raw under `extra`.
 */
export const Node = Schema.Struct({
  id: NodeId,
  name: Schema.String,
  status: NodeStatus,
  createdAt: Schema.DateTimeUtc.annotate({ description: "When the service accepted the node, to the millisecond." }),
  vcpus: Schema.NullOr(Schema.Number).annotate({ description: "Virtual CPUs." }),
  memoryMib: Schema.NullOr(Schema.Number).annotate({ description: "Memory in MiB." }),
  diskGb: Schema.NullOr(Schema.Number).annotate({ description: "Disk in GB (10^9 bytes)." }),
  publicIp: Schema.NullOr(Schema.String).annotate({ description: "Public IPv4 address; null when there is none." }),
  privateIp: Schema.NullOr(Schema.String).annotate({ description: "Private IPv4 address; null when there is none." }),
  plan: Schema.NullOr(Schema.String).annotate({ description: "Plan slug." }),
  image: Schema.NullOr(Schema.String).annotate({ description: "Image the node was made from." }),
  region: Schema.NullOr(Schema.String).annotate({ description: "Region; the service has only `ncr`." }),
  backups: Schema.NullOr(Schema.Boolean).annotate({ description: "Whether automated backups are on." }),
  locked: Schema.NullOr(Schema.Boolean).annotate({ description: "Whether the node refuses user actions." }),
  tags: Schema.Array(Schema.String).annotate({ description: "Tags; empty also when the reply has none." }),
  extra: Schema.Record(Schema.String, Schema.Unknown).annotate({
    description: "Fields of the reply that Berth does not know or could not read, under their wire names."
  })
}).annotate({ identifier: "Node" })
export interface Node extends Schema.Schema.Type<typeof Node> {}
