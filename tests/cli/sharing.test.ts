/**
 * Tests what berth shares with other processes of its machine that use the same key, and how it works on a machine where it cannot keep
 * files.
 */
import { readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { nodeRecord, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Postgres } from "@berthkit/testing/Postgres"
import { TestServer } from "@berthkit/server/testing"
import { Effect, Schedule } from "effect"
import { inDialect } from "../account.ts"
import { berth, json, lines, settings, start } from "./berth.ts"
import { invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

interface Limits {
  readonly otherProcesses: number
  readonly file: string | null
  readonly clients: ReadonlyArray<{ readonly processId: number; readonly program: string | null }>
}

const create = ["node", "create", "--name", "web", "--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

const journal = Effect.flatMap(TestServer, ({ journal }) => journal)
const count = (status: number) =>
  Effect.map(journal, (requests) => requests.filter((request) => request.status === status).length)

/** A file at the folder's path, so that the folder cannot be created. */
const blocked = Effect.map(stateFolder, (folder) => {
  const file = join(folder, "file")
  writeFileSync(file, "")
  return file
})

describe("the allowance", () => {
  it.live("is shared between commands: the next one need not ask again", () =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder }
      const first = yield* berth(["image", "saved"], { env })
      assert.strictEqual(first.code, 0)
      const next = yield* berth(["image", "saved"], { env })
      assert.strictEqual(next.code, 6)
      assert.match(next.stderr, /^error: Too little is left of the rate limit: this call may go in /)
      assert.strictEqual(yield* count(429), 0)
      const alone = yield* berth(["image", "saved"], { env: { ...env, BERTH_ALLOWANCE_FILE: "off" } })
      assert.deepStrictEqual([alone.code, yield* count(429)], [6, 1])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        TestServer.layer(
          inDialect({ clock: "real", rateLimit: { limit: 1, window: 3_600_000, algorithm: "fixed-window" } })
        )
      )
    )
  )

  it.live("is not spent by a refusal that has passed: the commands after it go at once", () =>
    Effect.gen(function* () {
      const { arm } = yield* TestServer
      const env = { XDG_STATE_HOME: yield* stateFolder }
      yield* berth(["node", "list"], { env })
      yield* arm([{ fault: "status", status: 429, times: 1, scope: { operation: "nodes.list" } }])
      for (let i = 0; i < 3; i++) {
        const { code, stderr } = yield* berth(["node", "list", "-o", "id"], { env })
        assert.strictEqual(code, 0, stderr)
      }
      assert.strictEqual(yield* count(429), 1)
      const { remaining } = json<{ readonly remaining: number }>(yield* berth(["limits", "-o", "json"], { env }))
      assert.isAbove(remaining, 1000)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ scenario: "small", clock: "real" }))))
  )

  it.live("is kept in no folder that is named ~", () =>
    Effect.gen(function* () {
      const folder = yield* stateFolder
      const env = { XDG_STATE_HOME: folder, BERTH_ALLOWANCE_FILE: "~/allowance.json" }
      const { code, stderr, stdout } = yield* berth(["image", "saved"], { env })
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.include(stderr, "BERTH_ALLOWANCE_FILE")
      assert.include(stderr, 'does not begin with "~"')
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("is kept in the file that BERTH_ALLOWANCE_FILE names, and nowhere for --help", () =>
    Effect.gen(function* () {
      const folder = yield* stateFolder
      const chosen = { XDG_STATE_HOME: join(folder, "state"), BERTH_ALLOWANCE_FILE: join(folder, "chosen") }
      yield* berth(["node", "--help"], { env: chosen })
      assert.deepStrictEqual(readdirSync(folder), [])
      yield* berth(["image", "saved"], { env: chosen })
      assert.deepStrictEqual(readdirSync(folder).toSorted(), ["chosen", "chosen.members"])
      assert.strictEqual(statSync(chosen.BERTH_ALLOWANCE_FILE).mode & 0o777, 0o600)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("an allowance that is shared through a database", () => {
  it.live("is known to the next command on another machine, and to limits and doctor", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const machine = Effect.map(stateFolder, (folder) => ({
        XDG_STATE_HOME: folder,
        BERTH_STATE_URL: postgres.url()
      }))
      const [one, another] = [yield* machine, yield* machine]
      assert.strictEqual((yield* berth(["image", "saved"], { env: one })).code, 0)
      const ask = berth(["image", "saved"], { env: another })
      let next = yield* ask
      // A command waits at most half a second for the database. On a very busy machine it may have to continue without an answer.
      let uninformed = 0
      for (; next.stderr.includes("The service refused the call") && uninformed < 3; uninformed++) next = yield* ask
      assert.strictEqual(next.code, 6)
      assert.match(next.stderr, /^error: Too little is left of the rate limit: this call may go in /)
      assert.strictEqual(yield* count(429), uninformed)
      const shown = `postgres://127.0.0.1:${postgres.port}/postgres?schema=berth`
      const { file, otherProcesses } = json<Limits>(yield* berth(["limits", "-o", "json"], { env: another }))
      assert.deepStrictEqual([file, otherProcesses], [shown, 0])
      const { stdout } = yield* berth(["doctor"], { env: { ...another, BERTH_STATE_URL: postgres.url() } })
      assert.include(stdout, `through ${shown}`)
      assert.deepStrictEqual(readdirSync(one.XDG_STATE_HOME), [])
    }).pipe(
      Effect.scoped,
      Effect.provide(
        TestServer.layer(
          inDialect({ clock: "real", rateLimit: { limit: 1, window: 3_600_000, algorithm: "fixed-window" } })
        )
      )
    )
  )

  it.live("is not waited for where the database is gone; an address that is none is refused", () =>
    Effect.gen(function* () {
      const env = {
        XDG_STATE_HOME: yield* stateFolder,
        BERTH_STATE_URL: "postgres://user:hunter2@127.0.0.1:1/db"
      }
      assert.deepStrictEqual(yield* berth(["node", "list", "-o", "json"], { env }), {
        code: 0,
        stdout: "[]\n",
        stderr: ""
      })
      const { stderr } = yield* berth(["node", "list", "--debug"], { env })
      assert.lengthOf(stderr.match(/^debug: Cannot share the allowance through .+ECONNREFUSED.+$/gm)!, 1)
      const found = yield* berth(["doctor"], { env })
      assert.match(found.stdout, /cannot be used: connect ECONNREFUSED/)
      const refused = yield* berth(["node", "list"], { env: { ...env, BERTH_STATE_URL: "hunter2" } })
      assert.strictEqual(refused.code, 2)
      assert.match(refused.stderr, /^error: BERTH_STATE_URL is not usable: .+\nhint: .+\n$/)
      for (const text of [stderr, found.stdout, found.stderr, refused.stderr]) assert.notInclude(text, "hunter2")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})

describe("limits", () => {
  it.live("names the other clients of this machine that use the key, by program and process", () =>
    Effect.gen(function* () {
      const env = { ...(yield* settings), XDG_STATE_HOME: yield* stateFolder }
      const limits = (...args: ReadonlyArray<string>) => berth(["limits", ...args], { env })
      assert.deepStrictEqual(json<Limits>(yield* limits("-o", "json")).clients, [])
      const watching = yield* start(["node", "watch", "-o", "ndjson", "--interval", "1s"], { env })
      const { clients, otherProcesses } = yield* limits("-o", "json").pipe(
        Effect.map((ended) => json<Limits>(ended)),
        Effect.repeat({ until: (shown) => shown.clients.length > 0, schedule: Schedule.spaced("20 millis") })
      )
      assert.deepStrictEqual([otherProcesses, clients.map(({ program }) => program)], [1, ["berth"]])
      assert.include((yield* limits()).stdout, `berth (${clients[0]!.processId})`)
      yield* watching.kill("SIGTERM")
      yield* watching.ended
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )
})

describe("what is kept for reads", () => {
  /** A service with this many of 1200 requests left until the reset in half an hour. */
  const withLeft = (left: number) =>
    Effect.gen(function* () {
      const url = yield* serve(({ path }) => {
        const headers = {
          "ratelimit-limit": "1200",
          "ratelimit-remaining": String(left),
          "ratelimit-reset": "1800",
          date: new Date().toUTCString()
        }
        const node = nodeRecord({ id: 1, name: "web" })
        return ok(path === "/nodes/" ? [node] : node, headers)
      })
      const env = { BERTH_API_KEY: "key-of-a-test", BERTH_ACCESS_TOKEN: "token-of-a-test", BERTH_BASE_URL: url }
      return (...args: ReadonlyArray<string>) => invoke(args, { env })
    })

  it.live("holds a change back; the error and berth limits say so", () =>
    Effect.gen(function* () {
      const run = yield* withLeft(9)
      assert.strictEqual((yield* run("node", "get", "1", "-o", "id")).stdout, "1\n")
      const { code, stderr } = yield* run("node", "delete", "1", "--yes", "--deadline", "5s")
      assert.strictEqual(code, 6)
      const left = /error: [89] requests are left, and the last 12 of the rate limit are kept for interactive reads/
      assert.match(stderr, left)
      // Requests of berth api are sent nevertheless.
      assert.strictEqual((yield* run("api", "DELETE", "/nodes/1/", "--deadline", "5s")).code, 0)
      const { stdout } = yield* run("limits")
      assert.match(stdout, /^PAUSED +changes: the last 12 are kept for reads$/m)
      assert.deepInclude(json<object>(yield* run("limits", "-o", "json")), {
        remaining: 9,
        keptForReads: 12,
        pausedMillis: 0
      })
    }).pipe(Effect.scoped)
  )

  it.live("is not said while changes may go, and not when nothing is left to read with", () =>
    Effect.gen(function* () {
      for (const left of [13, 0]) {
        const { stdout } = yield* (yield* withLeft(left))("limits")
        assert.match(stdout, /^PAUSED +no$/m)
      }
    }).pipe(Effect.scoped)
  )
})

describe("a state folder that cannot be made", () => {
  it.live("ends no command, and is reported with --debug only", () =>
    Effect.gen(function* () {
      for (const env of [{ XDG_STATE_HOME: yield* blocked }, {}]) {
        const quiet = yield* berth(["node", "list", "-o", "json"], { env })
        assert.deepStrictEqual(quiet, { code: 0, stdout: "[]\n", stderr: "" })
        const { code, stderr, stdout } = yield* berth(["node", "list", "-o", "json", "--debug"], { env })
        assert.deepStrictEqual([code, stdout], [0, "[]\n"])
        const warnings = lines(stderr).filter((line) => line.endsWith("this client relies only on its own replies."))
        assert.lengthOf(warnings, 1)
        assert.match(warnings[0]!, /^debug: /)
      }
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )

  it.live("ends no create either, unless that has a key, which could not be kept", () =>
    Effect.gen(function* () {
      for (const env of [{ XDG_STATE_HOME: yield* blocked }, {}]) {
        const { code, stderr, stdout } = yield* berth([...create, "--key", "job"], { env })
        assert.deepStrictEqual([code, stdout], [10, ""])
        assert.match(stderr, /^error: The state of this account cannot be kept.+\.\nhint: .+\n$/)
        assert.strictEqual(yield* count(202), 0)
      }
      const made = yield* berth(create, { env: { XDG_STATE_HOME: yield* blocked } })
      assert.deepStrictEqual([made.code, yield* count(202)], [0, 1])
      assert.notInclude(made.stderr, "recorded")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect())))
  )
})
