/**
 * Reads the account's list of nodes, in full or as far as needed.
 */
import type { CallOptions } from "@berthkit/core/client/call/Operation"
import type { Listed } from "@berthkit/core/client/listing/Listed"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { BerthError } from "@berthkit/core/domain/BerthError"
import type { Node, NodeId } from "@berthkit/core/domain/Node"
import { Effect, Stream } from "effect"
import { Progress } from "../output/progress.ts"

/** How many nodes are handled at a time. */
export const concurrency = 8

/** The priority of the reads. It is high, because a user waits for them. */
export const lane = "interactive"

/** Callbacks while a list is read: for each page's reply, and for the final result. */
interface Listening extends Pick<CallOptions, "onReply"> {
  readonly onListed?: (listed: Listed) => void
}

/** Reads the whole list with its unreadable records, and says whether it is certainly complete. */
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

/** Every node, for a command that changes some of them. */
export const wholeList = collected(({ onListed }) =>
  Stream.unwrap(
    Nodes.useSync((nodes) => nodes.list({ lane, onEnd: (listed) => Effect.sync(() => onListed?.(listed)) }))
  )
)

/** Every node, for a command that shows them. Records that were left out are reported at the end of the command. */
export const shownNodes = (options?: Listening): Stream.Stream<Node, BerthError, Nodes | Progress> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { partial } = yield* Progress
      const nodes = yield* Nodes
      let end: Listed | undefined
      const onEnd = (listed: Listed) =>
        Effect.sync(() => {
          end = listed
          options?.onListed?.(listed)
        })
      return nodes
        .list({ lane, onEnd, onReply: options?.onReply })
        .pipe(Stream.ensuring(Effect.suspend(() => (end?.readToEnd === false ? partial : Effect.void))))
    })
  )

export const shownList = collected(shownNodes)

/** Fields that never change, and that the reply to a get may not have. */
type ListedFields = Pick<Node, "plan" | "image" | "memoryMib" | "region">

/** Fills in the fields that are missing from a node's record, from another record of the node. */
export const withListed = (node: Node, listed: ListedFields): Node => ({
  ...node,
  plan: node.plan ?? listed.plan,
  image: node.image ?? listed.image,
  memoryMib: node.memoryMib ?? listed.memoryMib,
  region: node.region ?? listed.region
})

/** How many nodes of the list are searched for these fields; at most 12 requests. */
const maxSearched = 1000

/**
 * The reply to a get may not have fields that the list has. Fills them in from the list. They stay `null` if the node
 * is further back in the list or the list cannot be read, because these fields are no reason to fail.
 */
export const withListedFields = Effect.fnUntraced(function* (
  found: ReadonlyArray<Node>
): Effect.fn.Return<ReadonlyArray<Node>, never, Nodes> {
  const lacking = new Set(found.flatMap(({ id, plan }) => (plan === null ? [id] : [])))
  if (lacking.size === 0) return found
  const nodes = yield* Nodes
  const listed = new Map<NodeId, Node>()
  const search = nodes.list({ lane }).pipe(
    Stream.take(maxSearched),
    Stream.tap((node) => Effect.sync(() => lacking.has(node.id) && listed.set(node.id, node))),
    Stream.takeUntil(() => listed.size === lacking.size),
    Stream.runDrain
  )
  yield* Effect.ignore(search)
  return found.map((node) => {
    const other = listed.get(node.id)
    return other === undefined ? node : withListed(node, other)
  })
})
