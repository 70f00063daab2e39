/**
 * Addresses as lists and single reads state them. The two shapes of a record may differ for good, as an address in one and none in
 * the other: a change is between two statements of the same shape.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeState } from "./NodeState.ts"
import { isUnread } from "./Stated.ts"

interface Addresses {
  publicIp: Node["publicIp"]
  privateIp: Node["privateIp"]
}

/** What the last record of each shape stated of a node; null before the first. */
export interface Statements {
  readonly list: Readonly<Addresses> | null
  readonly read: Readonly<Addresses> | null
}

const fields = ["publicIp", "privateIp"] as const

const addressesOf = ({ privateIp, publicIp }: Node): Addresses => ({ privateIp, publicIp })

const isEqual = (a: Readonly<Addresses> | null, b: Readonly<Addresses>): boolean =>
  a !== null && fields.every((field) => a[field] === b[field])

/**
 * The record, with those addresses as they are known in which it only differs from the other shape; and what the shapes have stated
 * then. Nodes that are read singly are remembered: of all others the list states what is known.
 */
export const ofSameShape = (
  kept: Statements | undefined,
  shown: Node,
  { listed, node: known }: NodeState,
  shape: "list" | "read"
): { readonly node: Node; readonly statements: Statements | undefined } => {
  if (kept === undefined && shape === "list" && listed) return { node: shown, statements: kept }
  const statements = kept ?? { list: null, read: null, [listed ? "list" : "read"]: addressesOf(known) }
  const last = statements[shape]
  const stated = { ...(last ?? addressesOf(known)) }
  const believed = addressesOf(shown)
  for (const field of fields) {
    const value = shown[field]
    if (isUnread(shown, field)) continue
    // An address where none was known is news, whatever shape has it.
    const isNews = last === null ? known[field] === null : value !== last[field]
    if (!isNews) believed[field] = known[field]
    stated[field] = value
  }
  return {
    node: isEqual(believed, shown) ? shown : { ...shown, ...believed },
    statements: isEqual(last, stated) ? kept : { ...statements, [shape]: stated }
  }
}
