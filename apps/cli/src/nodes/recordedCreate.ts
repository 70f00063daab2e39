/** Reads this machine's records of creates, and says how long to wait until their outcome is known. */
import { idsOf, type Instant, type Intent, IntentStore } from "@berthkit/core/client/creation/IntentStore"
import { isTimed } from "@berthkit/core/client/creation/Ownership"
import { Effect, Option } from "effect"

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

/** The longest wait until the outcome of another machine's create is known, in words. */
export const waitElsewhereText = (isOfService: boolean): string => (isOfService ? "eleven minutes" : "26 minutes")

/** The longest wait until the outcome of a create is known, in words. */
export const waitText = (sentAt: Instant, now: Instant): string => waitElsewhereText(isTimed(sentAt, now))
