/** Quick answers equal the answers of the whole program, but do not load it. */
import { readFileSync } from "node:fs"
import { PassThrough } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { tree } from "@berthkit/cli/commands"
import { verbsOf } from "@berthkit/cli/commandTree"
import { cachePath, writeCache } from "@berthkit/cli/completions"
import { Clock, Effect } from "effect"
import { run, runFull } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { stateFolder } from "./stateFolder.ts"

const lines: ReadonlyArray<ReadonlyArray<string>> = [
  ["--help"],
  ["--version"],
  ["version"],
  ["node", "--help"],
  ["node", "list", "--help"],
  ["help", "node", "create"],
  ["api", "-h"],
  ["--help", "--color", "always"],
  ["node", "list", "--help", "--color", "never"],
  ["__complete", "bash", "--", "node", "de"],
  ["__complete", "zsh", "--", "node", "list", "--status", ""]
]

/** The texts that the bundle has, each with the command line that it answers. */
const texts: ReadonlyArray<readonly [args: string, text: string]> = JSON.parse(
  readFileSync("apps/cli/dist/answer/answers.json", "utf8")
)

describe("a text of the bundle", () => {
  it.live("is what the program prints at a terminal: the help of every command and the version", () =>
    Effect.gen(function* () {
      for (const [args, text] of texts) {
        assert.strictEqual(text, (yield* invoke(JSON.parse(args), { terminalColumns: 80 })).stdout, args)
      }
      const helps = texts.map(([args]) => args)
      for (const { path } of verbsOf(tree)) assert.include(helps, JSON.stringify([...path, "--help"]))
    })
  )

  const settings = [{ FORCE_COLOR: "1" }, { FORCE_COLOR: "1", NO_COLOR: "1" }, { BERTH_OUTPUT: "json" }]
  it.live.each(settings)("is printed as the program prints it with %j", (env) =>
    Effect.gen(function* () {
      const answer = yield* run(["node", "list", "--help"], { env })
      assert.deepStrictEqual(answer, yield* invoke(["node", "list", "--help"], { env }))
    })
  )

  it.live("to a full disk exits with 10", () =>
    Effect.gen(function* () {
      const { code, stderr } = yield* runFull(["--help"], {})
      assert.strictEqual(code, 10)
      assert.match(stderr, /^error: The output cannot be written: no space left on device\.\nhint: /)
    })
  )

  it.live("is found by a whole command line only", () =>
    Effect.gen(function* () {
      for (const args of [
        ["node list", "--help"],
        ["node", "nothing", "version"],
        ["--", "version"]
      ]) {
        assert.deepStrictEqual(yield* run(args), yield* invoke(args))
      }
    })
  )
})

describe("an answer that loads no command", () => {
  for (const args of lines) {
    it.live(`is that of the program: berth ${args.join(" ")}`, () =>
      Effect.gen(function* () {
        const quick = yield* run(args)
        assert.deepStrictEqual([quick.code, quick.stderr], [0, ""])
        assert.strictEqual(quick.stdout, (yield* invoke(args)).stdout)
      })
    )
  }

  it.live("of completions takes the values that were read last, without a request", () =>
    Effect.gen(function* () {
      const XDG_CACHE_HOME = yield* stateFolder
      const env = { XDG_CACHE_HOME, BERTH_BASE_URL: "http://127.0.0.1:1", BERTH_API_KEY: "k", BERTH_ACCESS_TOKEN: "t" }
      const args = ["__complete", "zsh", "--", "node", "get", "w"]
      // If nothing is cached and the service cannot be reached, the completion offers nothing and reports nothing.
      assert.deepStrictEqual(yield* run(args, { env }), { code: 0, stdout: "", stderr: "" })
      const nodes = [{ value: "web", description: "7, running" }]
      const writtenMillis = yield* Clock.currentTimeMillis
      writeCache(cachePath(env, {}), { writtenMillis, values: { nodes } })
      assert.strictEqual((yield* run(args, { env })).stdout, "web\t7, running\n")
      const other = { ...env, BERTH_API_KEY: "another" }
      assert.strictEqual((yield* run(args, { env: other })).stdout, "")
    }).pipe(Effect.scoped)
  )

  it.live("to a full disk exits with 10", () =>
    Effect.gen(function* () {
      const full = new PassThrough({
        transform: (_chunk, _encoding, done) => done(new Error("ENOSPC: no space left on device, write"))
      })
      assert.strictEqual((yield* invoke(["--help"], { stdout: full })).code, 10)
    })
  )
})
