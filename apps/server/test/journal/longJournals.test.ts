import { describe, expect, it } from "@effect/vitest"
import { threadCpuMillis } from "@berth/testing/threadCpu"
import { Redacted } from "effect"
import { harPieces } from "../../src/journal/har.ts"
import { Journal, maxEntries } from "../../src/journal/Journal.ts"
import { redactor } from "../../src/journal/JournalEntry.ts"
import { pageOf } from "../../src/journal/page.ts"
import { objectPieces } from "../../src/transport/jsonPieces.ts"
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

  it("becomes an archive in pieces of a few requests, none of which is made before it is asked for", () => {
    const journal = fullJournal({ method: "POST", body: Buffer.from("x".repeat(2_000)) })
    const archive = harPieces({ id: "w1", seed: 1, account, journal }, "http://localhost")
    const pieces = [archive.next().value!, archive.next().value!]
    journal.clear()
    for (const piece of archive) pieces.push(piece)
    expect(pieces.length).toBeGreaterThan(100)
    for (const piece of pieces) expect(piece.length).toBeLessThan(20_000)
    expect(JSON.parse(pieces.join("")).log.entries.length).toBe(maxEntries)
  })
})

describe("an object in pieces", () => {
  it.each([
    [{}, [], {}],
    [{ a: 1 }, ["x"], { b: [2] }],
    [{}, ["x", { y: 1 }], { b: 2 }],
    [{ a: 1 }, Array(3_000).fill("twelve chars"), {}]
  ])("is the same JSON", (before, elements, after) => {
    const text = [...objectPieces(before, "all", elements, (element) => element, after)].join("")
    expect(text).toBe(JSON.stringify({ ...before, all: elements, ...after }))
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
    // Milliseconds; with a search that begins anew at each word, seconds.
    expect(threadCpuMillis() - began).toBeLessThan(500)
  })
})
