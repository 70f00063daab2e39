/**
 * The service of nodes: create, get, list, delete, set the commitment, wait for a status.
 */
import { Context, Effect, Layer, Stream } from "effect"
import type { BerthError } from "../domain/BerthError.ts"
import type { Node } from "../domain/Node.ts"
import { type ListOptions, NodeCalls } from "./NodeCalls.ts"
import { methodSpans } from "./telemetry/methodSpans.ts"
import { Observer } from "./telemetry/Observer.ts"

export type { CommitmentOptions, ListOptions, PageOptions } from "./NodeCalls.ts"

/** Adds a span over all calls of a list if the program has a tracer. */
const spanned = <A, E>(observer: Observer | undefined, list: Stream.Stream<A, E>) =>
  observer === undefined
    ? list
    : Stream.unwrap(
        Effect.withFiber(({ cache }) =>
          Effect.succeed(cache.tracer === undefined ? list : Stream.withSpan(list, "nodes.list"))
        )
      )

/**
 * The service of the nodes of the account.
 *
 * @example
 * ```ts
 * import { Nodes } from "@berthkit/core/client/Nodes"
 * import { Console, Effect, Stream } from "effect"
 *
 * const program = Effect.gen(function* () {
 *   const nodes = yield* Nodes
 *   const { node } = yield* nodes.create({ name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" })
 *   const running = yield* nodes.awaitStatus(node.id, "running")
 *   yield* Console.log(running.name, running.status) // web running
 *   const count = yield* Stream.runCount(nodes.list())
 *   yield* Console.log(count) // 1
 *   yield* nodes.delete(node.id)
 *   yield* nodes.awaitDeleted(node.id)
 * })
 * ```
 */
export class Nodes extends Context.Service<
  Nodes,
  Omit<NodeCalls["Service"], "pages"> & {
    /**
     * All nodes of the account in the service's order, page by page on demand, reading one page ahead. A node that exists the whole time
     * appears exactly once, even if other nodes are created or deleted in the meantime; `onEnd` reports if that is not certain. Fails with
     * `UnexpectedResponse` if the list does not end.
     */
    readonly list: (options?: ListOptions) => Stream.Stream<Node, BerthError>
  }
>()("@berthkit/core/client/Nodes") {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.gen(function* () {
      const { pages, ...calls } = yield* NodeCalls
      const observer = yield* Observer
      const traced = methodSpans(observer)
      return Nodes.of({
        ...calls,
        create: traced("nodes.create", calls.create),
        list: (options) => spanned(observer, Stream.scoped(Stream.fromPull(pages(options)))),
        named: traced("nodes.named", calls.named),
        listPage: traced("nodes.listPage", calls.listPage),
        readPage: traced("nodes.readPage", calls.readPage),
        setCommitment: traced("nodes.setCommitment", calls.setCommitment),
        awaitStatus: traced("nodes.awaitStatus", calls.awaitStatus) as NodeCalls["Service"]["awaitStatus"],
        awaitDeleted: traced("nodes.awaitDeleted", calls.awaitDeleted)
      })
    })
  )
}
