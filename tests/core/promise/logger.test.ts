import {
  type AttemptReport,
  createClient,
  InvalidOption,
  type Logger,
  type LogLevel,
  type RawReply
} from "@berthkit/core/promise"
import { assert, describe, it, vi } from "@effect/vitest"
import { accessToken, apiKey, bareService, rejection } from "./Service.ts"

const envelope = (data: unknown) => JSON.stringify({ message: "Success", code: 200, data, errors: {} })
const record = { id: 7, name: "web", status: "running", created_at: "2026-01-01T00:00:00Z" }

/** A logger that keeps its lines without the times. */
const keeping = () => {
  const lines: Array<string> = []
  const keep = (level: string) => (message: string) =>
    void lines.push(`${level} ${message.replaceAll(/[\d.]+ ms/g, "N ms")}`)
  const logger: Logger = { debug: keep("debug"), info: keep("info"), warn: keep("warn") }
  return { lines, logger }
}

/** A service that fails every first request, and a client that logs. */
const logged = (logger: Logger, logLevel?: LogLevel) => {
  let requests = 0
  return bareService(
    (_, response) => (++requests === 1 ? response.writeHead(503).end() : response.end(envelope(record))),
    {
      logger,
      ...(logLevel !== undefined && { logLevel })
    }
  )
}

describe("the logger of a client", () => {
  it("gets a line for each attempt, a failed one at `info` and a success at `debug`, the key masked", async () => {
    const { lines, logger } = keeping()
    await using service = await logged(logger, "debug")
    await service.client.nodes.get(7)
    const address = `GET ${service.baseUrl}/myaccount/api/v1/nodes/7/?apikey=<redacted>`
    assert.deepStrictEqual(lines, [
      `info nodes.get: attempt 1, ${address}: ServiceUnavailable (503) in N ms`,
      `debug nodes.get: attempt 2, ${address}: 200 in N ms, after a pause of N ms`
    ])
    assert.notInclude(lines.join(), apiKey)
  })

  it("gets no less important lines than `logLevel`, which is `info` by default", async () => {
    for (const [level, expected] of [
      [undefined, ["info"]],
      ["info", ["info"]],
      ["warn", []],
      ["off", []]
    ] as const) {
      const { lines, logger } = keeping()
      await using service = await logged(logger, level)
      await service.client.nodes.get(7)
      assert.deepStrictEqual(
        lines.map((line) => line.split(" ")[0]),
        [...expected]
      )
    }
  })

  it("gets the client's warnings in place of stderr", async () => {
    const stderr = vi.spyOn(console, "error").mockImplementation(() => {})
    try {
      const { lines, logger } = keeping()
      await using service = await bareService((_, response) => response.end(envelope(record)), {
        logger,
        onAttempt: () => {
          throw new Error(`no room for ${apiKey}`)
        }
      })
      await service.client.nodes.get(7)
      assert.deepStrictEqual(lines, ["warn The listener onAttempt of createClient failed: no room for <redacted>"])
      assert.lengthOf(stderr.mock.calls, 0)
    } finally {
      stderr.mockRestore()
    }
  })

  it("does not affect a call when it throws", async () => {
    const fail = () => {
      throw new Error("no more room")
    }
    await using service = await logged({ debug: fail, info: fail, warn: fail }, "debug")
    assert.strictEqual((await service.client.nodes.get(7)).id, 7)
  })

  it("must have its methods, and a known level", () => {
    const make = (options: object) => () =>
      createClient({ baseUrl: "http://berth.test", apiKey, accessToken, ...options })
    assert.throws(make({ logger: {} }), InvalidOption, /logger is not usable: .*debug, info and warn/)
    assert.throws(
      make({ logLevel: "loud" }),
      InvalidOption,
      /logLevel is not usable: expected one of debug, info, warn, off/
    )
    assert.doesNotThrow(make({ logger: console }))
  })
})

describe("the options of one call", () => {
  it("are its attempts, their time, headers and hooks, beside those of the client", async () => {
    const headers: Array<ReadonlyArray<string | undefined>> = []
    const told: Array<string> = []
    const onAttempt = (who: string) => (attempt: AttemptReport) => void told.push(`${who} ${attempt.number}`)
    const onReply = (who: string) => (reply: RawReply) => void told.push(`${who} ${reply.status}`)
    await using service = await bareService(
      (request, response) => {
        headers.push([request.headers["x-team"], request.headers["x-trace"]].map(String))
        response.writeHead(503).end()
      },
      { headers: { "x-team": "blue" }, onAttempt: onAttempt("client"), onReply: onReply("client") }
    )
    const { nodes } = service.client
    const error = await rejection(
      nodes.get(7, {
        maxAttempts: 2,
        attemptTimeout: "5 seconds",
        headers: { "x-trace": "7" },
        onAttempt: onAttempt("call"),
        onReply: onReply("call")
      })
    )
    assert.lengthOf(error.attempts, 2)
    assert.deepStrictEqual(headers, [
      ["blue", "7"],
      ["blue", "7"]
    ])
    assert.deepStrictEqual(told, ["client 1", "call 1", "client 2", "call 2", "client 503", "call 503"])
  })

  it("are refused by their names before anything is sent", async () => {
    const client = createClient({
      baseUrl: "http://berth.test",
      apiKey,
      accessToken,
      fetch: () => assert.fail("it was sent")
    })
    for (const [option, value] of [
      ["maxAttempts", 9],
      ["maxAttempts", 0],
      ["attemptTimeout", -1],
      ["headers", { authorization: "Bearer mine" }],
      ["headers", new Headers()],
      ["onAttempt", "log"]
    ] as const) {
      const error = await rejection(client.nodes.get(7, { [option]: value } as never))
      assert.instanceOf(error, InvalidOption)
      assert.strictEqual(error.option, option)
    }
    const waiting = await rejection(client.nodes.awaitStatus(7, "running", { maxAttempts: 2 } as never))
    assert.strictEqual((waiting as InvalidOption).option, "maxAttempts")
    await client.close()
  })
})
