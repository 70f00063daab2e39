/**
 * An intent for tests of its stores: one that was sent.
 */
import type { Intent } from "../../../src/client/creation/IntentStore.ts"

export const sentAt = { wallMillis: 1, bootMillis: 1, bootClock: null, serviceMillis: 0 }

export const intent = (key: string, over: Partial<Intent> = {}): Intent => ({
  version: 1,
  key,
  name: "web",
  plan: "P",
  image: "I",
  spec: "S",
  newerThan: 7,
  sentAt,
  fate: "open",
  nodeId: null,
  ...over
})
