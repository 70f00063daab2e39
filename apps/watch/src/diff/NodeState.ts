/**
 * What the daemon knows of one node for good, one row of the store: plain values that outlive the process. What only this
 * process saw, such as instants of its own clock and suspicions, is `Evidence`.
 */
import { Node } from "@berthkit/core/domain/Node"
import type { NodeStatus } from "@berthkit/core/domain/NodeStatus"
import { DateTime, Schema } from "effect"

const millis = Schema.Int.annotate({ description: "Milliseconds since the epoch, on the daemon's wall clock." })

export const NodeState = Schema.Struct({
  /** As it was last believed to be; of a field that the last record lacked, the value of an earlier one. */
  node: Node,
  /** Seconds since the epoch at which the service accepted the node: distinguishes two nodes of one id. */
  incarnation: Schema.Int,
  /** 1, and one more each time it returned after it was reported deleted. */
  life: Schema.Int,
  /** One more with each change that is reported of this incarnation: from 0, or for a node of the baseline from its time in milliseconds. */
  version: Schema.Int,
  /** When the reply was asked for that showed it last before this was written. A listed node was also seen by the sweeps since then. */
  seenMillis: millis,
  /** Whether the last complete sweep had it. */
  listed: Schema.Boolean,
  /** When its present status was first seen. */
  statusSinceMillis: millis,
  /** Whether it is reported to be stuck in its present status. */
  stuck: Schema.Boolean,
  /** When it was proved to be gone; null while it exists. With it, this is the node's tombstone. */
  goneMillis: Schema.NullOr(millis)
}).annotate({ identifier: "NodeState" })
export interface NodeState extends Schema.Schema.Type<typeof NodeState> {}

/** The state as JSON and back: the body of the store's row. */
export const NodeStateJson = Schema.fromJsonString(Schema.toCodecJson(NodeState))

/** A status that a node passes through by itself (A11). */
export type Passing = "creating" | "created" | "terminate"

export const isPassing = (status: NodeStatus): status is Passing =>
  status === "creating" || status === "created" || status === "terminate"

/** The second in which the service accepted the node. */
export const incarnationOf = ({ createdAt }: Node): number => Math.floor(DateTime.toEpochMillis(createdAt) / 1000)

/**
 * How the incarnation of `node` compares with one that was accepted at `createdMillis`: a shape of the record may leave the
 * fractions of the second out, so less than a second is no difference. An older one never comes after a newer one.
 */
export const compareIncarnation = (node: Node, createdMillis: number): "older" | "same" | "newer" => {
  const apart = DateTime.toEpochMillis(node.createdAt) - createdMillis
  return Math.abs(apart) < 1000 ? "same" : apart < 0 ? "older" : "newer"
}
