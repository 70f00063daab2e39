import {
  Aborted,
  ClientClosed,
  InvalidOption,
  isKnownStatus,
  type SignalOptions,
  type RawReply,
  StatusNotReached
} from "@berthkit/core/promise"
import { nodeRecord } from "@berthkit/core/testing"
import { assert, describe, it, vi } from "@effect/vitest"
import { bareService, mockService, rejection } from "./Service.ts"

describe("the allowance", () => {
  it("is what the replies reported", async () => {
    await using service = await mockService({
      scenario: { fleet: 3 },
      rateLimit: { limit: 500, window: 3_600_000, algorithm: "fixed-window" }
    })
    const { allowance, nodes } = service.client
    assert.deepInclude(await allowance.current(), { limit: null, remaining: null })
    await Array.fromAsync(nodes.list())
    assert.deepInclude(await allowance.current(), { limit: 500, remaining: 498, underWay: 0, waiting: 0 })
  })

  it("gives changes until its signal is aborted, or its client closed", async () => {
    await using service = await mockService({
      scenario: { fleet: 3 },
      rateLimit: { limit: 500, window: 3_600_000, algorithm: "fixed-window" }
    })
    const { allowance, close, nodes } = service.client
    const stop = new AbortController()
    const seen: Array<number | null> = []
    const watching = rejection(
      (async () => {
        for await (const { remaining } of allowance.changes({ signal: stop.signal })) {
          seen.push(remaining)
          if (remaining === 498) stop.abort()
        }
      })()
    )
    await Array.fromAsync(nodes.list())
    assert.instanceOf(await watching, Aborted)
    assert.strictEqual(seen[0], null)
    assert.strictEqual(seen.at(-1), 498)

    const changes = allowance.changes()[Symbol.asyncIterator]()
    await changes.next()
    const pending = rejection(changes.next())
    await close()
    assert.instanceOf(await pending, ClientClosed)
  })
})

describe("a watch of the allowance", () => {
  it("ends for a reader that waits when it is returned, and stays ended", async () => {
    await using service = await mockService()
    const changes = service.client.allowance.changes()[Symbol.asyncIterator]()
    await changes.next()
    const pending = [changes.next(), changes.next()]
    assert.deepStrictEqual(await changes.return?.(), { done: true, value: undefined })
    assert.deepStrictEqual(await Promise.all(pending), [
      { done: true, value: undefined },
      { done: true, value: undefined }
    ])
    assert.deepStrictEqual(await changes.next(), { done: true, value: undefined })
  })

  it("begins anew with every iteration, and may be left at any time", async () => {
    await using service = await mockService()
    const changes = service.client.allowance.changes()
    for (let i = 0; i < 2; i++) {
      for await (const { remaining } of changes) {
        assert.isNull(remaining)
        break
      }
    }
  })

  it("throws once, then is done", async () => {
    await using service = await mockService()
    const changes = service.client.allowance.changes({ signal: AbortSignal.abort() })[Symbol.asyncIterator]()
    assert.instanceOf(await rejection(changes.next()), Aborted)
    assert.deepStrictEqual(await changes.next(), { done: true, value: undefined })
    const later = service.client.allowance.changes()[Symbol.asyncIterator]()
    await service.client.close()
    assert.instanceOf(await rejection(later.next()), ClientClosed)
    assert.deepStrictEqual(await later.next(), { done: true, value: undefined })
  })

  it("and reading it reject options that mean nothing for them", async () => {
    await using service = await mockService()
    const { allowance } = service.client
    const wrong: ReadonlyArray<readonly [option: string, options: unknown]> = [
      ["deadline", { deadline: 5 }],
      ["lane", { lane: "sweep" }],
      ["signal", { signal: 7 }],
      ["options", 7]
    ]
    for (const [option, options] of wrong) {
      const error = await rejection(allowance.current(options as SignalOptions))
      assert.instanceOf(error, InvalidOption)
      assert.strictEqual(error.option, option)
      assert.throws(() => allowance.changes(options as SignalOptions), InvalidOption, option)
    }
    assert.instanceOf(await rejection(allowance.current({ signal: AbortSignal.abort() })), Aborted)
  })
})

describe("a wait for several nodes", () => {
  it("returns them in the order in which they were named, and waits for all", async () => {
    await using service = await mockService({ scenario: { fleet: 30 } })
    const { nodes } = service.client
    const ids = (await Array.fromAsync(nodes.list()))
      .filter(({ status }) => status === "running")
      .slice(0, 3)
      .map(({ id }) => id)
      .toReversed()
    const running = await nodes.awaitStatus(ids, "running", { lane: "interactive" })
    assert.deepStrictEqual(
      running.map(({ id }) => id),
      ids
    )
    const [first, second] = ids as [number, number]
    await nodes.delete(first)
    const error = await rejection(nodes.awaitStatus([second, first], "running"))
    assert.instanceOf(error, StatusNotReached)
    assert.strictEqual(error.nodeId, first)
    assert.deepStrictEqual(await nodes.awaitStatus([], "running"), [])
  })
})

