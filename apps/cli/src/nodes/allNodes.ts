/**
 * Reads the list of an account: whole, which renews the node index, or only as far as the index or one node needs it.
 */
import type { CallOptions } from "@berthkit/core/client/call/Operation"
import type { Listed } from "@berthkit/core/client/listing/Listed"
import { isNode } from "@berthkit/core/client/listing/NodePage"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect, Stream } from "effect"
import { IndexStore } from "../nodeIndex/IndexStore.ts"
import * as ListEnd from "../nodeIndex/ListEnd.ts"
import * as NodeIndex from "../nodeIndex/NodeIndex.ts"
import * as PageOfId from "../nodeIndex/PageOfId.ts"
import { Progress } from "../output/progress.ts"

/** At most so many nodes are worked on at a time. */
export const concurrency = 8

/** The user waits for it: a sweep would let other calls go first. */
export const lane = "interactive"

/** What is called while a list is read: with the reply of each page, and with what it came to. */
interface Listening extends Pick<CallOptions, "onReply"> {
  readonly onListed?: (listed: Listed) => unknown
}

/** Every node, page by page. A list that is read to its end is the new index, where that is kept and not `spared`. */
const nodesOf = ({ onListed, onReply }: Listening, spared: (store: IndexStore["Service"]) => Effect.Effect<boolean>) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const nodes = yield* Nodes
      const store = yield* IndexStore
      let isComplete = false
      const onEnd = (listed: Listed) =>
        Effect.sync(() => {
          isComplete = listed.complete === true
          onListed?.(listed)
        })
      const listed = nodes.list({ lane, onEnd, onReply })
      if (!store.isKept || (yield* spared(store))) return listed
      const index = NodeIndex.listWriter()
      return listed.pipe(
        Stream.mapArray((page) => {
          index.add(page)
          return page
        }),
        Stream.onEnd(Effect.suspend(() => (isComplete ? store.saveText(index.end()) : Effect.void)))
      )
    })
  )

/** A list at once, with the records that cannot be read, and whether it is certain that there are no others. */
const collected = <R>(list: (listening: Listening) => Stream.Stream<Node, BerthError, R>) =>
  Effect.suspend(() => {
    let end: Listed | undefined
    const nodes = Stream.runCollect(list({ onListed: (listed) => (end = listed) }))
    return Effect.map(nodes, (nodes) => ({
      nodes,
      unreadable: end?.unreadable ?? [],
      isWhole: end !== undefined && end.readToEnd !== false
    }))
  })

/** Every node, which renews the index. */
export const wholeList = collected((listening) => nodesOf(listening, () => Effect.succeed(false)))

/**
 * Every node, for a command that shows them and has no use for the index: it is renewed at most once an hour, for it takes memory. What
 * the list leaves out is reported at the end of the command.
 */
export const shownNodes = (options?: Listening): Stream.Stream<Node, BerthError, Nodes | IndexStore | Progress> =>
  Stream.unwrap(
    Effect.map(Progress, ({ partial }) => {
      let end: Listed | undefined
      const onListed = (listed: Listed) => {
        end = listed
        options?.onListed?.(listed)
      }
      return nodesOf({ ...options, onListed }, ({ isFresh }) => isFresh).pipe(
        Stream.ensuring(Effect.suspend(() => (end?.readToEnd === false ? partial : Effect.void)))
      )
    })
  )

export const shownList = collected(shownNodes)

/** The nodes that are newer than the index, which has them from then on; undefined where the list contradicts it. */
export const newerNodes = Effect.fnUntraced(function* (
  index: NodeIndex.NodeIndex
): Effect.fn.Return<ReadonlyArray<Node> | undefined, BerthError, Nodes | IndexStore> {
  const nodes = yield* Nodes
  const store = yield* IndexStore
  let step = ListEnd.begin(index)
  while (step._tag === "Read") {
    const { range, state } = step
    const { records: page } = yield* nodes.readPage({ page: range.page, perPage: range.perPage, lane })
    // Without a record that is set aside the page would seem to be the end.
    if (!page.every(isNode)) return undefined
    step = ListEnd.take(state, range, page)
  }
  if (step._tag === "Unclear") return undefined
  const { length, nodes: newer } = step
  if (newer.length > 0 || length !== index.length) {
    yield* store.save({
      ...NodeIndex.withNodes(index, newer.map(NodeIndex.indexed)),
      length,
      completeTo: newer.at(-1)?.id ?? index.completeTo
    })
  }
  return newer
})

/** The record of a node in the list, found in a few requests; no node where it is not. What is read on the way is indexed. */
const listedNode = Effect.fnUntraced(function* (id: NodeId) {
  const nodes = yield* Nodes
  const store = yield* IndexStore
  const read: Array<Node> = []
  let step = PageOfId.begin(id)
  while (step._tag === "Read") {
    const { page, state } = step
    const { records: listed } = yield* nodes.readPage({ page, lane, retry: false, deadline: "5 seconds" })
    if (!listed.every(isNode)) break
    read.push(...listed)
    step = PageOfId.take(state, page, listed)
  }
  yield* store.save(NodeIndex.withNodes(yield* store.load, read.map(NodeIndex.indexed)))
  return step._tag === "Found" ? [step.node] : []
})

/** What never changes in a node's life, and the reply to a get lacks. */
type ListedFields = Pick<Node, "plan" | "image" | "memoryMib" | "region">

/** A node with the fields that its record lacks, from another record of it. */
export const withListed = (node: Node, listed: ListedFields): Node => ({
  ...node,
  plan: node.plan ?? listed.plan,
  image: node.image ?? listed.image,
  memoryMib: node.memoryMib ?? listed.memoryMib,
  region: node.region ?? listed.region
})

/** With more nodes than this the whole list is read, which is more certain to take few requests. */
const maxSearched = 3

/**
 * The nodes with the fields that the reply to a get lacks: from the index, or from the list. They are `null` where that would take
 * many requests, or fails: no command fails for them.
 */
export const withListedFields = Effect.fnUntraced(function* (
  found: ReadonlyArray<Node>
): Effect.fn.Return<ReadonlyArray<Node>, never, Nodes | IndexStore> {
  const store = yield* IndexStore
  const index = yield* store.load
  if (NodeIndex.findsNames(index) && found.some(({ id, plan }) => plan === null && id > index.completeTo)) {
    yield* Effect.ignore(newerNodes(index))
  }
  const { nodes } = yield* store.load
  const lacking = found.filter((node) => {
    const known = nodes.get(node.id)
    return node.plan === null && !(known !== undefined && NodeIndex.isSame(known, node))
  })
  const search = Effect.forEach(lacking, ({ id }) => listedNode(id))
  const sources = yield* (
    lacking.length > maxSearched
      ? Effect.map(wholeList, ({ nodes }) => nodes)
      : Effect.map(search, (each) => each.flat())
  ).pipe(Effect.orElseSucceed((): ReadonlyArray<Node> => []))
  const byId = new Map<number, ListedFields>(nodes)
  for (const node of sources) byId.set(node.id, node)
  const nothing: ListedFields = { plan: null, image: null, memoryMib: null, region: null }
  return found.map((node) => withListed(node, byId.get(node.id) ?? nothing))
})
