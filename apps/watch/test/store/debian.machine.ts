/** The store with the packages of Debian: PostgreSQL 15 behind PgBouncer. */
import { installPackages } from "@berthkit/testing/debian"
import { freePort } from "@berthkit/testing/freePort"
import { Postgres } from "@berthkit/testing/Postgres"
import { describe, expect, it } from "@effect/vitest"
import { openAllowanceStores } from "@berthkit/terminal/openAllowance"
import { Clock, Effect, Layer, Option, Redacted } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import { Store } from "../../src/store/Store.ts"
import { sharedContract } from "./sharedContract.ts"

const bin = "/usr/lib/postgresql/15/bin"
const bouncer = "/usr/sbin/pgbouncer"
const nobody = 65_534

const install = () => {
  // The package starts no server of its own.
  mkdirSync("/etc/postgresql-common", { recursive: true })
  const clusters = "/etc/postgresql-common/createcluster.conf"
  if (!existsSync(clusters)) writeFileSync(clusters, "create_main_cluster = false\n")
  installPackages("postgresql-15", "pgbouncer")
}

let postgres: Postgres
beforeAll(async () => {
  if (!existsSync(bin) || !existsSync(bouncer)) install()
  postgres = await Postgres.make({ bin })
})
afterAll(() => postgres[Symbol.asyncDispose]())

sharedContract("Debian's PostgreSQL", () => postgres)

/** Starts PgBouncer in front of the server; returns the address to connect to. */
const pooled = (mode: "session" | "transaction", ignored: string) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const folder = mkdtempSync(join(tmpdir(), "berth-bouncer-"))
      chmodSync(folder, 0o755)
      const server = new URL(postgres.url())
      const port = await freePort()
      const database = `host=127.0.0.1 port=${server.port} dbname=postgres user=${server.username} password='${decodeURIComponent(server.password)}'`
      const file = join(folder, "pgbouncer.ini")
      writeFileSync(
        file,
        `[databases]\npostgres = ${database}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nauth_type = any\npool_mode = ${mode}\nignore_startup_parameters = ${ignored}\nunix_socket_dir =\n`
      )
      const child = spawn(bouncer, [file], { uid: nobody, gid: nobody, stdio: ["ignore", "ignore", "pipe"] })
      let printed = ""
      const ready = Promise.withResolvers<void>()
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        printed += text
        if (printed.includes("process up")) ready.resolve()
      })
      child.once("exit", () => ready.reject(new Error(`PgBouncer ended: ${printed}`)))
      await ready.promise
      ready.promise.catch(() => {})
      return { child, folder, address: Redacted.make(`postgres://watch:none@127.0.0.1:${port}/postgres?schema=pooled`) }
    }),
    ({ child, folder }) =>
      Effect.promise(async () => {
        const exited = once(child, "exit")
        child.kill("SIGKILL")
        await exited
        rmSync(folder, { recursive: true })
      })
  )

describe("a pooler", () => {
  const timeouts = "statement_timeout,idle_in_transaction_session_timeout"
  it.live.each([
    ["transaction", "extra_float_digits"],
    ["transaction", `search_path,${timeouts}`],
    ["session", timeouts],
    ["session", `search_path,${timeouts}`]
  ] as const)("in %s mode is refused by name, where it ignores %s", ([mode, ignored]) =>
    Effect.gen(function* () {
      const { address } = yield* pooled(mode, ignored)
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(Store.layerServer(address))))
      expect(refused).toMatchObject({ fault: "pooler" })
      expect(refused.message).not.toContain("none")
    }).pipe(Effect.scoped)
  )

  it.live("in transaction mode carries the allowance of several machines all the same", () =>
    Effect.gen(function* () {
      const { address } = yield* pooled("transaction", "extra_float_digits")
      const account = {
        baseUrl: "https://api.example.com",
        credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
      }
      const open = Effect.flatMap(openAllowanceStores(address), (stores) => Effect.flatten(stores(account)))
      const [first, second] = [yield* open, yield* open]
      const now = yield* Clock.currentTimeMillis
      expect(yield* first.read).toEqual(Option.none())
      yield* first.write({ version: 1, writtenAt: now, pausedUntil: now + 60_000 })
      // Each store has its own estimate of the server's clock.
      for (const store of [second, first]) {
        const pausedUntil = Option.getOrThrow(yield* store.read).pausedUntil
        expect(Math.abs(pausedUntil - now - 60_000)).toBeLessThan(1000)
      }
      yield* first.meet(60_000)
      expect((yield* second.meet(60_000)).count).toBe(1)
    }).pipe(Effect.scoped)
  )
})
