/**
 * Whatever a name holds, its node is reachable by it, and the name never writes a line or a code of its own.
 */
import { PassThrough } from "node:stream"
import { run } from "@berth/cli/program"
import { assert, describe, it } from "@effect/vitest"
import { TestServer } from "@berth/server/testing"
import { ConfigProvider, Effect } from "effect"
import { controls, json, lines, settings } from "./berth.ts"
import { berth } from "./invoke.ts"

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const names: ReadonlyArray<readonly [what: string, name: string]> = [
  ["control characters", "a\u001b[2J\u0007\u009b31mb\u007f"],
  ["line feeds", "one\ntwo\r\nerror: three\u2028four"],
  ["wide text", "服务器-ｗｅｂ-🚀"],
  ["right-to-left text", "שרת\u202edne\u2066x"],
  ["combining marks", "e\u0301\u200d👩\u200d💻"],
  ["an asterisk", "w*"],
  ["a pattern", "{a,b}[12]?"],
  ["digits only", "42"],
  ["a prefix", "name:42"],
  ["quotes and blanks", ` 'a' "b" $(c) \\`],
  ["a flag", "--yes"]
]

/** What no text from outside may bring to a terminal. */
const overrides = /[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/

/** A NODE argument that names exactly this. */
const asNode = (name: string) => `name:${name}`

/** Runs a command whose stderr is a terminal, and gives what it wrote there without its own codes. */
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

describe("a name", () => {
  it.live.each(names)("with %s is reachable, and writes nothing of its own", ([, name]) =>
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
        ["node", "create", `--name=${name}`, "--plan", "A-1VCPU-2RAM-20DISK", "--image", "Ubuntu-22.04", "--if-absent"],
        ["node", "create", `--name=${name}`, ...order, "--count", "2", ...dry]
      ]) {
        const plain = yield* berth(args)
        const painted = yield* onTerminal(args)
        assert.strictEqual(painted.code, plain.code)
        for (const text of [plain.stdout, plain.stderr, painted.text]) {
          assert.notMatch(text, controls, args.join(" "))
          assert.notMatch(text, overrides, args.join(" "))
          // The first line of a name is never the beginning of a line.
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
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.live("that several nodes have is listed in one line of the error", () =>
    Effect.gen(function* () {
      const [, name] = names[1]!
      for (let count = 0; count < 2; count++) yield* berth(["node", "create", `--name=${name}`, ...order])
      const { code, stderr } = yield* berth(["node", "get", asNode(name)])
      assert.strictEqual(code, 2)
      assert.lengthOf(lines(stderr), 2)
      assert.notMatch(stderr, controls)
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
