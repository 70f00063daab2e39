/**
 * What ends a process from outside: each signal has its own exit code, and so has output that cannot be written.
 */
import { spawnSync } from "node:child_process"
import { closeSync, openSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { nodeRecord, ok } from "@berth/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { start } from "./berth.ts"
import { serve } from "./ScriptedServer.ts"

const binary = fileURLToPath(new URL("../../apps/cli/bin/berth.mjs", import.meta.url))
const account = { BERTH_API_KEY: "the-key-of-a-test", BERTH_ACCESS_TOKEN: "the-token-of-a-test" }

describe("a wait that is ended by", () => {
  it.live.each([
    ["SIGINT", 130],
    ["SIGHUP", 129],
    ["SIGTERM", 143]
  ] as const)("%s exits with %i, with the command that goes on waiting", ([signal, code]) =>
    Effect.gen(function* () {
      const node = nodeRecord({ id: 7, name: "web", status: "created" })
      const url = yield* serve(({ path }) => ok(path === "/nodes/" ? [node] : node))
      const running = yield* start(["node", "wait", "7"], { env: { ...account, BERTH_BASE_URL: url } })
      yield* running.untilStderr("created")
      yield* running.kill(signal)
      const ended = yield* running.ended
      assert.deepStrictEqual([ended.code, ended.stdout], [code, ""])
      assert.include(ended.stderr, "berth node wait 7 --for running")
    }).pipe(Effect.scoped)
  )
})

describe("a full disk", () => {
  it.each([[["--help"]], [["--version"]], [["profile", "list", "-o", "json"]]])("exits with 10: berth %j", (args) => {
    const full = openSync("/dev/full", "w")
    const { status, stderr } = spawnSync(process.execPath, [binary, ...args], {
      stdio: ["ignore", full, "pipe"],
      env: { PATH: process.env["PATH"] },
      encoding: "utf8"
    })
    closeSync(full)
    assert.strictEqual(status, 10)
    assert.match(stderr, /The output cannot be written: .*no space left on device/)
  })
})
