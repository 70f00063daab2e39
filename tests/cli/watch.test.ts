/**
 * `berth node watch` against the mock service: lines in a pipe, a table that is repainted on a terminal.
 */
import { PassThrough } from "node:stream"
import { run } from "@berthkit/cli/program"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { Clock, ConfigProvider, Effect, Fiber, Schedule } from "effect"
import { firstStatus, inDialect, shownPlan } from "../account.ts"
import { json, lines, settings, start } from "./berth.ts"
import { berth } from "./invoke.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const created = (name: string) =>
  Effect.map(
    berth(["node", "create", name, ...order, "-o", "json"]),
    (ended) => json<{ readonly id: number }>(ended).id
  )

/** Waits until this many lists were read. */
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
      const read = (yield* journal).filter(({ operation }) => operation === "nodes.list").length
      const running = yield* start(["node", "watch", "--interval", "1s", "-o", "ndjson"], { env: yield* settings })
      const text = yield* start(["node", "watch", "--interval", "1s", String(first)], { env: yield* settings })
      /** Waits until both watches show this status, before the next change. */
      const bothShow = (status: string) =>
        Effect.andThen(running.untilStdout(new RegExp(`"id":${first}\\b.*"to":"${status}"`)), text.untilStdout(status))
      // The second reading begins only after the first one was printed. The titles come with the first reading.
      yield* untilRead(read + 2, "nodes.list")
      yield* text.untilStdout("NAME")
      const second = yield* created("database")
      yield* running.untilStdout(`"to":"${firstStatus}"`)
      yield* advance("1 minute")
      yield* bothShow("running")
      yield* berth(["node", "delete", String(first), "--yes"])
      yield* bothShow("terminate")
      yield* advance("1 minute")
      yield* running.untilStdout('"to":null')
      yield* running.kill("SIGINT")
      const ended = yield* running.ended
      assert.strictEqual(ended.code, 130)
      const changes = lines(ended.stdout).map((line) => JSON.parse(line))
      assert.deepStrictEqual(
        changes.map(({ from, id, to }) => [id, from, to]),
        [
          [second, null, firstStatus],
          [first, firstStatus, "running"],
          [second, firstStatus, "running"],
          [first, "running", "terminate"],
          [first, "terminate", null]
        ]
      )
      // A watch of named nodes ends when the last of them is gone.
      const named = yield* text.ended
      assert.strictEqual(named.code, 0)
      assert.deepStrictEqual(
        lines(named.stdout).map((line) => line.replace(/^\S+ +/, "").split(/ {2,}/)),
        [
          ["ID", "FROM", "TO", "NAME"],
          [String(first), firstStatus, "running", "web\\x1b[31m"],
          [String(first), "running", "terminate", "web\\x1b[31m"],
          [String(first), "terminate", "gone", "web\\x1b[31m"]
        ]
      )
      // Rows that were printed one after the other have aligned columns.
      const starts = lines(named.stdout).map((line) => [
        /FROM|created|creating|running|terminate/.exec(line)!.index,
        line.search(/NAME|web/)
      ])
      assert.lengthOf(new Set(starts.map(String)), 1)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("node watch over a service that fails", () => {
  it.live("in a pipe prints one note, and continues", () =>
    Effect.gen(function* () {
      const { advance, arm, journal } = yield* TestServer
      const id = yield* created("web")
      const args = ["node", "watch", "--interval", "1s", "--deadline", "1s", String(id)]
      const watch = yield* start(args, { env: yield* settings })
      // The titles come with the first reading.
      yield* watch.untilStdout("NAME")
      yield* arm([{ fault: "status", status: 503, scope: { operation: "nodes.get" } }])
      yield* watch.untilStderr("Reading again.")
      // Each reading makes about five attempts.
      yield* untilRead((yield* journal).filter(({ operation }) => operation === "nodes.get").length + 6, "nodes.get")
      yield* arm([])
      yield* advance("1 minute")
      yield* watch.untilStdout("running")
      yield* watch.kill("SIGINT")
      const { stderr } = yield* watch.ended
      assert.lengthOf(
        lines(stderr).filter((line) => line.endsWith("Reading again.")),
        1,
        stderr
      )
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

/** `berth node watch` on a terminal of this width, with what it has shown so far. */
const onTerminal = Effect.fnUntraced(function* (columns: number, ...args: ReadonlyArray<string>) {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns })
  const stderr = new PassThrough()
  stderr.resume()
  let shown = ""
  stdout.on("data", (chunk: Buffer) => {
    shown += String(chunk)
  })
  const provider = ConfigProvider.fromEnv({ env: { ...(yield* settings), NO_COLOR: "1" } })
  const fiber = yield* Effect.forkScoped(
    Effect.provideService(
      run(["node", "watch", "--interval", "1s", ...args], { stdout, stderr }),
      ConfigProvider.ConfigProvider,
      provider
    )
  )
  const until = (text: string | RegExp) =>
    Effect.repeat(
      Effect.sync(() => shown),
      { until: (now) => now.search(text) !== -1, schedule: Schedule.spaced("20 millis") }
    )
  const narrow = (to: number) => Effect.sync(() => void (stdout.columns = to))
  return { narrow, end: Fiber.interrupt(fiber), screens: Effect.sync(() => shown.split("\u001b[3A\u001b[J")), until }
})

describe("node watch on a terminal", () => {
  it.live("repaints one table", () =>
    Effect.gen(function* () {
      const id = yield* created("web")
      const { advance } = yield* TestServer
      const watch = yield* onTerminal(80)
      yield* watch.until(firstStatus)
      yield* advance("1 minute")
      yield* watch.until("running")
      yield* watch.end
      const screens = yield* watch.screens
      assert.isAtLeast(screens.length, 2)
      for (const screen of screens) {
        const [header, row, status, ...rest] = screen.split("\n")
        assert.match(header!, /ID +NAME +STATUS/)
        assert.include(row, `${id}  web`)
        assert.match(status!, /^1 node at .+, read every 1 s/)
        assert.deepStrictEqual(rest, [""])
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("shows a reading that failed in its last line, over the nodes as they were read last", () =>
    Effect.gen(function* () {
      const id = yield* created("web")
      const { arm } = yield* TestServer
      const watch = yield* onTerminal(120, "--deadline", "1s", String(id))
      yield* watch.until("1 node at")
      yield* arm([{ fault: "status", status: 503, scope: { operation: "nodes.get" } }])
      yield* watch.until("Reading again.")
      yield* arm([])
      yield* watch.until(/Reading again\.\n[^]*1 node at/)
      yield* watch.end
      for (const screen of yield* watch.screens) {
        const [header, row, status, ...rest] = screen.split("\n")
        assert.match(header!, /ID +NAME +STATUS/)
        assert.include(row, `${id}  web`)
        assert.match(
          status!,
          /^1 node at .+, read every 1 s|^The service is not available \(503\): .+ Reading again\.$/
        )
        assert.deepStrictEqual(rest, [""])
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("shows how old the nodes are, at each reading anew", () =>
    Effect.gen(function* () {
      yield* created("web")
      const [{ createdAt }] = json<readonly [{ createdAt: string }]>(yield* berth(["node", "list", "-o", "json"]))
      const clock = yield* Clock.Clock
      let nowMillis = Date.parse(createdAt) + 5 * 60_000
      const atWill: Clock.Clock = Object.assign(Object.create(clock), {
        currentTimeMillisUnsafe: () => nowMillis,
        currentTimeMillis: Effect.sync(() => nowMillis)
      })
      const watch = yield* Effect.provideService(onTerminal(200), Clock.Clock, atWill)
      yield* watch.until(/ 5m\n/)
      nowMillis += 2 * 3_600_000
      yield* watch.until(/ 2h\n/)
      yield* watch.end
      assert.match((yield* watch.screens)[0]!, / AGE\n.* 5m\n/)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("writes no line that wraps, which the next one could not erase", () =>
    Effect.gen(function* () {
      yield* created("web")
      const watch = yield* onTerminal(20)
      yield* watch.until("1 node at")
      yield* watch.end
      for (const screen of yield* watch.screens) {
        for (const line of screen.split("\n")) assert.isAtMost(line.length, 20)
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("erases the lines that a narrower terminal has wrapped, and fits it from then on", () =>
    Effect.gen(function* () {
      yield* created("web")
      const watch = yield* onTerminal(100)
      yield* watch.until("1 node at")
      yield* watch.narrow(60)
      // The titles and the node's row have up to 100 cells, and so take two lines each.
      yield* watch.until(/\[5A.+node at/s)
      yield* watch.end
      const last = (yield* watch.screens).join("").split("\u001b[5A\u001b[J").at(-1)!
      for (const line of last.split("\n")) assert.isAtMost(line.length, 60)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("shows of named nodes what the list has of them, too", () =>
    Effect.gen(function* () {
      yield* created("web")
      const watch = yield* onTerminal(80, "web", "--columns", "name,memory,plan")
      yield* watch.until("1 node at")
      yield* watch.end
      const [, row] = (yield* watch.screens)[0]!.split("\n")
      assert.match(row!, new RegExp(`^web +8 GiB  ${shownPlan("C-2VCPU-8RAM-50DISK")}$`))
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("shows the columns that are asked for, in the order that is asked for", () =>
    Effect.gen(function* () {
      const ids = [yield* created("alpha"), yield* created("beta")]
      const watch = yield* onTerminal(80, "--columns", "name,id", "--sort", "-id", "--no-header")
      yield* watch.until("2 nodes at")
      yield* watch.end
      const [first = ""] = yield* watch.screens
      assert.deepStrictEqual(first.split("\n").slice(0, 2), [`beta   ${ids[1]}`, `alpha  ${ids[0]}`])
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
