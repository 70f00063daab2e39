/**
 * Finds nodes that may belong to a member, in addition to the one in the ledger: the result of an unanswered create, a second node of its
 * name, and the old node of an unfinished replacement. Pure.
 */
import { isSpelling } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import type { Entry, Owned } from "./Ledger.ts"
import { bySpelling } from "./bySpelling.ts"

/**
 * Ids of the nodes that a member's unanswered create may have made, in ascending order. These are the nodes with its name, in any spelling,
 * that are in no ledger, and the nodes that this machine recorded as candidates.
 */
export const candidatesFor = (
  { pending }: Pick<Entry, "pending">,
  nodes: Iterable<Node>,
  isTaken: (id: number) => boolean,
  recorded: ReadonlyArray<number> = []
): ReadonlyArray<number> => {
  if (pending === undefined) return []
  const named = bySpelling(nodes)(pending.name).flatMap(({ id, status }) => (status === "terminate" ? [] : [id]))
  return Array.from(new Set([...named, ...recorded].filter((id) => !isTaken(id)))).toSorted((a, b) => a - b)
}

/**
 * Whether a member's unanswered create may have made this node, by its name or by this machine's record of candidates. If the node's name
 * is not known (null), the create may have made it.
 */
export const mayHaveMade = (
  { pending }: Pick<Entry, "pending">,
  { id, name }: Pick<Node, "id"> & { readonly name: string | null },
  recorded: ReadonlyArray<number> = []
): boolean => pending !== undefined && (name === null || recorded.includes(id) || isSpelling(name, pending.name))

/** Lists the nodes that an unanswered create may have made, as the end of a sentence; empty if there are none. */
export const candidatesText = (ids: ReadonlyArray<number>): string =>
  ids.length === 0
    ? ""
    : ids.length === 1
      ? `; node ${ids[0]} may be its own`
      : `; one of the nodes ${ids.join(", ")} may be its own`

/**
 * Nodes that may be a second node of a member: they have its name in some spelling and are in no other fleet's ledger. Plan and image prove
 * nothing, because another machine may apply another version of the file. A member with an unanswered create has none here, because a node
 * of its name may be the result of that create.
 */
export const nodesBesides = (
  entries: Iterable<Entry>,
  nodes: ReadonlyMap<number, Node>,
  elsewhere: ReadonlySet<number>
): ReadonlyArray<{ readonly entry: Entry; readonly node: Node; readonly own: Owned }> => {
  const all = Array.from(entries)
  const owned = new Set(all.flatMap(({ node, previous }) => [node, previous].flatMap((each) => each?.id ?? [])))
  const named = bySpelling(nodes.values())
  return all.flatMap((entry) => {
    const { node: own, pending } = entry
    if (own === undefined || pending !== undefined) return []
    // A service that shows the full name of the member's own node does not cut the same name of a second node.
    const shown = nodes.get(own.id)?.name
    return named(shown ?? own.name)
      .filter(({ id, status }) => !owned.has(id) && !elsewhere.has(id) && status !== "terminate")
      .filter(({ name }) => shown === undefined || isSpelling(shown, name))
      .map((node) => ({ entry, node, own }))
  })
}

/**
 * Members whose replacement is unfinished, so that the ledger has two nodes for them. `node` is the old one, which exists. `own` is the new
 * one, which is not gone.
 */
export const unfinishedOf = (
  entries: Iterable<Entry>,
  nodes: ReadonlyMap<number, Node>,
  isGone: (id: number) => boolean
): ReturnType<typeof nodesBesides> =>
  Array.from(entries).flatMap((entry) => {
    const { node: own, previous } = entry
    const node = previous && nodes.get(previous.id)
    const isThere = ({ status }: Node) => status !== "terminate"
    if (own === undefined || node === undefined || !isThere(node) || isGone(own.id)) return []
    const made = nodes.get(own.id)
    return made === undefined || isThere(made) ? [{ entry, node, own }] : []
  })
