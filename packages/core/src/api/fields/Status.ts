/**
 * Reads a node's status in the service's spellings: any case, with spaces, `-` or `_`, and the service's own words (interface.md §3, A10).
 */
import { Predicate } from "effect"
import type { KnownStatus, NodeStatus } from "../../domain/NodeStatus.ts"

const spellings = new Map<string, KnownStatus>(
  Object.entries({
    create: "creating",
    creating: "creating",
    created: "created",
    running: "running",
    "power-off": "power-off",
    poweroff: "power-off",
    poweredoff: "power-off",
    terminate: "terminate",
    terminating: "terminate",
    terminated: "terminate"
  } as const)
)

/** The status. Unknown spellings are kept and never rejected; a missing status is unknown without a spelling. */
export const status = (wire: unknown): NodeStatus => {
  if (!Predicate.isString(wire)) return { unknown: wire === undefined || wire === null ? "" : JSON.stringify(wire) }
  const known = spellings.get(wire) ?? spellings.get(wire.toLowerCase().replace(/[\s_-]/g, ""))
  return known ?? { unknown: wire }
}
