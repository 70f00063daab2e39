/**
 * Finds nodes by their names, which takes the list.
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

/** A node that was found, and whether its record is the reply to a get, which has more than that of a list. */
export interface Seen {
  readonly node: Node
  readonly isRead: boolean
}

/** What a search came to. */
export interface ByName {
  /** The nodes whose name matches. */
  readonly nodes: ReadonlyArray<Seen>
  /** The names of all nodes: a hint if none matches. */
  readonly names: () => ReadonlyArray<string>
  /** Whether they are certainly all: the pages of some services do not show where the list ends. */
  readonly isWhole: boolean
}

/** No search. */
export const unsearched: ByName = { nodes: [], names: () => [], isWhole: true }

/** The nodes behind records that cannot be read. What only shows nodes shows the others where one of these fails. */
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
 * The nodes whose name matches, in the order of the list. For a change they are certainly all of them, as the list is now, and it fails
 * where that is not certain.
 */
export const byName = Effect.fn("byName")(function* (
  matches: (name: string) => boolean,
  { change }: Pick<Naming, "change">
): Effect.fn.Return<ByName, BerthError | ListNotWhole, Nodes> {
  const all = yield* wholeList
  if (change && !all.isWhole) return yield* new ListNotWhole({})
  const listed = all.nodes.filter(({ name }) => matches(name)).map((node): Seen => ({ node, isRead: false }))
  const more = yield* behind(all.unreadable, matches, { change, found: listed.length > 0 })
  const seen = new Map([...listed, ...more].map((each) => [each.node.id, each]))
  return {
    nodes: Array.from(seen.values()),
    names: () => all.nodes.map(({ name }) => name),
    isWhole: all.isWhole
  }
})
