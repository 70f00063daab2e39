/**
 * Finds nodes by their names: with the index in a few requests, without it by reading the list. Both give the same nodes.
 */
import type { LeftOutRecord } from "@berthkit/core/client/listing/Listed"
import { setAsideNodes } from "@berthkit/core/client/listing/setAsideNodes"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node } from "@berthkit/core/domain/Node"
import { Effect } from "effect"
import { ListNotWhole } from "../failure/CliFailure.ts"
import { IndexStore } from "../nodeIndex/IndexStore.ts"
import * as NodeIndex from "../nodeIndex/NodeIndex.ts"
import { concurrency, lane, newerNodes, wholeList, withListed } from "./allNodes.ts"
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
  /** The names of all nodes as they were read last: a hint where none matches. */
  readonly names: () => ReadonlyArray<string>
  /** Whether they come from the whole list as it is now, or by the index. */
  readonly from: "list" | "index"
  /** Whether they are certainly all: the pages of some services do not show where the list ends. */
  readonly isWhole: boolean
}

/** No search. */
export const unsearched: ByName = { nodes: [], names: () => [], from: "list", isWhole: true }

/** About so many requests read a list. */
export const requestsOf = (length: number) => Math.ceil(length / 90) + 1

/** A candidate of the index as it is now: undefined when it is gone; `changed` when the id is another node by now. */
const confirmed = Effect.fnUntraced(function* (known: NodeIndex.IndexedNode) {
  const nodes = yield* Nodes
  const node = yield* nodes
    .get(known.id, { lane })
    .pipe(Effect.catchReason("BerthError", "NodeNotFound", () => Effect.undefined))
  if (node === undefined) return undefined
  return NodeIndex.isSame(known, node) ? withListed(node, known) : "changed"
})

/** The nodes that match, by the index; undefined where it is not certain to give what the list would. */
const byIndex = Effect.fnUntraced(function* (index: NodeIndex.NodeIndex, matches: (name: string) => boolean) {
  const candidates = Array.from(index.nodes.values()).filter(({ id, name }) => id <= index.completeTo && matches(name))
  if (candidates.length + 2 > requestsOf(index.length)) return undefined
  const [newer, older] = yield* Effect.all(
    [newerNodes(index), Effect.forEach(candidates, confirmed, { concurrency: concurrency - 1 })],
    { concurrency: 2 }
  )
  if (newer === undefined || older.includes("changed")) return undefined
  const seen = older.flatMap((node): ReadonlyArray<Seen> =>
    node === "changed" || node === undefined ? [] : [{ node, isRead: true }]
  )
  const listed = newer.filter(({ name }) => matches(name)).map((node): Seen => ({ node, isRead: false }))
  return [...seen.toSorted((a, b) => a.node.id - b.node.id), ...listed]
})

/**
 * Accounts of this size are listed for a change, in at most 12 requests: a node that was renamed since the index was written is in the
 * list alone, and then the index has the wrong one.
 */
const maxListed = 1000

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

/** How nodes are searched. */
interface Search extends Pick<Naming, "change"> {
  /** Whether the index may do; default true. It proves no absence: a node that was renamed has its old name there. */
  readonly index?: boolean
}

/**
 * The nodes whose name matches, in the order of the list. For a change they are certainly all of them, as the list is now, and it
 * fails where that is not certain; only a large account goes by the index then, too.
 */
export const byName = Effect.fn("byName")(function* (
  matches: (name: string) => boolean,
  { change, index: mayBeIndexed = true }: Search
): Effect.fn.Return<ByName, BerthError | ListNotWhole, Nodes | IndexStore> {
  const index = yield* Effect.flatMap(IndexStore, ({ load }) => load)
  const mayUseIndex = mayBeIndexed && NodeIndex.findsNames(index) && (!change || index.length > maxListed)
  const indexed = mayUseIndex ? yield* byIndex(index, matches) : undefined
  if (indexed !== undefined) {
    const names = () => Array.from(index.nodes.values(), ({ name }) => name)
    return { nodes: indexed, names, from: "index", isWhole: true }
  }
  const all = yield* wholeList
  if (change && !all.isWhole) return yield* new ListNotWhole({})
  const listed = all.nodes.filter(({ name }) => matches(name)).map((node): Seen => ({ node, isRead: false }))
  const more = yield* behind(all.unreadable, matches, { change, found: listed.length > 0 })
  const seen = new Map([...listed, ...more].map((each) => [each.node.id, each]))
  return {
    nodes: Array.from(seen.values()),
    names: () => all.nodes.map(({ name }) => name),
    from: "list",
    isWhole: all.isWhole
  }
})
