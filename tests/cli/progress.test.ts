/** What a command prints while it waits and when the wait ends, against the mock service. */
import { PassThrough } from "node:stream"
import { text } from "node:stream/consumers"
import { run } from "@berthkit/cli/program"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { ConfigProvider, Effect } from "effect"
import { firstStatus, inDialect } from "../account.ts"
import { json, lines, settings, start } from "./berth.ts"
import { berth, invoke } from "./invoke.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** Runs a command on a terminal of 80 columns, and returns each live line with its time. */
const onTerminal = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const env = yield* settings
    const stdout = new PassThrough()
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
    const painted: Array<{ readonly line: string; readonly atMillis: number }> = []
    const startedAt = performance.now()
    stderr.on("data", (chunk: Buffer) => {
      for (const line of String(chunk).split("\r\u001b[2K")) {
        if (line !== "") painted.push({ line, atMillis: performance.now() - startedAt })
      }
    })
    const data = text(stdout)
    const provider = ConfigProvider.fromEnv({ env })
    const code = yield* Effect.provideService(run(args, { stdout, stderr }), ConfigProvider.ConfigProvider, provider)
    stdout.end()
    return { code, painted, stdout: yield* Effect.promise(() => data) }
  })

describe("on a terminal", () => {
  it.live("a slow list is shown before it ends", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      yield* arm([{ fault: "latency", delay: "2500 millis", scope: { operation: "nodes.list" } }])
      const { code, painted } = yield* onTerminal(["node", "list"])
      assert.strictEqual(code, 0)
      const [first] = painted.filter(({ line }) => line.includes("reading the list of nodes"))
      assert.isDefined(first)
      if (isSoak) assert.isBelow(first.atMillis, 2000)
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )

  it.live("a pause for the rate limit is shown with its end", () =>
    Effect.gen(function* () {
      const { painted } = yield* onTerminal(["node", "get", "fleet-1", "fleet-2", "fleet-3", "fleet-4"])
      assert.isTrue(
        painted.some(({ line }) => /waiting for the rate limit until \d\d:\d\d:\d\d UTC \(\d+ s\)/.test(line)),
        JSON.stringify(painted)
      )
    }).pipe(
      Effect.provide(
        TestServer.layer(
          inDialect({ scenario: { fleet: 5 }, clock: "real", rateLimit: { limit: 3, window: "4 seconds" } })
        )
      )
    )
  )

  it.live("a retry is shown with its reason", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      yield* arm([{ fault: "status", status: 503, times: 5, scope: { operation: "nodes.list" } }])
      const { code, painted } = yield* onTerminal(["node", "list"])
      assert.strictEqual(code, 0)
      assert.isTrue(painted.some(({ line }) => /attempt \d failed \(503\), trying again/.test(line)))
    }).pipe(Effect.provide(TestServer.layer(inDialect({ scenario: "small" }))))
  )
})

describe("node wait", () => {
  it.live("survives a service that fails or refuses for a while", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const { id } = json<{ id: number }>(yield* berth(["node", "create", "web", ...order, "-o", "json"]))
      yield* server.arm([
        { fault: "status", status: 503, times: 3, scope: { operation: "nodes.get" } },
        { fault: "status", status: 429, retryAfter: 1, times: 1, scope: { operation: "nodes.get" } }
      ])
      const running = yield* start(["node", "wait", String(id)], { env: yield* settings })
      yield* running.untilStderr(`${firstStatus} (`)
      yield* server.advance("3 seconds")
      const { code, stderr } = yield* running.ended
      assert.strictEqual(code, 0, stderr)
      assert.include(stderr, "running (")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("node create --wait", () => {
  it.live("that times out states that the node exists, is billed, and how to go on", () =>
    Effect.gen(function* () {
      const args = ["node", "create", "web", ...order, "--wait", "--timeout", "1s"]
      const { code, stderr } = yield* berth(args)
      const [node] = json<ReadonlyArray<{ id: number }>>(yield* berth(["node", "list", "-o", "json"]))
      assert.strictEqual(code, 7)
      const [error, hint] = lines(stderr).slice(-2)
      assert.match(error!, /^error: Timed out after [\d.]+ s: .+ The node exists and is billed\.$/)
      assert.strictEqual(
        hint,
        `hint: To continue waiting: berth node wait ${node!.id}; to remove it: berth node delete ${node!.id}`
      )
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("names the account in the commands that go on, where flags name it", () =>
    Effect.gen(function* () {
      const { BERTH_BASE_URL: url, ...secrets } = yield* settings
      const args = ["node", "create", "web", ...order, "--wait", "--timeout", "1s", "--base-url", url]
      const { stderr } = yield* invoke(args, { env: secrets })
      const berthAt = `berth --base-url ${url} node`
      assert.match(
        lines(stderr).at(-1)!,
        new RegExp(`^hint: To continue waiting: ${berthAt} wait \\d+; to remove it: ${berthAt} delete \\d+$`)
      )
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("on Ctrl-C prints the command that continues the wait, and exits 130", () =>
    Effect.gen(function* () {
      const running = yield* start(["node", "create", "web", ...order, "--wait"], { env: yield* settings })
      yield* running.untilStderr(`: ${firstStatus}`)
      yield* running.kill("SIGINT")
      const { code, stderr } = yield* running.ended
      assert.strictEqual(code, 130)
      assert.match(stderr, /hint: To continue waiting: berth node wait \d+ --for running\n$/)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
