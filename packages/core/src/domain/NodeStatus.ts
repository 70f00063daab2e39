/**
 * The status of a node in Berth's spelling; `api/fields/Status.ts` reads the service's.
 */
import { Predicate, Schema } from "effect"
import { knownStatuses } from "./knownStatuses.ts"

export { knownStatuses }

/** A status that Berth knows. */
export type KnownStatus = (typeof knownStatuses)[number]
export const KnownStatus = /*#__PURE__*/ Schema.Literals(knownStatuses).annotate({ identifier: "KnownStatus" })

/** An unknown status in the service's spelling (A10); empty if the service states none. */
export const UnknownStatus = /*#__PURE__*/ Schema.Struct({ unknown: Schema.String }).annotate({
  identifier: "UnknownStatus",
  description: "A status that Berth does not know, in the service's own spelling; empty if the service states none."
})
export interface UnknownStatus extends Schema.Schema.Type<typeof UnknownStatus> {}

/** A node's status: one of the known ones, or `{ unknown }` with the service's spelling. */
export const NodeStatus = /*#__PURE__*/ Schema.Union([KnownStatus, UnknownStatus])
export type NodeStatus = typeof NodeStatus.Type

/** Whether Berth knows this status. */
export const isKnown = (status: NodeStatus): status is KnownStatus => Predicate.isString(status)

/** The status as text for programs: an unknown one in the service's spelling, empty if none is stated. */
export const spelling = (status: NodeStatus): string => (isKnown(status) ? status : status.unknown)

/** Whether the service states no status. */
export const isUnstated = (status: NodeStatus): boolean => spelling(status).trim() === ""

/** The status in one or two words for people: an unknown one in the service's spelling. */
export const label = (status: NodeStatus): string => (isUnstated(status) ? "not stated" : spelling(status))

/** Statuses from which a node can still reach the wanted one by itself (A11). */
const reachableFrom: Record<KnownStatus, ReadonlyArray<KnownStatus>> = {
  creating: ["creating"],
  created: ["creating", "created"],
  running: ["creating", "created", "running", "power-off"],
  "power-off": ["creating", "created", "running", "power-off"],
  terminate: ["creating", "created", "running", "power-off", "terminate"]
}

const failedWord = /(?:^|[^a-z])(?:error|errored|fail|failed|failure)(?:$|[^a-z])/i

/**
 * Whether the service's word for the status says that the node has failed, such as `error` or `BUILD_FAILED`. No known status says so.
 */
export const isFailed = (status: NodeStatus): boolean => !isKnown(status) && failedWord.test(status.unknown)

/**
 * Whether a node in `status` may still become `wanted` by itself. An unknown status rules nothing out, unless it says that the node has
 * failed (decision 0083).
 */
export const mayBecome = (status: NodeStatus, wanted: KnownStatus): boolean =>
  isKnown(status) ? reachableFrom[wanted].includes(status) : !isFailed(status)
