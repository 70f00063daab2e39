/**
 * Finds nodes that may belong to a member besides the one in the ledger: the result of an open create, a second node of its name, and the old
 * node of an unfinished replacement. Pure.
 */
import { isSpelling } from "@berthkit/core/client/creation/Ownership"
import type { Node } from "@berthkit/core/domain/Node"
import type { Entry, Owned } from "./Ledger.ts"
import { bySpelling } from "./bySpelling.ts"

/**
 * Nodes that the open create of a member may have made, in ascending order: those of its name, in some spelling, that no ledger has, and
 * those that this machine took for possible ones.
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

/** Which nodes an open create may have made, as the end of a sentence; empty if none is known. */
export const candidatesText = (ids: ReadonlyArray<number>): string =>
  ids.length === 0
    ? ""
    : ids.length === 1
      ? `; node ${ids[0]} may be its own`
      : `; one of the nodes ${ids.join(", ")} may be its own`

/**
 * Nodes that may be a second node of a member: they have its name in some spelling, and are in no other fleet's ledger. Their plan and image
 * prove nothing: another machine may apply another version of the file. While a create of the member is open, a node of its name may be the
 * result.
 */
export const twinsOf = (
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
    // A service that shows the member's own name whole would not cut that of its twin.
    const shown = nodes.get(own.id)?.name
    return named(shown ?? own.name)
      .filter(({ id, status }) => !owned.has(id) && !elsewhere.has(id) && status !== "terminate")
      .filter(({ name }) => shown === undefined || isSpelling(shown, name))
      .map((node) => ({ entry, node, own }))
  })
}

/**
 * Members that have two nodes in the ledger because a replacement was begun and not finished: `node` is the old one, which exists, and
 * `own` the new one, which is not gone.
 */
export const unfinishedOf = (
  entries: Iterable<Entry>,
  nodes: ReadonlyMap<number, Node>,
  isGone: (id: number) => boolean
): ReturnType<typeof twinsOf> =>
  Array.from(entries).flatMap((entry) => {
    const { node: own, previous } = entry
    const node = previous && nodes.get(previous.id)
    const isThere = ({ status }: Node) => status !== "terminate"
    if (own === undefined || node === undefined || !isThere(node) || isGone(own.id)) return []
    const made = nodes.get(own.id)
    return made === undefined || isThere(made) ? [{ entry, node, own }] : []
  })
