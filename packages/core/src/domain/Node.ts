/**
 * A node: a virtual machine of the account, whichever of the service's record shapes it came in.
 */
import { Schema } from "effect"
import { NodeStatus } from "./NodeStatus.ts"

/** The service's number for a node: a positive integer, never reused (interface.md §4 note 2, A11). */
// A call, so that a bundler can leave it out: the promise client uses no schema.
export const NodeId = /*#__PURE__*/ (() =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).pipe(Schema.brand("NodeId")))()
export type NodeId = typeof NodeId.Type

/**
 * What is known of a node. `null` means that the reply does not state it: the three record shapes carry different fields. A
 * field that could not be read is `null` here and kept raw under `extra`.
 */
export const Node = /*#__PURE__*/ Schema.Struct({
  /** The service's number for it: a positive integer, never reused. */
  id: NodeId,
  name: Schema.String,
  status: NodeStatus,
  /** When the service accepted the node, to the millisecond. Null where the reply has no date: lists of some services have none. */
  createdAt: Schema.NullOr(Schema.DateTimeUtc),
  /** Virtual CPUs. */
  vcpus: Schema.NullOr(Schema.Number),
  /** Memory in MiB. */
  memoryMib: Schema.NullOr(Schema.Number),
  /** Disk in GB (10^9 bytes). */
  diskGb: Schema.NullOr(Schema.Number),
  /** Public IPv4 address; null when there is none. */
  publicIp: Schema.NullOr(Schema.String),
  /** Private IPv4 address; null when there is none. */
  privateIp: Schema.NullOr(Schema.String),
  /** Plan slug. */
  plan: Schema.NullOr(Schema.String),
  /** Image the node was made from. */
  image: Schema.NullOr(Schema.String),
  /** Region; the service has only `ncr`. */
  region: Schema.NullOr(Schema.String),
  /** Whether automated backups are on. */
  backups: Schema.NullOr(Schema.Boolean),
  /** Whether the node refuses user actions. */
  locked: Schema.NullOr(Schema.Boolean),
  /** Whether the service says that the node is committed for a period. Only some replies about one node say so. */
  committed: Schema.NullOr(Schema.Boolean),
  /** Tags; empty also when the reply has none. */
  tags: Schema.Array(Schema.String),
  /** Fields of the reply that Berth does not know or could not read, under their wire names. */
  extra: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "Node" })
export interface Node extends Schema.Schema.Type<typeof Node> {}

/** In these fields `null` means that the node has none. In all others it may only mean that the reply left it out. */
export const noneWhenNull = ["publicIp", "privateIp"] as const satisfies ReadonlyArray<keyof Node>

/** When the service accepted the node, in milliseconds since 1970; null where no reply said so. */
export const createdMillisOf = ({ createdAt }: Pick<Node, "createdAt">): number | null =>
  createdAt && createdAt.epochMilliseconds
