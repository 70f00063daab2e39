/**
 * Several daemons while their PostgreSQL is slow, does not answer, fails over or is full: they report this, make no decisions in that time,
 * and continue by themselves.
 */
import { chmodSync } from "node:fs"
import { TestServer, type TestWorld } from "@berthkit/server/testing"
import { TcpProxy } from "@berthkit/testing/TcpProxy"
import { Store } from "@berthkit/watch/store/Store"
import { expect, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { inDialect } from "../account.ts"
import { Daemon } from "./Daemon.ts"
import { load, makeFleet } from "./faltering.ts"
import { diskOf, fill, free } from "./machine/disk.ts"
import { until, wait } from "./Scene.ts"

const ask = (daemon: Daemon, path: string) =>
  wait(async () => {
    const { http } = await daemon.ready()
    const reply = await fetch(`${http}${path}`)
    return { status: reply.status, body: (await reply.json()) as any }
  })

const isReady = (daemon: Daemon) => Effect.map(ask(daemon, "/readyz"), ({ status }) => status === 200)

const eventually = <R>(condition: Effect.Effect<boolean, never, R>) =>
  Effect.gen(function* () {
    while (!(yield* condition)) yield* Effect.sleep("100 millis")
  })

/** The accounts of a daemon, as another daemon shows them. */
const ownedBy = ({ program }: Daemon, seenBy: Daemon) =>
  Effect.map(ask(seenBy, "/api/accounts"), ({ body }): ReadonlyArray<string> =>
    body
      .filter(({ owner }: any) => owner?.process.includes(`:${program.child.pid}:`))
      .map(({ account }: any) => account)
  )

const hasFailed = ({ program }: Daemon) => program.printedOn.stderr.includes("berth-watch: store-failing:")
const isOver = ({ program }: Daemon) => program.printedOn.stderr.includes("berth-watch: store-failing is over;")

/** The last report of a daemon about the store. */
const said = ({ program }: Daemon) => /store-failing: (.*)/.exec(program.printedOn.stderr)![1]

/** The accounts of the first of two daemons, as soon as all of this many have owners, and none has moved for five seconds. */
const settledBy = Effect.fnUntraced(function* (first: Daemon, second: Daemon, accounts: number) {
  let before = ""
  while (true) {
    const [own, others] = [yield* ownedBy(first, second), yield* ownedBy(second, second)]
    const now = JSON.stringify(own)
    if (now === before && own.length + others.length === accounts) return own
    before = now
    yield* Effect.sleep("5 seconds")
  }
})

/** Two daemons on one PostgreSQL, each with accounts. The first one reaches the server through a proxy. */
const pair = Effect.fnUntraced(function* (options?: Parameters<typeof makeFleet>[1]) {
  const fleet = yield* makeFleet(8, options)
  const proxy = yield* TcpProxy.scoped(fleet.postgres.port)
  const address = new URL(fleet.postgres.url())
  address.port = String(proxy.port)
  const args = ["run", "--config", fleet.config, "--fast-interval", "200ms"]
  const first = yield* Daemon.start(args, { ...fleet.env, DATABASE_URL: address.href })
  const second = yield* Daemon.start(args, fleet.env)
  for (const daemon of [first, second]) {
    yield* wait(() => daemon.ready())
    yield* eventually(Effect.map(ownedBy(daemon, second), ({ length }) => length > 0))
    yield* eventually(isReady(daemon))
  }
  return { ...fleet, proxy, first, second, both: [first, second] }
})

/** Turns a node on or off, and returns its id and its new status. */
const turn = Effect.fnUntraced(function* ({ control, id: world }: TestWorld) {
  const [node] = yield* Effect.orDie(control.nodes.list({ params: { world }, query: { count: 1 } }))
  const status = node!.status === "running" ? "power-off" : "running"
  yield* Effect.orDie(control.nodes.change({ params: { world, id: node!.id }, payload: { status } }))
  return { subject: `nodes/${node!.id}`, to: status }
})

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })("several daemons", (it) => {
  it.effect("give up their accounts if the server cannot be reached, say so, and take part again when it returns", () =>
    Effect.gen(function* () {
      const { first, ops, proxy, second, worlds } = yield* pair()
      const [account] = yield* ownedBy(first, second)
      proxy.hold()
      yield* eventually(Effect.map(ownedBy(first, second), ({ length }) => length === 0))
      const { subject, to } = yield* turn(worlds[Number(account!.slice(1))]!)
      yield* until(() => ops.taken.some((event) => event.subject === subject && event.data.to === to))
      yield* until(() => hasFailed(first))
      // The daemon may have waited for a statement or for a connection.
      expect(said(first)).toMatch(
        /^The store cannot be written, so polling has stopped\. The store cannot be reached: (the server does not answer|Connection timed out)\. Check the address and the network\.$/
      )
      expect(yield* isReady(first)).toBe(false)
      expect((yield* ask(first, "/api/status")).status).toBe(503)
      proxy.release()
      yield* eventually(Effect.map(ownedBy(first, second), ({ length }) => length > 0))
      yield* eventually(isReady(first))
      yield* until(() => isOver(first))
      expect(hasFailed(second)).toBe(false)
    })
  )

  it.effect("continue if their server is slow", () =>
    Effect.gen(function* () {
      const { first, ops, proxy, second, worlds } = yield* pair()
      const owned = yield* settledBy(first, second, worlds.length)
      proxy.delayMillis = 100
      for (const account of owned) {
        const { subject, to } = yield* turn(worlds[Number(account.slice(1))]!)
        yield* until(() => ops.taken.some((event) => event.subject === subject && event.data.to === to))
      }
      expect(yield* ownedBy(first, second)).toEqual(owned)
      expect([hasFailed(first), yield* isReady(first)]).toEqual([false, true])
    })
  )

  it.effect("stand still while another server takes over that is read-only at first", () =>
    Effect.gen(function* () {
      const { address, both, ops, worlds } = yield* pair()
      const sql = Context.get(yield* Layer.build(Store.layerServerReader(address)), SqlClient.SqlClient)
      const become = (state: "on" | "off") =>
        Effect.orDie(
          Effect.gen(function* () {
            const own = yield* sql.reserve
            const run = (statement: string) => own.executeUnprepared(statement, [], undefined)
            yield* run("SET default_transaction_read_only = off")
            yield* run(`ALTER SYSTEM SET default_transaction_read_only = ${state}`)
            yield* run("SELECT pg_reload_conf()")
            yield* run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
          }).pipe(Effect.scoped)
        )
      yield* become("on")
      for (const daemon of both) {
        yield* until(() => hasFailed(daemon))
        expect(yield* isReady(daemon)).toBe(false)
        expect(said(daemon)).toMatch(
          /The server of the store rejects writes: cannot execute .* in a read-only transaction\. Wait/
        )
      }
      const { subject, to } = yield* turn(worlds[0]!)
      yield* become("off")
      yield* until(() => ops.taken.some((event) => event.subject === subject && event.data.to === to))
      for (const daemon of both) {
        yield* eventually(isReady(daemon))
        yield* until(() => isOver(daemon))
        expect((yield* wait(() => daemon.program.kill("SIGTERM"))).code).toBe(0)
      }
    })
  )

  it.effect("stand still while the disk of their server is full", () =>
    Effect.gen(function* () {
      const disk = yield* diskOf(300)
      chmodSync(disk, 0o755)
      const { both, ops, worlds } = yield* pair({ parent: disk })
      const loading = yield* Effect.forkChild(load(worlds))
      fill(disk)
      for (const daemon of both) yield* until(() => hasFailed(daemon))
      expect(said(both[0]!)).toMatch(
        /^The store cannot be written, so polling has stopped\. The disk of the store is full: could not extend file .*: No space left on device\. Make room on that disk/
      )
      yield* Fiber.interrupt(loading)
      free(disk)
      for (const daemon of both) {
        yield* eventually(isReady(daemon))
        yield* until(() => isOver(daemon))
      }
      const { subject, to } = yield* turn(worlds[0]!)
      yield* until(() => ops.taken.some((event) => event.subject === subject && event.data.to === to))
    })
  )
})
