import { Result } from "effect"
import { describe, expect, it } from "vitest"
import { judge } from "../src/claims.ts"
import { pageOf, reportOf, tableOf } from "../src/report.ts"
import { profileOf } from "../src/profileOf.ts"
import { readEvidence } from "../src/readEvidence.ts"
import { spellingsOf } from "@berthkit/testing/spellings"
import { credentials, evidenceOf, harOf, survey } from "./record.ts"
import { startHarbour } from "./services/harbour.ts"

const refusal = (text: string): string => {
  const read = readEvidence(text)
  return Result.isFailure(read) ? read.failure : "read"
}

const entry = (url: string, status = 200) => ({
  startedDateTime: "2026-01-01T00:00:00Z",
  time: 5,
  request: { method: "GET", url, headers: [] },
  response: { status, headers: [], content: { size: 2, text: "{}" } }
})

describe("a file that is no evidence", () => {
  it.each([
    ["", "it is not JSON, or it was cut off; record it again"],
    [
      harOf([entry("https://a.example/myaccount/api/v1/nodes/")]).slice(0, -5),
      "it is not JSON, or it was cut off; record it again"
    ],
    ["[]", "it is neither a HAR nor a journal of the mock"],
    ['{"log":{}}', "it is neither a HAR nor a journal of the mock"],
    [harOf([]), "none of its requests is to /myaccount/api/v1, so it is of another service"],
    [
      harOf([entry("https://a.example/v1/things")]),
      "none of its requests is to /myaccount/api/v1, so it is of another service"
    ],
    [
      harOf([entry("https://a.example/myaccount/api/v1/nodes/"), entry("https://b.example/myaccount/api/v1/nodes/")]),
      "it has requests to 2 services; keep those of one, and learn from each alone"
    ]
  ])("is refused in a sentence: %s", (text, sentence) => {
    expect(refusal(text)).toBe(sentence)
  })

  it("is too long where it has more requests than are read", () => {
    const entries = Array.from({ length: 20_001 }, () => entry("https://a.example/myaccount/api/v1/nodes/"))
    expect(refusal(harOf(entries))).toBe("it has 20001 requests to the service; at most 20000 are read: keep fewer")
  })

  it("may have entries that are none, which are left out", () => {
    const text = JSON.stringify({
      log: { entries: [null, 1, {}, { request: {} }, entry("https://a.example/myaccount/api/v1/nodes/")] }
    })
    expect(Result.getOrThrow(readEvidence(text))).toMatchObject({ skipped: 4 })
  })
})

it("a page of very many nodes is read as any other", () => {
  const data = Array.from({ length: 150_000 }, (_, id) => ({ id }))
  const read = entry("https://a.example/myaccount/api/v1/nodes/")
  const response = { ...read.response, content: { size: 1, text: JSON.stringify({ code: 200, data }) } }
  const { verdicts } = reportOf(
    evidenceOf([{ ...read, response }]),
    profileOf(evidenceOf([entry("https://a.example/myaccount/api/v1/nodes/")]))
  )
  expect(verdicts.confirmed).toBeGreaterThan(0)
})

describe("credentials in evidence", () => {
  it("are in no output, in no encoding", async () => {
    await using service = await startHarbour()
    const entries = await survey(service)
    const secrets = Object.values(credentials)
    // A service that repeats the secrets, in a failure and in a record.
    const echo = secrets.flatMap((secret) => Object.values(spellingsOf(secret))).join(" ")
    const repeated = entries.map((each) => {
      const response = each["response"] as { readonly content: { readonly text: string } }
      const value = JSON.parse(response.content.text)
      const text = JSON.stringify({
        ...value,
        message: echo,
        password: "canary-password-9911",
        detail: value.detail && `${value.detail} ${echo}`
      })
      return { ...each, response: { ...response, content: { size: text.length, text } } }
    })
    const evidence = evidenceOf(repeated)
    const profile = profileOf(evidence)
    const report = reportOf(evidence, profile)
    const outputs = [JSON.stringify(profile), JSON.stringify(report), pageOf(report), tableOf(report)]
    for (const output of outputs) {
      expect(output.length).toBeGreaterThan(1_000)
      for (const secret of [...secrets, "canary-password-9911"]) {
        expect(Object.values(spellingsOf(secret)).filter((spelling) => output.includes(spelling))).toEqual([])
      }
    }
  })
})

describe("a long recording", () => {
  const first = Date.UTC(2026, 0, 1)

  /** A list of nodes, some tenths of a second after the first. */
  const list = (at: number, query: string, ids: ReadonlyArray<number>) => ({
    startedDateTime: new Date(first + at * 100).toISOString(),
    time: 5,
    request: { method: "GET", url: `https://a.example/myaccount/api/v1/nodes/?${query}` },
    response: { status: 200, headers: [], content: { text: JSON.stringify({ data: ids.map((id) => ({ id })) }) } }
  })

  it("is not searched from its beginning for each of its pages", () => {
    const entries = Array.from({ length: 20_000 }, (_, at) => list(at, `page=${at + 2}&per_page=1`, [at]))
    const { exchanges } = Result.getOrThrow(readEvidence(harOf(entries)))
    expect(judge(exchanges).find(({ claim }) => claim === "page is an alias of page_no")?.verdict).toBe("open")
  })
})
