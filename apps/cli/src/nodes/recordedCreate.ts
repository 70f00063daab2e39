/** Reads this machine's records of creates, and the present instant to compare them with. */
import { Allowance } from "@berthkit/core/client/Allowance"
import { idsOf, type Instant, type Intent, IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { isTimed } from "@berthkit/core/client/creation/Ownership"
import { bootClock } from "@berthkit/core/client/files/Boot"
import { stampNow } from "@berthkit/core/client/files/Stamp"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Effect, Option } from "effect"
import { lane } from "./allNodes.ts"

/** This machine's record of the create under a key: null if there is none, undefined if it cannot be read. */
export const recordedCreate = Effect.fnUntraced(function* (key: string) {
  const store = yield* IntentStore
  if (store === undefined) return undefined
  return yield* Effect.orElseSucceed(Effect.map(store.find(key), Option.getOrNull), () => undefined)
})

/**
 * The nodes that a create may have made: the nodes that its reply named, and the nodes that calls with its key have recorded as possible.
 */
export const candidatesOf = (recorded: Intent | null | undefined): ReadonlyArray<number> =>
  Array.from(new Set([...idsOf(recorded?.told), ...(recorded?.seen ?? [])]))

/** The present instant on every clock. The service's clock is known only from a reply, so without one this reads one node. */
export const instantNow = Effect.gen(function* () {
  const { serviceMillis: known } = yield* Allowance
  if ((yield* known) === 0) yield* Effect.ignore(Nodes.use((nodes) => nodes.listPage({ perPage: 1, lane })))
  const serviceMillis = yield* known
  const store = yield* IntentStore
  const stamp = yield* store === undefined ? Effect.flatMap(bootClock, stampNow) : store.now
  return { ...stamp, serviceMillis } satisfies Instant
})

/** The longest wait until the outcome of another machine's create is known, in words. */
export const waitElsewhereText = (isOfService: boolean): string => (isOfService ? "eleven minutes" : "26 minutes")

/** The longest wait until the outcome of a create is known, in words. */
export const waitText = (sentAt: Instant, now: Instant): string => waitElsewhereText(isTimed(sentAt, now))
