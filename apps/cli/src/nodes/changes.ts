/**
 * What changed between two readings of nodes, and which of them a screen has room for. Pure.
 */
import type { Node } from "@berth/core/domain/Node"
import { label } from "@berth/core/domain/NodeStatus"

/** A node that came, went, or has another status. */
export interface NodeChange {
  readonly id: number
  readonly name: string
  /** Null for a node that is new. */
  readonly from: string | null
  /** Null for a node that is gone. */
  readonly to: string | null
}

export type Reading = ReadonlyMap<number, Node>

/** The changes, in the order of the ids. */
export const changesBetween = (before: Reading, after: Reading): ReadonlyArray<NodeChange> => {
  const ids = new Set([...before.keys(), ...after.keys()])
  return Array.from(ids)
    .toSorted((a, b) => a - b)
    .flatMap((id): ReadonlyArray<NodeChange> => {
      const [was, is] = [before.get(id), after.get(id)]
      const name = is?.name ?? was?.name ?? ""
      const from = was === undefined ? null : label(was.status)
      const to = is === undefined ? null : label(is.status)
      return from === to ? [] : [{ id, name, from, to }]
    })
}

/** The nodes that fit on so many lines, those that are changing first. */
export const fitting = (nodes: ReadonlyArray<Node>, lines: number): ReadonlyArray<Node> => {
  if (nodes.length <= lines) return nodes
  const isLasting = ({ status }: Node) => status === "running" || status === "power-off"
  const first = new Set([...nodes.filter((node) => !isLasting(node)), ...nodes.filter(isLasting)].slice(0, lines))
  return nodes.filter((node) => first.has(node))
}
