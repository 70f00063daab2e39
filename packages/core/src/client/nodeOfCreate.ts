/** Finds the node of an earlier create, for a program that is about to delete it. It only reads. */
import { Effect } from "effect"
import type { Node } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import { Nodes } from "./Nodes.ts"

/** How long to look for the node. */
const settleTime = "20 seconds"

/** The node that a create with this key made; undefined if it made none or the node is gone. Fails while this is unknown. */
export const nodeOfCreate = Effect.fnUntraced(function* (
  { image, name, plan }: Pick<NodeSpec, "image" | "name" | "plan">,
  key: string
) {
  const nodes = yield* Nodes
  return yield* nodes.create({ name, plan, image }, { key, adoptOnly: true, deadline: settleTime }).pipe(
    Effect.map(({ node }) => node as Node | undefined),
    // The client reports this fault of the key if no create with the key made a node, or if that node is gone.
    Effect.catchIf(
      ({ reason }) => reason._tag === "InvalidRequest" && reason.status === null && reason.fields["key"] !== undefined,
      () => Effect.undefined
    )
  )
})
