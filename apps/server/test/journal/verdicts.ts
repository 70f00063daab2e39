/**
 * Requests as the journal shows them, and verdicts on them.
 */
import { Effect } from "effect"
import type { Expectation } from "../../src/journal/ExpectedCall.ts"
import type { JournalEntry } from "../../src/journal/JournalEntry.ts"
import { verify } from "../../src/journal/verify.ts"

export const entry = (seq: number, change: Partial<JournalEntry> = {}): JournalEntry => ({
  seq,
  at: "2026-01-01T00:00:00.000Z",
  durationMillis: 0,
  method: "GET",
  path: "/myaccount/api/v1/nodes/",
  operation: "nodes.list",
  query: {},
  headers: {},
  body: null,
  status: 200,
  replyHeaders: {},
  reply: null,
  faults: [],
  ...change
})

export const created = (seq: number, name: string, status = 202) =>
  entry(seq, {
    method: "POST",
    operation: "nodes.create",
    body: JSON.stringify({ name, tags: ["a", { b: 1 }] }),
    status
  })

/** Makes a function that judges one of several journals. */
export const judgeOf =
  (journal: ReadonlyArray<JournalEntry>) =>
  (expectation: Expectation, entries = journal, dropped = 0) =>
    Effect.runPromise(verify(entries, expectation, dropped))
