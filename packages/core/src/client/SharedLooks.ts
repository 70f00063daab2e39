/**
 * Looks at nodes for many waits at once: looks that are asked for at the same moment share requests, one by one where they
 * are few, through the pages of the list where that takes fewer.
 */
import { Effect, Exit, Request, RequestResolver, Stream } from "effect"
import { pageSize } from "../api/Routes.ts"
import type { BerthError } from "../domain/BerthError.ts"
import type { Node, NodeId } from "../domain/Node.ts"

class Look extends Request.Class<{ readonly id: NodeId }, Node, BerthError> {}

/** How looks are taken. */
export interface Parts {
  readonly get: (id: NodeId) => Effect.Effect<Node, BerthError>
  readonly list: Stream.Stream<Node, BerthError>
}

/** A list of so many nodes costs about so many requests; the one at the end finds that there is no more. */
const requestsOf = (nodes: number) => Math.ceil(nodes / pageSize.maximum) + 1

/** A function that looks at one node, together with whoever else looks at that moment. */
export const make = ({ get, list }: Parts) => {
  /** What the last listing cost; before the first, an account of one page. */
  let listing = requestsOf(1)

  const singly = (entries: ReadonlyArray<Request.Entry<Look>>) =>
    Effect.forEach(
      entries,
      (entry) => Effect.map(Effect.exit(get(entry.request.id)), (exit) => entry.completeUnsafe(exit)),
      { concurrency: 4, discard: true }
    )

  const together = Effect.fnUntraced(function* (entries: ReadonlyArray<Request.Entry<Look>>) {
    const nodes = yield* Effect.result(Stream.runCollect(list))
    if (nodes._tag === "Failure") {
      // What is wrong with the list need not be wrong with the nodes.
      if (!nodes.failure.retryable) return yield* singly(entries)
      for (const entry of entries) entry.completeUnsafe(Exit.fail(nodes.failure))
      return
    }
    listing = requestsOf(nodes.success.length)
    const byId = new Map(nodes.success.map((node) => [node.id, node]))
    const missing: Array<Request.Entry<Look>> = []
    for (const entry of entries) {
      const node = byId.get(entry.request.id)
      if (node === undefined) missing.push(entry)
      else entry.completeUnsafe(Exit.succeed(node))
    }
    // Not being listed proves nothing: only the node's own address says that it is gone.
    yield* singly(missing)
  })

  const resolver = RequestResolver.make<Look>((entries) =>
    new Set(entries.map(({ request }) => request.id)).size <= listing ? singly(entries) : together(entries)
  ).pipe(RequestResolver.setDelay("20 millis"))

  return (id: NodeId): Effect.Effect<Node, BerthError> => Effect.request(new Look({ id }), resolver)
}
