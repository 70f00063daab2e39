import { type AttemptReport, createClient } from "@berthkit/core/promise"
import { assert, describe, it, vi } from "@effect/vitest"
import { seenOf } from "@berthkit/testing/spellings"
import { accessToken, apiKey, bareService, mockService, rejection } from "./Service.ts"

const envelope = (data: unknown) => JSON.stringify({ message: "Success", code: 200, data, errors: {} })
const record = { id: 7, name: "web", status: "running", created_at: "2026-01-01T00:00:00Z" }

describe("`onAttempt`", () => {
  it("is called with each attempt when it has ended: what was sent, and its entry in the ledger", async () => {
    const reports: Array<AttemptReport> = []
    let requests = 0
    await using service = await bareService(
      (_, response) => {
        if (++requests === 1) response.writeHead(503).end()
        else response.end(envelope(record))
      },
      { onAttempt: (attempt) => reports.push(attempt) }
    )
    await service.client.nodes.get(7)
    assert.deepStrictEqual(
      reports.map(({ method, number, operation, outcome, status, url }) => ({
        operation,
        method,
        url,
        number,
        status,
        outcome
      })),
      ([1, 2] as const).map((number) => ({
        operation: "nodes.get",
        method: "GET",
        url: `${service.baseUrl}/myaccount/api/v1/nodes/7/?apikey=<redacted>`,
        number,
        status: number === 1 ? 503 : 200,
        outcome: number === 1 ? "ServiceUnavailable" : "ok"
      }))
    )
    assert.isAbove(reports[1]!.backoffMillis, 0)
    assert.isAtLeast(reports[1]!.durationMillis, 0)
  })

  it("has the ledger's entries, instants as `Date`s, and the query as it was sent", async () => {
    const reports: Array<AttemptReport> = []
    await using service = await mockService({}, { onAttempt: (attempt) => reports.push(attempt) })
    const { nodes } = service.client
    await nodes.listPage({ page: 2, perPage: 5 })
    assert.include(reports[0]!.url, "/nodes/?page_no=2&per_page=5&apikey=<redacted>")
    assert.instanceOf(reports[0]!.allowance!.resetAt, Date)
    const error = await rejection(nodes.get(4711))
    const { method: _method, operation: _operation, url: _url, ...entry } = reports[1]!
    assert.deepStrictEqual([entry], error.attempts as ReadonlyArray<unknown> as Array<typeof entry>)
  })

  it("never receives a credential, even a repeated one, while a `fetch` of the caller's is given both", async () => {
    const reports: Array<AttemptReport> = []
    const sent: Array<string> = []
    await using service = await bareService(
      (_, response) => response.writeHead(400).end(`no ${apiKey} ${accessToken}`),
      {
        onAttempt: (attempt) => reports.push(attempt),
        fetch: (input, init) => {
          sent.push(String(input), JSON.stringify(init?.headers))
          return globalThis.fetch(input, init)
        }
      }
    )
    const query = { name: accessToken, note: apiKey }
    await rejection(service.client.raw.request({ method: "GET", path: `/nodes/${encodeURIComponent(apiKey)}/`, query }))
    await rejection(service.client.nodes.get(7))
    assert.lengthOf(reports, 2)
    assert.deepStrictEqual(seenOf(JSON.stringify(reports), [apiKey, accessToken]), [])
    assert.isNotEmpty(seenOf(sent.join(" "), [apiKey]))
    assert.isNotEmpty(seenOf(sent.join(" "), [accessToken]))
  })

  it("receives an attempt without a reply", async () => {
    const reports: Array<AttemptReport> = []
    const client = createClient({
      baseUrl: "http://berth.test",
      apiKey,
      accessToken,
      deadline: 50,
      fetch: () => Promise.reject(new TypeError("no network")),
      onAttempt: (attempt) => reports.push(attempt)
    })
    await rejection(client.nodes.get(7))
    assert.isNotEmpty(reports)
    assert.deepInclude(reports[0], { status: null, outcome: "Unreachable", allowance: null })
    await client.close()
  })

  for (const [kind, fail] of Object.entries({
    throws: () => {
      throw new Error(`no more room for ${apiKey}`)
    },
    rejects: () => Promise.reject(new Error(`no more room for ${apiKey}`))
  })) {
    it(`that ${kind} takes nothing from the call, and is warned of once, on stderr`, async () => {
      const unhandled: Array<unknown> = []
      const onRejection = (error: unknown) => unhandled.push(error)
      process.on("unhandledRejection", onRejection)
      const stderr = vi.spyOn(console, "error").mockImplementation(() => {})
      try {
        await using service = await bareService((_, response) => response.end(envelope(record)), { onAttempt: fail })
        for (let i = 0; i < 3; i++) assert.strictEqual((await service.client.nodes.get(7)).id, 7)
        // Node reports an unhandled rejection after the microtasks of a turn.
        await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => setImmediate(resolve))
        const warnings = stderr.mock.calls.map((line) => line.join(" "))
        assert.lengthOf(warnings, 1)
        assert.match(warnings[0]!, /WARN.*onAttempt.*: no more room for <redacted>/)
        assert.deepStrictEqual(unhandled, [])
      } finally {
        stderr.mockRestore()
        process.off("unhandledRejection", onRejection)
      }
    })
  }
})
