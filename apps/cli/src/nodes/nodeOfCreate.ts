/**
 * What an earlier create under a key has made: sends nothing. For a node that is to go, of whose create no end is known.
 */
import { idsOf, type Intent, IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { Effect, Option } from "effect"

/** What this machine has recorded of the create under a key: null where it has nothing, undefined where that cannot be read. */
export const recordedCreate = Effect.fnUntraced(function* (key: string) {
  const store = yield* IntentStore
  if (store === undefined) return undefined
  return yield* Effect.orElseSucceed(Effect.map(store.find(key), Option.getOrNull), () => undefined)
})

/** The nodes that a create may have made: its reply named them, or calls under its key took them for possible ones. */
export const candidatesOf = (recorded: Intent | null | undefined): ReadonlyArray<number> =>
  Array.from(new Set([...idsOf(recorded?.told), ...(recorded?.seen ?? [])]))

/** So long the node is looked for. */
const settleTime = "20 seconds"

/** The node; undefined where none was made, or it is gone. Fails while it is not known. */
export const nodeOfCreate = Effect.fnUntraced(function* (
  { image, name, plan }: Pick<NodeSpec, "image" | "name" | "plan">,
  key: string
) {
  const nodes = yield* Nodes
  return yield* nodes.create({ name, plan, image }, { key, adoptOnly: true, deadline: settleTime }).pipe(
    Effect.map(({ node }) => node as Node | undefined),
    // Of its key the client says that it made no node, or one that is gone.
    Effect.catchIf(
      ({ reason }) => reason._tag === "InvalidRequest" && reason.status === null && reason.fields["key"] !== undefined,
      () => Effect.undefined
    )
  )
})
