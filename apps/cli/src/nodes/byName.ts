/**
 * Finds nodes by name, which needs the list.
 */
import type { LeftOutRecord } from "@berthkit/core/client/listing/Listed"
import { setAsideNodes } from "@berthkit/core/client/listing/setAsideNodes"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { ListNotWhole } from "../failure/CliFailure.ts"
import { lane, wholeList } from "./allNodes.ts"
import type { Naming } from "./Target.ts"

/** A found node. `isRead` says that its record is the reply to a get, which has more fields than the list. */
export interface Seen {
  readonly node: Node
  readonly isRead: boolean
}

/** The result of a search. */
export interface ByName {
  /** The nodes whose name matches. */
  readonly nodes: ReadonlyArray<Seen>
  /** The names of all nodes, for a hint if none matches. */
  readonly names: () => ReadonlyArray<string>
  /** Whether the result is certainly complete: the pages of some services do not show where the list ends. */
  readonly isWhole: boolean
}

/** The result before any search. */
export const unsearched: ByName = { nodes: [], names: () => [], isWhole: true }

/**
 * Reads the nodes whose records in the list are unreadable. A command that only shows nodes ignores failures if the list has shown a
 * matching node.
 */
const behind = Effect.fnUntraced(function* (
  unreadable: ReadonlyArray<LeftOutRecord>,
  matches: (name: string) => boolean,
  { change, found }: { readonly change: boolean; readonly found: boolean }
): Effect.fn.Return<ReadonlyArray<Seen>, BerthError, Nodes> {
  const nodes = yield* Nodes
  const records = change ? unreadable : unreadable.filter(({ id, name }) => id !== null && name !== null)
  const read = setAsideNodes(records, matches, (id) => nodes.get(id, { lane }))
  const certain = change || !found ? read : Effect.orElseSucceed(read, () => [])
  return (yield* certain).map((node) => ({ node, isRead: true }))
})

/**
 * The nodes with matching names, in the order of the list. If the command will change the nodes, fails unless the
 * result is certainly complete or the caller checks that itself (`isPartialAllowed`).
 */
export const byName = Effect.fn("byName")(function* (
  matches: (name: string) => boolean,
  { change, isPartialAllowed = false }: Pick<Naming, "change"> & { readonly isPartialAllowed?: boolean }
): Effect.fn.Return<ByName, BerthError | ListNotWhole, Nodes> {
  const all = yield* wholeList
  if (change && !isPartialAllowed && !all.isWhole) return yield* new ListNotWhole({})
  const listed = all.nodes.filter(({ name }) => matches(name)).map((node): Seen => ({ node, isRead: false }))
  const more = yield* behind(all.unreadable, matches, { change, found: listed.length > 0 })
  const seen = new Map([...listed, ...more].map((each) => [each.node.id, each]))
  return {
    nodes: Array.from(seen.values()),
    names: () => all.nodes.map(({ name }) => name),
    isWhole: all.isWhole
  }
})
