/**
 * Computes what changed between two readings of nodes, and which nodes fit on a screen. Pure.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { label, type NodeStatus } from "@berthkit/core/domain/NodeStatus"
import type { DateTime } from "effect"
import type { NodeChange } from "../records/nodeChange.ts"

/** Nodes at one time, by id. */
export type Reading = ReadonlyMap<Node["id"], Node>

const isSame = (a: NodeStatus | null, b: NodeStatus | null): boolean =>
  a === null || b === null ? a === b : label(a) === label(b)

/** The changes from one reading to the next, in the order of ids. */
export const changesBetween = (before: Reading, after: Reading, at: DateTime.Utc): ReadonlyArray<NodeChange> => {
  const ids = new Set([...before.keys(), ...after.keys()])
  return Array.from(ids)
    .toSorted((a, b) => a - b)
    .flatMap((id): ReadonlyArray<NodeChange> => {
      const [was, is] = [before.get(id), after.get(id)]
      const name = is?.name ?? was?.name ?? ""
      const [from, to] = [was?.status ?? null, is?.status ?? null]
      return isSame(from, to) ? [] : [{ at, id, name, from, to }]
    })
}

/** The nodes that fit on this many lines. Nodes in transition are chosen first. */
export const fitting = (nodes: ReadonlyArray<Node>, lines: number): ReadonlyArray<Node> => {
  if (nodes.length <= lines) return nodes
  const isLasting = ({ status }: Node) => status === "running" || status === "power-off"
  const first = new Set([...nodes.filter((node) => !isLasting(node)), ...nodes.filter(isLasting)].slice(0, lines))
  return nodes.filter((node) => first.has(node))
}
