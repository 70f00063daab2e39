import { describe, expect, it } from "@effect/vitest"
import { threadCpuMillis } from "@berthkit/testing/threadCpu"
import { Redacted } from "effect"
import { Journal, maxEntries } from "../../src/journal/Journals.ts"
import { redactor } from "../../src/journal/JournalEntry.ts"
import { pageOf } from "../../src/journal/page.ts"
import { entryOf } from "./entries.ts"

const account = { apiKey: Redacted.make("the-key"), accessToken: Redacted.make("the-token") }

const fullJournal = (change: Parameters<typeof entryOf>[0]) => {
  const journal = new Journal()
  for (let request = 1; request <= maxEntries; request++) journal.record(entryOf(change), request)
  return journal
}

describe("a long journal", () => {
  it("is filtered as it was recorded: a page has the records themselves, which are shown when they are sent", () => {
    const journal = fullJournal({ url: "/myaccount/api/v1/nodes/?page_no=2" })
    const entries = journal.entries()
    const page = pageOf(journal, { operation: "nodes.list", method: "get", limit: 2, after: 5 })
    expect(page).toMatchObject({ next: 7, more: true, dropped: 0 })
    for (const [index, recorded] of page.requests.entries()) expect(recorded).toBe(entries[5 + index])
    expect(pageOf(journal, { operation: "nodes.create" }).requests).toEqual([])
  })
})

describe("the fields of a body that are named like secrets", () => {
  const redact = redactor(account)
  const shown = (text: string) => redact.body(Buffer.from(text), false)

  it("are taken out however the name and the value are written", () => {
    expect(shown('{"a":"token","my_token" :\n "s3cret","b":["password"]}')).toBe(
      '{"a":"token","my_token" :\n "<redacted>","b":["password"]}'
    )
    expect(shown('{"x\\"password":"s3\\"cret"}')).toBe('{"x\\"password":"<redacted>"}')
    expect(shown('{"password":"s3\\\ncret","x":1}')).toBe('{"password":"<redacted>","x":1}')
    expect(shown('{"password":"s3cret\\')).toBe('{"password":"<redacted>"')
  })

  it("are found in linear time: a name of 20 000 such words takes no quadratic one", () => {
    const began = threadCpuMillis()
    for (const text of [`"${"token".repeat(20_000)}`, `${'"token'.repeat(20_000)}`, `"token"${" ".repeat(100_000)}`]) {
      expect(shown(text)).toBe(text)
    }
    // This takes milliseconds. A search that starts again at each word would take seconds.
    expect(threadCpuMillis() - began).toBeLessThan(500)
  })
})
