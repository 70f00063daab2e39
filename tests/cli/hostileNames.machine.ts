/** A name with any characters can be used to address its node, and never starts a new line or shows a control code on the terminal. */
import { PassThrough } from "node:stream"
import { run } from "@berthkit/cli/program"
import { isSoak } from "@berthkit/testing/chance"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berthkit/server/testing"
import { ConfigProvider, Effect, Fiber, Schedule } from "effect"
import { CliOutput } from "effect/cli"
import { inDialect } from "../account.ts"
import { controls, json, lines, settings } from "./berth.ts"
import { berth } from "./invoke.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const names: ReadonlyArray<readonly [what: string, name: string]> = [
  ["control characters", "a\u001b[2J\u0007\u009b31mb\u007f"],
  ["line feeds", "one\ntwo\r\nerror: three\u2028four"],
  ["wide text", "服务器-ｗｅｂ-🚀"],
  ["right-to-left text", "שרת\u202edne\u2066x\u061cy"],
  ["combining marks", "e\u0301\u200d👩\u200d💻"],
  ["an asterisk", "w*"],
  ["a pattern", "{a,b}[12]?"],
  ["digits only", "42"],
  ["a prefix", "name:42"],
  ["quotes and blanks", ` 'a' "b" $(c) \\`],
  ["a flag", "--yes"]
]

/** Characters that no string from outside may send to a terminal. */
const overrides = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

/** A NODE argument for exactly this name. */
const asNode = (name: string) => `name:${name}`

/** Runs a command whose stderr is a terminal, and returns its output there without berth's own codes. */
const onTerminal = (args: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const env = { ...(yield* settings), NO_COLOR: "1" }
    const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
    const stderr = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
    const chunks: Array<string> = []
    for (const stream of [stdout, stderr]) stream.on("data", (chunk: Buffer) => void chunks.push(String(chunk)))
    const provider = ConfigProvider.fromEnv({ env })
    const code = yield* Effect.provideService(run(args, { stdout, stderr }), ConfigProvider.ConfigProvider, provider)
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    return { code, text: chunks.join("").replaceAll("\r\u001b[2K", "") }
  })

/** The code that clears everything after the cursor. It follows the code that moves the cursor up. */
const erase = "\u001b[J"

/** The output of a watch, until it has been read often enough. `change` runs once the watch has read the nodes. */
const watching = (
  surface: object,
  args: ReadonlyArray<string>,
  isEnough: (shown: string) => boolean,
  change: Effect.Effect<unknown> = Effect.void
) =>
  Effect.gen(function* () {
    const { journal } = yield* TestServer
    const reads = Effect.map(journal, (entries) => entries.filter(({ operation }) => operation === "nodes.list").length)
    const before = yield* reads
    const stdout = Object.assign(new PassThrough(), surface)
    const stderr = new PassThrough()
    stderr.resume()
    let shown = ""
    stdout.on("data", (chunk: Buffer) => void (shown += String(chunk)))
    const provider = ConfigProvider.fromEnv({ env: { ...(yield* settings), NO_COLOR: "1" } })
    const command = run(["node", "watch", "--interval", "1s", ...args], { stdout, stderr })
    const fiber = yield* Effect.forkScoped(Effect.provideService(command, ConfigProvider.ConfigProvider, provider))
    const schedule = Schedule.spaced("20 millis")
    // A list of one page takes two requests.
    yield* Effect.repeat(reads, { until: (count) => count >= before + 3, schedule })
    yield* change
    yield* Effect.repeat(
      Effect.sync(() => shown),
      { until: isEnough, schedule }
    )
    yield* Fiber.interrupt(fiber)
    return shown
  })

