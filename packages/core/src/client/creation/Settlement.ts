/**
 * Which node came of a create whose reply was lost: the pure judgement over what is listed now. It never guesses; where
 * two explanations are left it says so.
 */
import { DateTime } from "effect"
import type { Node, NodeId } from "../../domain/Node.ts"
import type { Intent } from "./Intent.ts"

/** What the list says about an intent. */
export type Settlement =
  | { readonly _tag: "Found"; readonly node: Node }
  /** No node can have come of it. */
  | { readonly _tag: "Absent" }
  /** More nodes than this client has lost replies for: one of them is somebody else's. */
  | { readonly _tag: "Ambiguous"; readonly candidates: ReadonlyArray<Node> }

/** What the judgement rests on. */
export interface Evidence {
  readonly intent: Intent
  /** Nodes with an id above the intent's watermark, all of them. */
  readonly newer: ReadonlyArray<Node>
  /** Nodes this client knows to belong to other creates. */
  readonly claimed: ReadonlySet<NodeId>
  /** Creates of this client alike in name and plan whose replies are lost, this one included. */
  readonly lostAlike: number
}

/** Whether a node can have come of an intent: same name and plan, newer in number and in time. */
export const mayComeOf = (intent: Intent, node: Node): boolean =>
  node.id > intent.newerThan &&
  node.name === intent.name &&
  (node.plan === null || node.plan === intent.plan) &&
  (node.image === null || node.image === intent.image) &&
  DateTime.toEpochMillis(node.createdAt) >= intent.serviceTimeMillis

/**
 * Settles one intent. With as many candidates as lost creates alike each of them is one of ours, and as they are alike any
 * of them will do; the oldest is taken.
 */
export const settle = ({ claimed, intent, lostAlike, newer }: Evidence): Settlement => {
  const candidates = newer
    .filter((node) => !claimed.has(node.id) && mayComeOf(intent, node))
    .toSorted((a, b) => a.id - b.id)
  const [oldest] = candidates
  if (oldest === undefined) return { _tag: "Absent" }
  return candidates.length > lostAlike ? { _tag: "Ambiguous", candidates } : { _tag: "Found", node: oldest }
}
