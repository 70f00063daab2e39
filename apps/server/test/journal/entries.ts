/** A recorded request, for tests of journals. */
import type { Entry } from "../../src/journal/Journals.ts"

/** A plain request that was answered. */
export const entryOf = (change: Partial<Entry> = {}): Entry => ({
  at: 0,
  durationMillis: 0,
  method: "GET",
  url: "/",
  headers: {},
  body: undefined,
  status: 200,
  replyHeaders: {},
  replyBytes: 100,
  replyBody: undefined,
  faults: [],
  ...change
})
