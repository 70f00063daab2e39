/**
 * Finds nodes by their names: with the index in a few requests, without it by reading the list. Both give the same nodes.
 */
import { Nodes } from "@berth/core/client/Nodes"
import type { BerthError } from "@berth/core/domain/BerthError"
import type { Node } from "@berth/core/domain/Node"
import { Effect, Option, Stream } from "effect"
import { IndexStore } from "../nodeIndex/IndexStore.ts"
import * as NodeIndex from "../nodeIndex/NodeIndex.ts"
import { allNodes, concurrency, lane, newerNodes, withListed } from "./allNodes.ts"

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
}

/** No search. */
export const unsearched: ByName = { nodes: [], names: () => [] }

/** About so many requests read a list. */
export const requestsOf = (length: number) => Math.ceil(length / 90) + 1

/** A candidate of the index as it is now: none when it is gone; `changed` when the id is another node by now. */
const confirmed = Effect.fnUntraced(function* (known: NodeIndex.IndexedNode) {
  const nodes = yield* Nodes
  const node = yield* nodes.get(known.id, { lane }).pipe(
    Effect.asSome,
    Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeedNone)
  )
  if (Option.isNone(node)) return Option.none<Node>()
  return NodeIndex.isSame(known, node.value) ? Option.some(withListed(node.value, known)) : "changed"
})

/** The nodes that match, by the index; none where it is not certain to give what the list would. */
const byIndex = Effect.fnUntraced(function* (index: NodeIndex.NodeIndex, matches: (name: string) => boolean) {
  const candidates = Array.from(index.nodes.values()).filter(({ id, name }) => id <= index.completeTo && matches(name))
  if (candidates.length + 2 > requestsOf(index.length)) return Option.none<ReadonlyArray<Seen>>()
  const [newer, older] = yield* Effect.all(
    [newerNodes(index), Effect.forEach(candidates, confirmed, { concurrency: concurrency - 1 })],
    { concurrency: 2 }
  )
  if (Option.isNone(newer) || older.includes("changed")) return Option.none<ReadonlyArray<Seen>>()
  const seen = older.flatMap((node): ReadonlyArray<Seen> =>
    node === "changed" || Option.isNone(node) ? [] : [{ node: node.value, isRead: true }]
  )
  const listed = newer.value.filter(({ name }) => matches(name)).map((node): Seen => ({ node, isRead: false }))
  return Option.some([...seen.toSorted((a, b) => a.node.id - b.node.id), ...listed])
})

/** The nodes whose name matches, in the order of the list. */
export const byName = Effect.fn("byName")(function* (
  matches: (name: string) => boolean
): Effect.fn.Return<ByName, BerthError, Nodes | IndexStore> {
  const index = yield* Effect.flatMap(IndexStore, ({ load }) => load)
  const found = NodeIndex.findsNames(index) ? yield* byIndex(index, matches) : Option.none()
  if (Option.isSome(found)) {
    return { nodes: found.value, names: () => Array.from(index.nodes.values(), ({ name }) => name) }
  }
  const all = yield* Stream.runCollect(allNodes)
  return {
    nodes: all.filter(({ name }) => matches(name)).map((node) => ({ node, isRead: false })),
    names: () => all.map(({ name }) => name)
  }
})
