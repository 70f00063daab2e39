/**
 * What an earlier create under a key has made: sends nothing. For a node that is to go, of whose create no end is known.
 */
import { Allowance } from "@berthkit/core/client/Allowance"
import { idsOf, type Instant, type Intent, IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { bootClock, stampNow } from "@berthkit/core/client/files/Boot"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { Effect, Option } from "effect"
import { lane } from "./allNodes.ts"

/** What this machine has recorded of the create under a key: null where it has nothing, undefined where that cannot be read. */
export const recordedCreate = Effect.fnUntraced(function* (key: string) {
  const store = yield* IntentStore
  if (store === undefined) return undefined
  return yield* Effect.orElseSucceed(Effect.map(store.find(key), Option.getOrNull), () => undefined)
})

/** The nodes that a create may have made: its reply named them, or calls under its key took them for possible ones. */
export const candidatesOf = (recorded: Intent | null | undefined): ReadonlyArray<number> =>
  Array.from(new Set([...idsOf(recorded?.told), ...(recorded?.seen ?? [])]))

/** This instant on every clock there is. The service's is known once it has replied: without a reply yet, this reads one node. */
export const instantNow = Effect.gen(function* () {
  const { serviceMillis: known } = yield* Allowance
  if ((yield* known) === 0) yield* Effect.ignore(Nodes.use((nodes) => nodes.listPage({ perPage: 1, lane })))
  const serviceMillis = yield* known
  const store = yield* IntentStore
  const stamp = yield* store === undefined ? Effect.flatMap(bootClock, stampNow) : store.now
  return { ...stamp, serviceMillis } satisfies Instant
})

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
