/**
 * The nodes of the account: create, get, list, delete, set the commitment, wait for a status.
 */
import { Context, Effect, Layer, Stream } from "effect"
import type { BerthError } from "../domain/BerthError.ts"
import type { Node } from "../domain/Node.ts"
import { type ListOptions, NodeCalls } from "./NodeCalls.ts"

export type { CommitmentOptions, ListOptions, PageOptions } from "./NodeCalls.ts"

/** The service of the nodes of the account. */
export class Nodes extends Context.Service<
  Nodes,
  Omit<NodeCalls["Service"], "pages"> & {
    /**
     * Every node of the account in the service's order, page by page as they are pulled, one page ahead. Whatever is created or deleted
     * meanwhile, a node that exists throughout comes exactly once; `onEnd` reports where that is not certain. Fails with
     * `UnexpectedResponse` where the list does not end.
     */
    readonly list: (options?: ListOptions) => Stream.Stream<Node, BerthError>
  }
>()("@berthkit/core/client/Nodes") {
  static readonly layer = Layer.effect(
    Nodes,
    Effect.map(NodeCalls, ({ pages, ...calls }) =>
      Nodes.of({ ...calls, list: (options) => Stream.scoped(Stream.fromPull(pages(options))) })
    )
  )
}
