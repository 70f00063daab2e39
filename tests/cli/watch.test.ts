/**
 * `berth node watch` against the mock service: lines in a pipe, a table that is repainted on a terminal.
 */
import { PassThrough } from "node:stream"
import { run } from "@berth/cli/program"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berth/server/testing"
import { ConfigProvider, Effect, Fiber, Schedule } from "effect"
import { json, lines, settings, start } from "./berth.ts"
import { berth } from "./invoke.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const created = (name: string) =>
  Effect.map(
    berth(["node", "create", name, ...order, "-o", "json"]),
    (ended) => json<{ readonly id: number }>(ended).id
  )

/** Waits until so many lists were read. */
const untilRead = (count: number, operation: string) =>
  Effect.flatMap(TestServer, ({ journal }) =>
    Effect.repeat(journal, {
      until: (entries) => entries.filter((entry) => entry.operation === operation).length >= count,
      schedule: Schedule.spaced("20 millis")
    })
  )

describe("node watch in a pipe", () => {
  it.live("prints a line for each change: a new node, a status, an end", () =>
    Effect.gen(function* () {
      const { advance, journal } = yield* TestServer
      const first = yield* created("web\u001b[31m")
      const reads = Effect.map(journal, (entries) => entries.filter((each) => each.operation === "nodes.list").length)
      const next = Effect.flatMap(reads, (count) => untilRead(count + 2, "nodes.list"))
      const running = yield* start(["node", "watch", "--interval", "1s", "-o", "ndjson"], { env: yield* settings })
      const text = yield* start(["node", "watch", "--interval", "1s", String(first)], { env: yield* settings })
      yield* next
      const second = yield* created("db")
      yield* next
      yield* advance("1 minute")
      yield* next
      yield* berth(["node", "delete", String(first), "--yes"])
      yield* next
      yield* advance("1 minute")
      yield* next
      yield* running.kill("SIGINT")
      const ended = yield* running.ended
      assert.strictEqual(ended.code, 130)
      const changes = lines(ended.stdout).map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        changes.map(({ from, id, to }) => [id, from, to]),
        [
          [second, null, "created"],
          [first, "created", "running"],
          [second, "created", "running"],
          [first, "running", "terminate"],
          [first, "terminate", null]
        ]
      )
      // A watch of named nodes ends with the last of them.
      const named = yield* text.ended
      assert.strictEqual(named.code, 0)
      assert.deepStrictEqual(
        lines(named.stdout).map((line) => line.replace(/^\S+ {2}/, "")),
        [
          `web\\x1b[31m (${first}): created → running`,
          `web\\x1b[31m (${first}): running → terminate`,
          `web\\x1b[31m (${first}): terminate → gone`
        ]
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )
})

describe("node watch on a terminal", () => {
  it.live("repaints one table", () =>
    Effect.gen(function* () {
      const id = yield* created("web")
      const { advance } = yield* TestServer
      const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
      const stderr = new PassThrough()
      stderr.resume()
      let shown = ""
      stdout.on("data", (chunk: Buffer) => {
        shown += String(chunk)
      })
      const provider = ConfigProvider.fromEnv({ env: { ...(yield* settings), NO_COLOR: "1" } })
      const fiber = yield* Effect.forkChild(
        Effect.provideService(
          run(["node", "watch", "--interval", "1s"], { stdout, stderr }),
          ConfigProvider.ConfigProvider,
          provider
        )
      )
      const until = (text: string) =>
        Effect.repeat(
          Effect.sync(() => shown),
          { until: (now) => now.includes(text), schedule: Schedule.spaced("20 millis") }
        )
      yield* until("created")
      yield* advance("1 minute")
      yield* until("running")
      yield* Fiber.interrupt(fiber)
      const screens = shown.split("\u001b[3A\u001b[J")
      assert.isAtLeast(screens.length, 2)
      for (const screen of screens) {
        const [header, row, status, ...rest] = screen.split("\n")
        assert.match(header!, /ID +NAME +STATUS/)
        assert.include(row, `${id}  web`)
        assert.match(status!, /^1 nodes at .+, read every 1 s/)
        assert.deepStrictEqual(rest, [""])
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer()))
  )
})
