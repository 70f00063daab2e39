/**
 * Finds the nodes that must run before a plan deletes other nodes, because each may be meant to replace a deleted node. Pure.
 */
import type { Node } from "@berthkit/core/domain/Node"
import { isFailed } from "@berthkit/core/domain/NodeStatus"
import type { Change, Plan } from "./Change.ts"
import type { Ledger } from "./Ledger.ts"
import { type Member, memberText } from "./Member.ts"

/** A change that keeps the member's node. */
type Staying = Extract<Change, { readonly action: "unchanged" | "commit" | "differs" | "unsure" }>

const staying: ReadonlyArray<Change["action"]> = ["unchanged", "commit", "differs", "unsure"]

const isComing = ({ status }: Node): boolean => status === "creating" || status === "created" || isFailed(status)

const nodesThatStay = (changes: ReadonlyArray<Change>): ReadonlyArray<readonly [Staying, Node]> =>
  changes.flatMap((change) => {
    if (!staying.includes(change.action)) return []
    const { node } = change as Staying
    return node === null ? [] : [[change as Staying, node] as const]
  })

/** Staying members that do not run yet: each may be meant to replace a node that is to be deleted. */
export const unsettledOf = (changes: ReadonlyArray<Change>): ReadonlyArray<Staying> =>
  nodesThatStay(changes).flatMap(([change, node]) => (isComing(node) ? [change] : []))

/** Staying members whose node is younger than one of these nodes, and may therefore replace it. */
export const youngerOf = (
  changes: ReadonlyArray<Change>,
  deleted: ReadonlyArray<Pick<Node, "id">>
): ReadonlyArray<readonly [Staying, Node]> =>
  nodesThatStay(changes).filter(([, node]) => deleted.some(({ id }) => id < node.id))

/** Staying members whose node may replace one of these nodes. The node is younger, is starting, or was given up by an earlier plan. */
export const replacingOf = (
  changes: ReadonlyArray<Change>,
  deleted: ReadonlyArray<Pick<Node, "id">>,
  { members }: Pick<Ledger, "members">
): ReadonlyArray<readonly [Staying, Node]> =>
  nodesThatStay(changes).filter(
    ([change, node]) =>
      deleted.some(({ id }) => id < node.id) ||
      isComing(node) ||
      members.get(memberText(change.member))?.awaited === true
  )

/**
 * Staying members whose node may replace one of these nodes, but is off or has an unknown status. Even an older node
 * may replace a younger one: a user who renames a group and then undoes that asks for the old nodes again.
 */
export const stoppedOf = (
  changes: ReadonlyArray<Change>,
  deleted: ReadonlyArray<Pick<Node, "id">>,
  { members }: Pick<Ledger, "members">
): ReadonlyArray<readonly [Staying, Node]> => {
  if (deleted.length === 0) return []
  return replacingOf(changes, deleted, { members }).filter(([, node]) => node.status !== "running" && !isComing(node))
}

/**
 * New values of `awaited` in the ledger, by member. True if the plan gives the member up, because a later file may ask
 * for its node again, which a run must then see running first. False if the node of a wanted member was seen running.
 */
export const awaitedOf = ({ changes }: Plan): ReadonlyArray<readonly [Member, boolean]> =>
  changes.flatMap((change): ReadonlyArray<readonly [Member, boolean]> => {
    const isGivenUp =
      (change.action === "delete" && change.why !== "destroy") ||
      change.action === "kept" ||
      (change.action === "doubted" && !change.isWanted)
    if (isGivenUp) return [[change.member, true]]
    const isSeen = nodesThatStay([change]).some(([, { status }]) => status === "running")
    return isSeen ? [[change.member, false]] : []
  })
