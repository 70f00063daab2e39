/** What `berth api` prints once it has changed something. */
import { PassThrough } from "node:stream"
import { ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const account = Effect.fnUntraced(function* (reply: Reply) {
  const BERTH_BASE_URL = yield* serve(() => reply)
  return {
    BERTH_API_KEY: "the-key",
    BERTH_ACCESS_TOKEN: "the-token",
    BERTH_BASE_URL,
    XDG_STATE_HOME: yield* stateFolder
  }
})

describe("a change that the service answers with an empty body", () => {
  const done = { method: "DELETE", path: "/nodes/5/", status: 204 }

  it.live.each([
    ["without a format", [], `${JSON.stringify(done, null, 2)}\n`],
    ["as JSON", ["-o", "json"], `${JSON.stringify(done, null, 2)}\n`],
    ["as a line of JSON", ["-o", "ndjson"], `${JSON.stringify(done)}\n`],
    ["as YAML", ["-o", "yaml"], "method: DELETE\npath: /nodes/5/\nstatus: 204\n"]
  ] as const)("is printed %s", ([, flags, stdout]) =>
    Effect.gen(function* () {
      const env = yield* account({ status: 204 })
      const ended = yield* invoke(["api", "DELETE", "/nodes/5/", ...flags], { env })
      assert.deepStrictEqual({ code: ended.code, stdout: ended.stdout }, { code: 0, stdout }, ended.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("is printed on a terminal", () =>
    Effect.gen(function* () {
      const env = yield* account({ status: 204 })
      const ended = yield* invoke(["api", "delete", "/nodes/5/"], { env, terminalColumns: 80 })
      assert.include(ended.stdout, '"status": 204')
    }).pipe(Effect.scoped)
  )

  it.live("is printed once, by its status line, with --include", () =>
    Effect.gen(function* () {
      const env = yield* account({ status: 204 })
      const ended = yield* invoke(["api", "DELETE", "/nodes/5/", "-i"], { env })
      assert.match(ended.stdout, /^HTTP 204\n/)
      assert.notInclude(ended.stdout, "method")
    }).pipe(Effect.scoped)
  )

  it.live("is named in the error if it cannot be printed", () =>
    Effect.gen(function* () {
      const env = yield* account({ status: 204 })
      const stdout = new PassThrough()
      stdout._write = (_chunk, _encoding, done) => done(Object.assign(new Error("full"), { code: "ENOSPC" }))
      const ended = yield* invoke(["api", "DELETE", "/nodes/5/"], { env, stdout })
      assert.notStrictEqual(ended.code, 0)
      assert.include(ended.stderr, "DELETE /nodes/5/")
    }).pipe(Effect.scoped)
  )
})

describe("a change that the service answers with a record", () => {
  it.live("is named with its id in the error if it cannot be printed", () =>
    Effect.gen(function* () {
      const env = yield* account({ ...ok({ id: 77 }), status: 202 })
      const stdout = new PassThrough()
      stdout._write = (_chunk, _encoding, done) => done(Object.assign(new Error("full"), { code: "ENOSPC" }))
      const ended = yield* invoke(["api", "POST", "/nodes/", "-d", "{}"], { env, stdout })
      assert.notStrictEqual(ended.code, 0)
      assert.include(ended.stderr, "POST /nodes/ was answered with HTTP 202, and the reply names id 77.")
    }).pipe(Effect.scoped)
  )
})

describe("a read that the service answers with an empty body", () => {
  it.live("prints nothing", () =>
    Effect.gen(function* () {
      const env = yield* account({ status: 204 })
      const ended = yield* invoke(["api", "/nodes/5/"], { env })
      assert.strictEqual(ended.stdout, "")
    }).pipe(Effect.scoped)
  )
})
