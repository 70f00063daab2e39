/**
 * Looks at nodes for many waits at once: looks that are asked for at the same moment share requests, one by one where they
 * are few, through the pages of the list where that takes fewer.
 */
import { type Cause, Deferred, Effect, Exit, type Fiber } from "effect"
import { pageSize } from "../../api/Routes.ts"
import type { BerthError } from "../../domain/BerthError.ts"
import { type Lane, lanes } from "../../domain/Lane.ts"
import type { Node, NodeId } from "../../domain/Node.ts"
import { monotonicMillis } from "../time/Monotonic.ts"
import type { CallOptions } from "../call/Operation.ts"

/** How a look is taken, and when it has to be over. */
interface Terms {
  readonly lane: Lane
  /** By the monotonic clock. */
  readonly deadlineAt: number
}

/** Somebody who waits for what a node is. */
interface Look extends Terms {
  readonly id: NodeId
  readonly answer: Deferred.Deferred<Node, BerthError>
}

/** Looks that are asked for within this time of the first are taken together. */
const gatherMillis = 20

/** Looks that are taken together, and what takes them. */
interface Batch {
  readonly looks: Set<Look>
  fiber?: Fiber.Fiber<void>
}

/** How looks are taken. */
export interface Parts {
  readonly get: (id: NodeId, options: CallOptions) => Effect.Effect<Node, BerthError>
  readonly list: (options: CallOptions) => Effect.Effect<ReadonlyArray<Node>, BerthError>
}

type Looks = ReadonlyArray<Look>

/** A list of so many nodes costs about so many requests; the one at the end finds that there is no more. */
const requestsOf = (nodes: number) => Math.ceil(nodes / pageSize.maximum) + 1

const answer = (looks: Iterable<Look>, exit: Exit.Exit<Node, BerthError>) => {
  for (const look of looks) Deferred.doneUnsafe(look.answer, exit)
}

/** A request that several share goes in the first of their lanes, and has until the last of their deadlines. */
const optionsOf = (looks: Looks) =>
  Effect.map(monotonicMillis, (now): CallOptions => ({
    lane: lanes.find((lane) => looks.some((look) => look.lane === lane)),
    deadline: Math.max(1, ...looks.map(({ deadlineAt }) => deadlineAt - now))
  }))

/** A function that looks at one node, together with whoever else looks at that moment. */
export const make = ({ get, list }: Parts) => {
  /** What the last listing cost; before the first, an account of one page. */
  let listing = requestsOf(1)

  const singly = (nodes: ReadonlyMap<NodeId, Looks>) =>
    Effect.forEach(
      nodes,
      ([id, looks]) =>
        Effect.map(Effect.exit(Effect.flatMap(optionsOf(looks), (options) => get(id, options))), (exit) =>
          answer(looks, exit)
        ),
      { concurrency: 4, discard: true }
    )

  const together = Effect.fnUntraced(function* (wanted: ReadonlyMap<NodeId, Looks>) {
    const all = Array.from(wanted.values()).flat()
    const nodes = yield* Effect.result(list(yield* optionsOf(all)))
    if (nodes._tag === "Failure") {
      // What is wrong with the list need not be wrong with the nodes.
      if (!nodes.failure.retryable) return yield* singly(wanted)
      return answer(all, Exit.fail(nodes.failure))
    }
    listing = requestsOf(nodes.success.length)
    const missing = new Map(wanted)
    for (const node of nodes.success) {
      answer(wanted.get(node.id) ?? [], Exit.succeed(node))
      missing.delete(node.id)
    }
    // Not being listed proves nothing: only the node's own address says that it is gone.
    yield* singly(missing)
  })

  const take = (looks: Iterable<Look>) => {
    const wanted = Map.groupBy(looks, ({ id }) => id)
    return wanted.size <= listing ? singly(wanted) : together(wanted)
  }

  let gathering: Batch | undefined
  const begin = Effect.suspend(() => {
    const batch: Batch = { looks: new Set() }
    gathering = batch
    const taken = Effect.suspend(() => {
      if (gathering === batch) gathering = undefined
      return take(batch.looks)
    })
    return Effect.map(
      Effect.forkDetach(
        Effect.catchCause(Effect.delay(taken, gatherMillis), (cause: Cause.Cause<never>) =>
          Effect.sync(() => answer(batch.looks, Exit.failCause(cause)))
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
        const look: Look = { id, ...terms, answer: Deferred.makeUnsafe() }
        batch.looks.add(look)
        return Effect.onExit(Deferred.await(look.answer), () =>
          Effect.sync(() => {
            batch.looks.delete(look)
            if (batch.looks.size > 0) return
            // Nobody waits for it any more.
            if (gathering === batch) gathering = undefined
            batch.fiber?.interruptUnsafe()
          })
        )
      }
    )
}