describe("a name", () => {
  it.live.each(isSoak ? names : names.filter((_, index) => index % 3 === 0))(
    "with %s is reachable, and writes nothing of its own",
    ([, name]) =>
      Effect.gen(function* () {
        const { advance } = yield* TestServer
        const made = yield* berth(["node", "create", `--name=${name}`, ...order, "-o", "json"])
        assert.strictEqual(made.code, 0, made.stderr)
        const { id } = json<{ id: number }>(made)
        const node = asNode(name)
        const read = yield* berth(["node", "get", node, "-o", "json"])
        assert.deepInclude(json<object>(read), { id, name })

        const dry = ["--dry-run", "--yes"]
        for (const args of [
          ["node", "list"],
          ["cost"],
          ["node", "ssh", `${node}x`],
          ["node", "delete", node],
          ["node", "get", node],
          ["node", "get", `${node}x`],
          ["node", "wait", node, "--for", "created"],
          ["node", "ip", node],
          ["node", "delete", node, ...dry],
          ["commitment", "set", node, "auto_terminate", ...dry],
          ["commitment", "set", node, "auto_terminate", "--yes"],
          ["node", "create", `--name=${name}`, ...order, "--if-absent"],
          [
            "node",
            "create",
            `--name=${name}`,
            "--plan",
            "A-1VCPU-2RAM-20DISK",
            "--image",
            "Ubuntu-22.04",
            "--if-absent"
          ],
          ["node", "create", `--name=${name}`, ...order, "--count", "2", ...dry]
        ]) {
          const plain = yield* berth(args)
          const painted = yield* onTerminal(args)
          assert.strictEqual(painted.code, plain.code)
          for (const text of [plain.stdout, plain.stderr, painted.text]) {
            assert.notMatch(text, controls, args.join(" "))
            assert.notMatch(text, overrides, args.join(" "))
            // No part of a name may begin a line.
            for (const line of lines(text)) assert.notMatch(line, /^(?:two|error: three|four)/)
          }
          const { stdout } = yield* berth([...args, "-o", "ndjson"])
          assert.notMatch(stdout, controls)
          assert.notMatch(stdout, overrides)
          for (const line of lines(stdout)) JSON.parse(line)
        }
        const offered = yield* berth(["__complete", "bash", "--", "node", "get", ""])
        for (const line of lines(offered.stdout)) assert.match(line, /^[^\p{Cc}]*\t[^\p{Cc}]*$/u)
        assert.notMatch(offered.stdout, overrides)
        yield* advance("1 minute")
        const deleted = yield* berth(["node", "delete", node, "--yes"])
        assert.strictEqual(deleted.code, 0, deleted.stderr)
        assert.notMatch(deleted.stdout + deleted.stderr, controls)
      }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )

  it.live.each([80, 24])("is one row of a watch at a terminal of %i columns, no wider than that", (columns) =>
    Effect.gen(function* () {
      for (const [, name] of names) yield* berth(["node", "create", `--name=${name}`, ...order])
      const shown = yield* watching({ isTTY: true, columns }, [], (text) => text.split(erase).length > 2)
      // If a name started a new line, the watch would erase a wrong number of lines.
      const rows = names.length + 2
      for (const frame of shown.split(`\u001b[${rows}A${erase}`)) {
        assert.notMatch(frame, controls)
        assert.notMatch(frame, overrides)
        assert.lengthOf(lines(frame), rows, frame)
        for (const line of lines(frame)) assert.isAtMost(CliOutput.displayWidth(line), columns, line)
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is one line for each change of a watch in a pipe", () =>
    Effect.gen(function* () {
      for (const [, name] of names) yield* berth(["node", "create", `--name=${name}`, ...order])
      for (const [format, titles] of [
        ["table", 1],
        ["csv", 1],
        ["ndjson", 0],
        ["name", 0]
      ] as const) {
        const { control, id: world } = yield* TestServer
        const nodes = yield* Effect.orDie(control.nodes.list({ params: { world }, query: {} }))
        const [first] = nodes
        const status = first!.status === "running" ? "power-off" : "running"
        const change = Effect.forEach(nodes, ({ id }) =>
          Effect.orDie(control.nodes.change({ params: { world, id }, payload: { status } }))
        )
        const wanted = names.length + titles
        const shown = yield* watching({}, ["-o", format], (text) => lines(text).length >= wanted, change)
        assert.lengthOf(lines(shown), wanted, format)
        assert.notMatch(shown, controls, format)
        assert.notMatch(shown, overrides, format)
        if (format === "ndjson") {
          const seen = lines(shown).map((line) => JSON.parse(line).name)
          assert.deepStrictEqual(seen.toSorted(), names.map(([, name]) => name).toSorted())
        }
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("that several nodes have is listed in one line of the error", () =>
    Effect.gen(function* () {
      const [, name] = names[1]!
      for (let count = 0; count < 2; count++) yield* berth(["node", "create", `--name=${name}`, ...order])
      const { code, stderr } = yield* berth(["node", "get", asNode(name)])
      assert.strictEqual(code, 2)
      assert.lengthOf(lines(stderr), 2)
      assert.notMatch(stderr, controls)
    }).pipe(Effect.provide(TestServer.layer(inDialect())))
  )
})
