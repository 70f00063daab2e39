/** Finds the node of an earlier create, for a program that is about to delete it. It only reads. */
import { Effect } from "effect"
import type { Node } from "../domain/Node.ts"
import type { NodeSpec } from "../domain/NodeSpec.ts"
import { reconciliationKey } from "./creation/Creator.ts"
import { IntentStore } from "./creation/IntentStore.ts"
import { maxFreeMillis } from "./creation/KeyLock.ts"
import { Nodes } from "./Nodes.ts"

/** How long to look for the node. */
const settleTime = "20 seconds"

/**
 * Waits until the locks that a create takes are free, at most as long as it takes to free the locks of a process that has ended. After a
 * restart of the machine, that is longer than the deadline of the search below: without this wait, each command would begin to wait anew,
 * and no search would ever succeed.
 */
const awaitLocks = Effect.fnUntraced(function* (key: string) {
  const store = yield* IntentStore
  if (store === undefined) return
  yield* Effect.forEach([key, reconciliationKey], (each) => store.withKeyLock(each)(() => Effect.void), {
    concurrency: "unbounded",
    discard: true
  }).pipe(Effect.timeoutOption(maxFreeMillis), Effect.ignore)
})

/** The node that a create with this key made; undefined if it made none or the node is gone. Fails while this is unknown. */
export const nodeOfCreate = Effect.fnUntraced(function* (
  { image, name, plan }: Pick<NodeSpec, "image" | "name" | "plan">,
  key: string
) {
  const nodes = yield* Nodes
  yield* awaitLocks(key)
  return yield* nodes.create({ name, plan, image }, { key, adoptOnly: true, deadline: settleTime }).pipe(
    Effect.map(({ node }) => node as Node | undefined),
    // The client reports this fault of the key if no create with the key made a node, or if that node is gone.
    Effect.catchIf(
      ({ reason }) => reason._tag === "InvalidRequest" && reason.status === null && reason.fields["key"] !== undefined,
      () => Effect.undefined
    )
  )
})
