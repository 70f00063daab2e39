/**
 * berth on several machines that share their state through a database.
 */
import { type AddressInfo, createServer } from "node:net"
import { Postgres } from "@berthkit/testing/Postgres"
import { freePort } from "@berthkit/testing/freePort"
import { TestServer } from "@berthkit/server/testing"
import { assert, describe, it } from "@effect/vitest"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { inDialect } from "../account.ts"
import { berth, lines } from "./berth.ts"
import { stateFolder } from "./stateFolder.ts"

const node = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04", "--yes"]
const create = (name: string, key: string) => [
  "node",
  "create",
  "--name",
  name,
  ...node,
  "--idempotency-key",
  key,
  "-o",
  "id"
]

const posts = Effect.map(
  Effect.flatMap(TestServer, ({ journal }) => journal),
  (all) => all.filter(({ method, path }) => method === "POST" && path.endsWith("/nodes/")).length
)

describe("berth with BERTH_STATE_URL", () => {
  it.live("makes one node per key from two machines, once its tables are there", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const env = { BERTH_STATE_URL: postgres.url() }
      const [one, other] = [
        { ...env, XDG_STATE_HOME: yield* stateFolder },
        { ...env, XDG_STATE_HOME: yield* stateFolder }
      ]
      const early = yield* berth(create("web", "job"), { env: one })
      assert.strictEqual(early.code, 10, early.stderr)
      assert.include(early.stderr, "its berth tables are missing")
      assert.include(early.stderr, "berth state migrate")
      assert.strictEqual(yield* posts, 0)
      const migrated = yield* berth(["state", "migrate"], { env: one })
      assert.strictEqual(migrated.code, 0, migrated.stderr)
      assert.include(lines(migrated.stdout), 'GRANT USAGE ON SCHEMA "berth" TO ROLE;')
      const made = yield* Effect.forEach([one, other, one], (env) => berth(create("web", "job"), { env }))
      assert.deepStrictEqual(
        made.map(({ code, stdout }) => [code, stdout]),
        [0, 0, 0].map((code) => [code, made[0]!.stdout])
      )
      assert.strictEqual(yield* posts, 1)
      assert.strictEqual((yield* berth(["state", "accept"], { env: other })).code, 0)
      const address = new URL(postgres.url())
      const password = decodeURIComponent(address.password)
      address.password = ""
      const third = { XDG_STATE_HOME: yield* stateFolder, BERTH_STATE_URL: "", PGPASSWORD: password }
      const flagged = yield* berth([...create("web", "job"), "--state-url", address.href], { env: third })
      assert.deepStrictEqual([flagged.code, flagged.stdout], [0, made[0]!.stdout], flagged.stderr)
      assert.strictEqual(yield* posts, 1)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )

  it.live.each([
    "postgres://ci:hunter2@db/ci",
    "postgres://ci@db/ci?password=hunter2",
    "postgres://ci:12/hunter2@db/ci",
    "postgres://ci:12#hunter2@db/ci",
    "postgres://ci:hunter2"
  ])("refuses --state-url %s before anything is sent, and does not show it", (address) =>
    Effect.gen(function* () {
      const env = { XDG_STATE_HOME: yield* stateFolder, BERTH_STATE_URL: "" }
      const journal = Effect.flatMap(TestServer, (server) => server.journal)
      for (const args of [create("web", "job"), ["node", "list"], ["limits"], ["state", "migrate"]]) {
        const { code, stderr, stdout } = yield* berth([...args, "--state-url", address], { env })
        assert.deepStrictEqual([code, stdout], [2, ""], stderr)
        assert.match(stderr, /^error: --state-url .+\nhint: .*password.*\n$/)
        assert.notInclude(stderr, "hunter2")
      }
      assert.lengthOf(yield* journal, 0)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )

  it.live("names the statement that removes a lease which it cannot read", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const env = { BERTH_STATE_URL: postgres.url(), XDG_STATE_HOME: yield* stateFolder }
      yield* berth(["state", "migrate"], { env })
      const kept = yield* berth(["run", ...node, "--reuse", "--", "true"], { env })
      assert.strictEqual(kept.code, 0, kept.stderr)
      const sql = yield* Effect.orDie(PgClient.make({ url: Redacted.make(postgres.url()) })).pipe(
        Effect.provide(Reactivity.layer)
      )
      yield* sql`UPDATE berth.state_record SET value = 'x' WHERE kind = 'lease'`
      const unreadable = yield* berth(["reap"], { env })
      assert.strictEqual(unreadable.code, 10, unreadable.stderr)
      const [, statement] = /then remove the record lease\/\S+ of postgres:\S+, in SQL: (DELETE .+)\.$/m.exec(
        unreadable.stderr
      )!
      yield* sql.unsafe(statement!)
      const reaped = yield* berth(["reap"], { env })
      assert.strictEqual(reaped.code, 0, reaped.stderr)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real", provisioning: "0 millis" }))))
  )

  it.live("names --state-url in the commands that it suggests", () =>
    Effect.gen(function* () {
      const postgres = yield* Postgres.scoped()
      const address = new URL(postgres.url())
      const env = {
        XDG_STATE_HOME: yield* stateFolder,
        BERTH_STATE_URL: "",
        PGPASSWORD: decodeURIComponent(address.password)
      }
      address.password = ""
      const { code, stderr } = yield* berth([...create("web", "job"), "--state-url", address.href], { env })
      assert.strictEqual(code, 10, stderr)
      assert.match(stderr, /berth --state-url \S+ state migrate/)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )

  it.live("waits for a database that is away once, not at each step of a create", () =>
    Effect.gen(function* () {
      let attempts = 0
      const closing = createServer((socket) => {
        attempts++
        socket.destroy()
      })
      yield* Effect.acquireRelease(
        Effect.promise(() => new Promise<void>((resolve) => closing.listen(0, "127.0.0.1", resolve))),
        () => Effect.sync(() => void closing.close())
      )
      const { port } = closing.address() as AddressInfo
      const env = { BERTH_STATE_URL: `postgres://u@127.0.0.1:${port}/x`, XDG_STATE_HOME: yield* stateFolder }
      const refused = yield* berth(create("web", "job"), { env })
      assert.strictEqual(refused.code, 10, refused.stderr)
      assert.include(refused.stderr, "hint: Nothing was sent. Check the database")
      assert.strictEqual(yield* posts, 0)
      // A statement is repeated for 3 s with pauses of 200 ms. All others are tried once.
      assert.isBelow(attempts, 26)
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )

  it.live("sends no create under a key while the database cannot be reached, and reads all the same", () =>
    Effect.gen(function* () {
      const port = yield* Effect.promise(freePort)
      const env = {
        XDG_STATE_HOME: yield* stateFolder,
        BERTH_STATE_URL: `postgres://someone:secret@127.0.0.1:${port}/ci`
      }
      const { code, stderr } = yield* berth(create("web", "job"), { env })
      assert.strictEqual(code, 10, stderr)
      assert.include(stderr, `postgres://127.0.0.1:${port}/ci?schema=berth`)
      assert.notInclude(stderr, "secret")
      assert.strictEqual(yield* posts, 0)
      assert.strictEqual((yield* berth(["node", "list"], { env })).code, 0)
      const keyless = yield* berth(["node", "create", "web", ...node, "-o", "id"], { env })
      assert.strictEqual(keyless.code, 0, keyless.stderr)
      assert.include(
        keyless.stderr,
        `The log of changes cannot be written (postgres://127.0.0.1:${port}/ci?schema=berth`
      )
      assert.notInclude(keyless.stderr, "secret")
    }).pipe(Effect.scoped, Effect.provide(TestServer.layer(inDialect({ clock: "real" }))))
  )
})
