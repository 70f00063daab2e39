/**
 * Reads nodes for many waits. Reads at the same moment are executed together: node by node if there are few nodes, or through pages of
 * the list if that takes fewer requests. Reads of one node share a request.
 */
import { type Cause, Deferred, Effect, Exit, type Fiber } from "effect"
import { pageSize } from "../../api/Routes.ts"
import type { BerthError } from "../../domain/BerthError.ts"
import { type Lane, lanes } from "../../domain/Lane.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import type { CallOptions } from "../call/Operation.ts"

/** The lane and deadline of a read. */
interface Terms {
  readonly lane: Lane
  /** On the monotonic clock. */
  readonly deadlineAt: number
}

/** A caller's read of a node. */
interface Read extends Terms {
  readonly id: NodeId
  readonly answer: Deferred.Deferred<Node, BerthError>
}

/** How long a poll waits for the polls of other waits whose timers fire at the same time. */
const gatherMillis = 20

/** Coalesced reads, and the fiber that executes them. */
interface Batch {
  readonly reads: Set<Read>
  fiber?: Fiber.Fiber<void>
}

/** The functions that read nodes. */
export interface Dependencies {
  readonly get: (id: NodeId, options: CallOptions) => Effect.Effect<Node, BerthError>
  readonly list: (options: CallOptions) => Effect.Effect<ReadonlyArray<Node>, BerthError>
}

type Reads = ReadonlyArray<Read>

/** The number of requests for a list of this many nodes; the last one finds the end. */
const requestsOf = (nodes: number) => Math.ceil(nodes / pageSize.maximum) + 1

const answer = (reads: Iterable<Read>, exit: Exit.Exit<Node, BerthError>) => {
  for (const read of reads) Deferred.doneUnsafe(read.answer, exit)
}

/** A request shared by several reads has the first of their lanes and the latest of their deadlines. */
const optionsOf = (reads: Reads) =>
  Effect.map(monotonicMillis, (now): CallOptions => ({
    lane: lanes.find((lane) => reads.some((read) => read.lane === lane)),
    deadline: Math.max(1, ...reads.map(({ deadlineAt }) => deadlineAt - now))
  }))

/** Functions that read one node, coalesced with other reads at the same moment. */
export const make = ({ get, list }: Dependencies) => {
  /** How many requests the last listing took; before the first listing, as many as for an account with one page. */
  let listing = requestsOf(1)

  const singly = (nodes: ReadonlyMap<NodeId, Reads>) =>
    Effect.forEach(
      nodes,
      ([id, reads]) =>
        Effect.map(Effect.exit(Effect.flatMap(optionsOf(reads), (options) => get(id, options))), (exit) =>
          answer(reads, exit)
        ),
      { concurrency: 4, discard: true }
    )

  const together = Effect.fnUntraced(function* (wanted: ReadonlyMap<NodeId, Reads>) {
    const all = Array.from(wanted.values()).flat()
    const nodes = yield* Effect.result(list(yield* optionsOf(all)))
    if (nodes._tag === "Failure") {
      // Although the list failed, reads of single nodes may succeed.
      if (!nodes.failure.retryable) return yield* singly(wanted)
      return answer(all, Exit.fail(nodes.failure))
    }
    listing = requestsOf(nodes.success.length)
    const missing = new Map(wanted)
    for (const node of nodes.success) {
      answer(wanted.get(node.id) ?? [], Exit.succeed(node))
      missing.delete(node.id)
    }
    // An unlisted node may exist: only a 404 for the node itself proves that it is gone.
    yield* singly(missing)
  })

  const take = (reads: Iterable<Read>) => {
    const wanted = Map.groupBy(reads, ({ id }) => id)
    return wanted.size <= listing ? singly(wanted) : together(wanted)
  }

  /** Collects the reads that arrive before `pause` ends, then executes them. */
  const gathered = (pause: Effect.Effect<void>) => {
    let gathering: Batch | undefined
    const begin = Effect.suspend(() => {
      const batch: Batch = { reads: new Set() }
      gathering = batch
      const taken = Effect.suspend(() => {
        if (gathering === batch) gathering = undefined
        return take(batch.reads)
      })
      return Effect.map(
        Effect.forkDetach(
          Effect.catchCause(Effect.andThen(pause, taken), (cause: Cause.Cause<never>) =>
            Effect.sync(() => answer(batch.reads, Exit.failCause(cause)))
          )
        ),
        (fiber) => {
          batch.fiber = fiber
          return batch
        }
      )
    })

    return (id: NodeId, terms: Terms): Effect.Effect<Node, BerthError> =>
      Effect.flatMap(
        Effect.suspend(() => (gathering === undefined ? begin : Effect.succeed(gathering))),
        (batch) => {
          const read: Read = { id, ...terms, answer: Deferred.makeUnsafe() }
          batch.reads.add(read)
          return Effect.onExit(Deferred.await(read.answer), () =>
            Effect.sync(() => {
              batch.reads.delete(read)
              if (batch.reads.size > 0) return
              // No caller waits for the batch any longer.
              if (gathering === batch) gathering = undefined
              batch.fiber?.interruptUnsafe()
            })
          )
        }
      )
  }

  return {
    /** The first read of a wait. It needs no timer: in a test with fake time, a wait ends if its node is ready. */
    first: gathered(Effect.yieldNow),
    /** A read after a pause. */
    again: gathered(Effect.sleep(gatherMillis))
  }
}
