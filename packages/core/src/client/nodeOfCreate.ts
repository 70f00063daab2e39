/**
 * The node of an earlier create, for a program that is about to delete it: sends nothing that changes anything.
 */
import { Effect } from "effect"
import type { Node } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import { Nodes } from "./Nodes.ts"

/** So long the node is looked for. */
const settleTime = "20 seconds"

/** The node that a create with this key made; undefined if it made none, or the node is gone. Fails while that is not known. */
export const nodeOfCreate = Effect.fnUntraced(function* (
  { image, name, plan }: Pick<NodeSpec, "image" | "name" | "plan">,
  key: string
) {
  const nodes = yield* Nodes
  return yield* nodes.create({ name, plan, image }, { key, adoptOnly: true, deadline: settleTime }).pipe(
    Effect.map(({ node }) => node as Node | undefined),
    // The client says of the key that it made no node, or one that is gone.
    Effect.catchIf(
      ({ reason }) => reason._tag === "InvalidRequest" && reason.status === null && reason.fields["key"] !== undefined,
      () => Effect.undefined
    )
  )
})
