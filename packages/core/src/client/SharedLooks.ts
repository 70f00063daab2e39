/**
 * Looks at nodes for many waits at once: looks that are asked for at the same moment share requests, one by one where they
 * are few, through the pages of the list where that takes fewer.
 */
import { Clock, Effect, Exit, Request, RequestResolver, Stream } from "effect"
import { pageSize } from "../api/Routes.ts"
import type { BerthError } from "../domain/BerthError.ts"
import { Lane } from "../domain/Lane.ts"
import type { Node, NodeId } from "../domain/Node.ts"
import type { CallOptions } from "./Operation.ts"

/** How a look is taken, and when it has to be over. */
interface Terms {
  readonly lane: Lane
  /** By our clock. */
  readonly deadlineAt: number
}

class Look extends Request.Class<{ readonly id: NodeId } & Terms, Node, BerthError> {}

/** How looks are taken. */
export interface Parts {
  readonly get: (id: NodeId, options: CallOptions) => Effect.Effect<Node, BerthError>
  readonly list: (options: CallOptions) => Stream.Stream<Node, BerthError>
}

type Entries = ReadonlyArray<Request.Entry<Look>>

/** A list of so many nodes costs about so many requests; the one at the end finds that there is no more. */
const requestsOf = (nodes: number) => Math.ceil(nodes / pageSize.maximum) + 1

/** A request that several share goes in the first of their lanes, and has until the last of their deadlines. */
const optionsOf = (entries: Entries) =>
  Effect.map(Clock.currentTimeMillis, (now): CallOptions => ({
    lane: Lane.literals.find((lane) => entries.some(({ request }) => request.lane === lane)),
    deadline: Math.max(1, ...entries.map(({ request }) => request.deadlineAt - now))
  }))

/** A function that looks at one node, together with whoever else looks at that moment. */
export const make = ({ get, list }: Parts) => {
  /** What the last listing cost; before the first, an account of one page. */
  let listing = requestsOf(1)

  const singly = (nodes: ReadonlyMap<NodeId, Entries>) =>
    Effect.forEach(
      nodes,
      ([id, entries]) =>
        Effect.map(Effect.exit(Effect.flatMap(optionsOf(entries), (options) => get(id, options))), (exit) => {
          for (const entry of entries) entry.completeUnsafe(exit)
        }),
      { concurrency: 4, discard: true }
    )

  const together = Effect.fnUntraced(function* (wanted: ReadonlyMap<NodeId, Entries>) {
    const all = Array.from(wanted.values()).flat()
    const nodes = yield* Effect.result(Stream.runCollect(list(yield* optionsOf(all))))
    if (nodes._tag === "Failure") {
      // What is wrong with the list need not be wrong with the nodes.
      if (!nodes.failure.retryable) return yield* singly(wanted)
      for (const entry of all) entry.completeUnsafe(Exit.fail(nodes.failure))
      return
    }
    listing = requestsOf(nodes.success.length)
    const missing = new Map(wanted)
    for (const node of nodes.success) {
      for (const entry of wanted.get(node.id) ?? []) entry.completeUnsafe(Exit.succeed(node))
      missing.delete(node.id)
    }
    // Not being listed proves nothing: only the node's own address says that it is gone.
    yield* singly(missing)
  })

  const resolver = RequestResolver.make<Look>((entries) => {
    const wanted = Map.groupBy(entries, ({ request }) => request.id)
    return wanted.size <= listing ? singly(wanted) : together(wanted)
  }).pipe(RequestResolver.setDelay("20 millis"))

  return (id: NodeId, terms: Terms): Effect.Effect<Node, BerthError> =>
    Effect.request(new Look({ id, ...terms }), resolver)
}