describe("a status that Berth does not know", () => {
  it("is a text in the service's spelling, in nodes and in what a wait saw", async () => {
    const data = { id: 7, name: "web", status: "Hibernating", created_at: "2026-01-01T00:00:00Z" }
    await using service = await bareService((_, response) => {
      response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
    })
    const { nodes } = service.client
    const { extra, status } = await nodes.get(7)
    assert.strictEqual(status, "Hibernating")
    assert.isFalse(isKnownStatus(status))
    assert.isTrue(isKnownStatus("running"))
    assert.deepStrictEqual(extra, {})
    const error = await rejection(nodes.awaitStatus(7, "running", { timeout: 200 }))
    assert.instanceOf(error, StatusNotReached)
    assert.strictEqual(error.last, "Hibernating")
    assert.deepStrictEqual(error.seen, ["Hibernating"])
    assert.include(error.message, "Hibernating")
  })
})

describe("a listener", () => {
  it("of replies gets each as it came off the wire", async () => {
    await using service = await mockService({ scenario: { fleet: 150 } })
    const { images, nodes } = service.client
    const replies: Array<RawReply> = []
    await Array.fromAsync(nodes.list({ onReply: (reply) => replies.push(reply) }))
    await images.saved({ onReply: (reply) => replies.push(reply) })
    assert.deepStrictEqual(
      replies.map(({ headers, status }) => [status, headers["ratelimit-limit"]]),
      Array.from({ length: 3 }, () => [200, "1200"])
    )
    assert.strictEqual(JSON.parse(replies[2]!.body).message, "Success")
  })

  it("of a list gets its totals", async () => {
    await using service = await mockService({ scenario: { fleet: 150 } })
    const ends: Array<unknown> = []
    await Array.fromAsync(service.client.nodes.list({ onEnd: (listed) => ends.push(listed) }))
    assert.deepStrictEqual(ends, [
      { nodes: 150, requests: 2, complete: true, readToEnd: true, total: null, unreadable: [] }
    ])
  })

  it("of a page gets the records that cannot be read, which are a warning too, once", async () => {
    const body = JSON.stringify({ message: "Success", code: 200, data: [nodeRecord({ id: 7 }), { id: 8 }], errors: {} })
    const warnings: Array<string> = []
    const logger = { debug: () => {}, info: () => {}, warn: (line: string) => void warnings.push(line) }
    await using service = await bareService((_, response) => void response.end(body), { logger })
    const { client } = service
    const pages: Array<unknown> = []
    const page = await client.nodes.listPage({ onEnd: (page) => pages.push(page) })
    await client.nodes.listPage()
    assert.deepStrictEqual(
      page.map(({ id }) => id),
      [7]
    )
    const expected = "a string"
    assert.deepStrictEqual(pages, [
      { unreadable: [{ _tag: "UnreadableRecord", id: 8, name: null, field: "name", expected }] }
    ])
    assert.deepStrictEqual(warnings, ["The list has a record that cannot be read: node 8, whose name is not a string."])
  })

  it("of an inexact list is called assumed", async () => {
    const reported: Array<unknown> = []
    for (const fleet of [30, 150]) {
      await using service = await mockService({ scenario: { fleet } })
      await Array.fromAsync(service.client.nodes.list({ exact: false, onEnd: (listed) => reported.push(listed) }))
    }
    assert.deepStrictEqual(reported, [
      // The first page is not full. The second page overlaps it, which proves that no node was missed.
      { nodes: 30, requests: 2, complete: true, readToEnd: true, total: null, unreadable: [] },
      { nodes: 150, requests: 2, complete: "assumed", readToEnd: "assumed", total: null, unreadable: [] }
    ])
  })

  const failing: Record<string, (message: string) => unknown> = {
    throws: (message) => {
      throw new Error(message)
    },
    rejects: (message) => Promise.reject(new Error(message))
  }
  for (const [kind, fail] of Object.entries(failing)) {
    it(`that ${kind} takes nothing from the call; it is warned of once, on stderr`, async () => {
      await using service = await mockService({ scenario: { fleet: 150 } })
      const { nodes } = service.client
      const fails = () => fail(`no more room for ${service.options.apiKey}`)
      const unhandled: Array<unknown> = []
      const onRejection = (error: unknown) => unhandled.push(error)
      process.on("unhandledRejection", onRejection)
      const stderr = vi.spyOn(console, "error").mockImplementation(() => {})
      try {
        const listed = await Array.fromAsync(nodes.list({ onReply: fails, onEnd: fails }))
        assert.lengthOf(listed, 150)
        await nodes.delete(listed.find(({ status }) => status === "running")!.id, { onReply: fails })
        // Node reports an unhandled rejection after the microtasks of a turn.
        await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => setImmediate(resolve))
        const warnings = stderr.mock.calls.map((line) => line.join(" "))
        assert.deepStrictEqual(
          warnings.map((line) =>
            /WARN.*?(onReply|onEnd) of (nodes\.\w+).*: no more room for <redacted>/.exec(line)?.slice(1)
          ),
          [
            ["onReply", "nodes.list"],
            ["onEnd", "nodes.list"],
            ["onReply", "nodes.delete"]
          ]
        )
        assert.deepStrictEqual(unhandled, [])
      } finally {
        stderr.mockRestore()
        process.off("unhandledRejection", onRejection)
      }
    })
  }
})
