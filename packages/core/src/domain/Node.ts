/**
 * A node: a virtual machine of the account, independent of the service's record shapes.
 */
import { Schema } from "effect"
import { NodeStatus } from "./NodeStatus.ts"

/** The service's number for a node: a positive integer, never reused (interface.md §4 note 2, A11). */
// The schema is made by a call that is marked as pure, so a bundler can drop it: the promise client uses no schemas.
export const NodeId = /*#__PURE__*/ (() =>
  Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)).pipe(Schema.brand("NodeId")))()
export type NodeId = typeof NodeId.Type

/**
 * The known fields of a node. `null` means that the reply does not state the field, because the three record shapes have different fields.
 * An unreadable field is `null` here and kept raw under `extra`.
 */
export const Node = /*#__PURE__*/ Schema.Struct({
  /** The service's number for the node: a positive integer, never reused. */
  id: NodeId,
  name: Schema.String,
  status: NodeStatus,
  /** When the service accepted the node, to the millisecond. Null if the reply has no date: the lists of some services have none. */
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
  /** Whether the node rejects user actions. */
  locked: Schema.NullOr(Schema.Boolean),
  /** Whether the service says that the node is committed for a period. Only some replies about one node say so. */
  committed: Schema.NullOr(Schema.Boolean),
  /** Tags; also empty if the reply has none. */
  tags: Schema.Array(Schema.String),
  /** Fields of the reply that Berth does not know or could not read, under their wire names. */
  extra: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "Node" })
export interface Node extends Schema.Schema.Type<typeof Node> {}

/** Fields in which `null` means that the node has no value. In all others, `null` may just mean that the reply omits the field. */
export const noneWhenNull = ["publicIp", "privateIp"] as const satisfies ReadonlyArray<keyof Node>

/** When the service accepted the node, in milliseconds since 1970; null if no reply says so. */
export const createdMillisOf = ({ createdAt }: Pick<Node, "createdAt">): number | null =>
  createdAt && createdAt.epochMilliseconds
