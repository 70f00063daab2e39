/** Quick answers equal the answers of the whole program, but do not load it. */
import { PassThrough } from "node:stream"
import { assert, describe, it } from "@effect/vitest"
import { cachePath, writeCache } from "@berthkit/cli/completions"
import { Clock, Effect } from "effect"
import { run } from "./berth.ts"
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
  ["__complete", "bash", "--", "node", "de"],
  ["__complete", "zsh", "--", "node", "list", "--status", ""]
]

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
