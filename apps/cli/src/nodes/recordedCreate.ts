/**
 * What this machine has recorded of creates, and the instant to compare that with.
 */
import { Allowance } from "@berthkit/core/client/Allowance"
import { idsOf, type Instant, type Intent, IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { isTimed } from "@berthkit/core/client/creation/Ownership"
import { bootClock, stampNow } from "@berthkit/core/client/files/Boot"
import { Nodes } from "@berthkit/core/client/Nodes"
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

/** How long to wait at most until it is known what came of a create, in words. */
export const waitText = (sentAt: Instant, now: Instant): string =>
  isTimed(sentAt, now) ? "eleven minutes" : "26 minutes"
