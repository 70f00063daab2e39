/** The store in a database that processes on several machines share. */
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Postgres } from "@berthkit/testing/Postgres"
import { layer, ok } from "@berthkit/core/testing"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Option, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import * as AllowanceFile from "../../../src/client/allowance/AllowanceFile.ts"
import * as AllowanceSql from "../../../src/client/allowance/AllowanceSql.ts"
import {
  AllowanceStore,
  type AllowanceStoreFailed,
  type OwnProcesses
} from "../../../src/client/allowance/AllowanceStore.ts"
import { share } from "../../../src/client/allowance/OwnProcesses.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { content, knowing, meeting, storeContract } from "./storeContract.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.make()
})
afterAll(() => postgres[Symbol.asyncDispose]())

const account = "0123456789abcdef"

const folder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "berth-allowance-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

const connect = (url = postgres.url()) =>
  Effect.orDie(PgClient.make({ url: Redacted.make(url) })).pipe(Effect.provide(Reactivity.layer))

let schemas = 0
const newSchema = () => `allowance${++schemas}`

/** The stores of one process. */
const onAnyServer = (schema: string, url?: string) =>
  Effect.flatMap(connect(url), (sql) =>
    Effect.provideService(AllowanceSql.make({ schema, name: "the server" }), SqlClient.SqlClient, sql)
  )

/** On a busy machine an answer may exceed its time limit. Then this store asks again, as a client does with its next request. */
const patient = (store: AllowanceStore): AllowanceStore => {
  const again = <A>(effect: Effect.Effect<A, AllowanceStoreFailed>) =>
    Effect.retry(effect, {
      while: ({ detail }) => detail.startsWith("no answer"),
      schedule: Schedule.spaced("100 millis")
    })
  return {
    ...store,
    read: again(store.read),
    meet: (within) => again(store.meet(within)),
    write: (shared) => again(store.write(shared))
  }
}

/** The stores of one process, which ask again until the server answers. */
const onServer = (schema: string, url?: string) =>
  Effect.map(onAnyServer(schema, url), (open) => (fingerprint: string) => Effect.map(open(fingerprint), patient))

const inFile = (filename: string) =>
  Effect.orDie(SqliteClient.make({ filename })).pipe(
    Effect.provide(Reactivity.layer),
    Effect.flatMap((sql) => Effect.provideService(AllowanceSql.make(), SqlClient.SqlClient, sql))
  )

storeContract("a file", (count) =>
  Effect.flatMap(folder, (path) => Effect.replicateEffect(AllowanceFile.make(join(path, "allowance.json")), count))
)
storeContract("SQLite", (count) =>
  Effect.flatMap(folder, (path) =>
    Effect.replicateEffect(
      Effect.flatMap(inFile(join(path, "allowance.db")), (open) => open(account)),
      count
    )
  )
)
storeContract("PostgreSQL", (count) =>
  Effect.suspend(() => {
    const schema = newSchema()
    return Effect.replicateEffect(
      Effect.flatMap(onServer(schema), (open) => open(account)),
      count
    )
  })
)

/** A connection for statements of the test. */
const beside = connect

/** A clock of another machine: its wall clock is ahead by this many milliseconds, and its monotonic time belongs to another boot. */
const elsewhere = (clock: Clock.Clock, wallMillis: number, monotonicMillis: () => number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + wallMillis,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + wallMillis),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe() + BigInt(wallMillis) * 1_000_000n,
  currentTimeNanos: Effect.map(clock.currentTimeNanos, (now) => now + BigInt(wallMillis) * 1_000_000n),
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe() + BigInt(monotonicMillis()) * 1_000_000n,
  monotonicTimeNanos: Effect.map(clock.monotonicTimeNanos, (now) => now + BigInt(monotonicMillis()) * 1_000_000n),
  sleep: (duration) => clock.sleep(duration)
})

const log = () => {
  const logged: Array<string> = []
  return { logged, logger: Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]) }
}

describe("processes that share a database", () => {
  it.live("make its tables at once", () =>
    Effect.gen(function* () {
      // Repeated, because the interesting case is rare: a process fails because tables are missing, and then finds that another one has
      // made them.
      for (let time = 0; time < 4; time++) {
        const schema = newSchema()
        const stores = yield* Effect.replicateEffect(
          Effect.flatMap(onServer(schema), (open) => open(account)),
          4
        )
        const found = yield* Effect.forEach(stores, ({ read }) => read, { concurrency: "unbounded" })
        assert.isTrue(found.every(Option.isNone))
      }
    }).pipe(Effect.scoped)
  )

  it.live("lose nothing that two of them write at once", () =>
    Effect.gen(function* () {
      const open = yield* onServer(newSchema())
      const [first, second] = [yield* open(account), yield* open(account)]
      yield* first.read
      yield* second.read
      const now = yield* monotonicMillis
      assert.isTrue(yield* first.write(content(now, 7)))
      assert.isFalse(yield* second.write(content(now, 6)))
      assert.deepInclude(Option.getOrThrow(yield* second.read).report, { remaining: 7 })
      assert.isTrue(yield* second.write(content(now, 6)))
    }).pipe(Effect.scoped)
  )

  it.live("keep a pause that one of them learnt while another one wrote, though both have ended", () =>
    Effect.gen(function* () {
      const open = yield* onServer(newSchema())
      const paused = yield* open(account)
      const other = yield* open(account)
      yield* paused.read
      // This store writes between the read and the write of the other store.
      let pausedUntil = 0
      const interrupting: AllowanceStore = {
        ...other,
        meet: (within) =>
          Effect.gen(function* () {
            const now = yield* monotonicMillis
            if (pausedUntil === 0) {
              pausedUntil = now + 60_000
              yield* paused.write({ version: 1, writtenAt: now, pausedUntil, pauseAgreed: pausedUntil })
            }
            return yield* other.meet(within)
          })
      }
      yield* Effect.scoped(share(interrupting, yield* knowing(7)))
      const found = Option.getOrThrow(yield* (yield* open(account)).read)
      assert.closeTo(found.pausedUntil, pausedUntil, 500)
      assert.deepInclude(found.report, { remaining: 7 })
    }).pipe(Effect.scoped)
  )

  it.live("mean the same instants, whatever their clocks show", () =>
    Effect.gen(function* () {
      const schema = newSchema()
      const clock = yield* Clock.Clock
      const store = yield* Effect.flatMap(onServer(schema), (open) => open(account))
      yield* store.read
      const now = yield* monotonicMillis
      yield* store.write(content(now, 7))
      for (const [wall, ahead] of [
        [300_000, 1_000_000_000],
        [-300_000, -1_000_000]
      ] as const) {
        const { count, found } = yield* Effect.gen(function* () {
          const store = yield* Effect.flatMap(onServer(schema), (open) => open(account))
          yield* Effect.addFinalizer(() => store.leave)
          return { found: Option.getOrThrow(yield* store.read), count: (yield* store.meet(4000)).count }
        }).pipe(
          Effect.scoped,
          Effect.provideService(
            Clock.Clock,
            elsewhere(clock, wall, () => ahead)
          )
        )
        assert.closeTo(found.report!.resetAround, now + 3_600_000 + ahead, 500)
        assert.closeTo(found.writtenAt, now + ahead, 500)
        assert.strictEqual(count, 1)
      }
    }).pipe(Effect.scoped)
  )

  it.live("know the same instants after a step of the database's clock, and count each other", () =>
    Effect.gen(function* () {
      const schema = newSchema()
      const sql = yield* beside()
      yield* sql.unsafe(`CREATE SCHEMA ${schema}_clock`)
      yield* sql.unsafe(`CREATE TABLE ${schema}_clock.step (ahead INTERVAL NOT NULL)`)
      yield* sql.unsafe(`INSERT INTO ${schema}_clock.step VALUES ('0')`)
      yield* sql.unsafe(`CREATE FUNCTION ${schema}_clock.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
        'SELECT pg_catalog.clock_timestamp() + ahead FROM ${schema}_clock.step'`)
      const own = `${postgres.url()}?options=${encodeURIComponent(`-c search_path=${schema}_clock,pg_catalog`)}`
      const first = yield* Effect.flatMap(onServer(schema, own), (open) => open(account))
      const second = yield* Effect.flatMap(onServer(schema, own), (open) => open(account))
      yield* first.read
      const now = yield* monotonicMillis
      yield* first.write(content(now, 7))
      yield* second.read
      for (const step of ["10 minutes", "-3 hours"]) {
        yield* sql.unsafe(`UPDATE ${schema}_clock.step SET ahead = '${step}'`)
        yield* Effect.repeat(Effect.zip(first.meet(4000), second.meet(4000)), {
          until: (seen) => seen.every(({ count }) => count === 1),
          schedule: Schedule.spaced("20 millis")
        })
        const found = Option.getOrThrow(yield* second.read)
        assert.closeTo(found.report!.resetAround, now + 3_600_000, 500)
        assert.isTrue(yield* second.write(content(yield* monotonicMillis, 5)))
        yield* Effect.repeat(first.read, {
          until: (found) => Option.getOrThrow(found).report!.remaining === 5,
          schedule: Schedule.spaced("20 millis")
        })
        yield* first.write(content(now, 7))
        yield* Effect.repeat(second.read, {
          until: (found) => Option.getOrThrow(found).report!.remaining === 7,
          schedule: Schedule.spaced("20 millis")
        })
      }
    }).pipe(Effect.scoped)
  )

  it.live("do not count one that was killed once its lease is over, and count one that was frozen when it wakes", () =>
    Effect.gen(function* () {
      const schema = newSchema()
      const sql = yield* beside()
      const clock = yield* Clock.Clock
      let frozenMillis = 0
      const frozen = yield* Effect.flatMap(onServer(schema), (open) => open(account)).pipe(
        Effect.provideService(
          Clock.Clock,
          elsewhere(clock, 0, () => frozenMillis)
        )
      )
      yield* frozen.read
      const processes = sql(`${schema}.allowance_process`)
      const [{ process }] = (yield* sql`SELECT process FROM ${processes}`) as [{ process: string }]
      const alive = yield* Effect.flatMap(onServer(schema), (open) => open(account))
      yield* meeting(alive, 1)
      // The process was last seen five seconds ago.
      yield* sql`UPDATE ${processes} SET seen_at = seen_at - 5000 WHERE process = ${process}`
      yield* meeting(alive, 0)
      yield* Effect.repeat(Effect.andThen(frozen.meet(4000), alive.meet(4000)), {
        until: ({ count }) => count === 1,
        schedule: Schedule.spaced("20 millis")
      })
      // A process that begins a minute later removes its rows.
      yield* sql`UPDATE ${processes} SET seen_at = seen_at - 70000 WHERE process = ${process}`
      const later = yield* Effect.flatMap(onServer(schema), (open) => open(account))
      yield* later.read
      yield* Effect.repeat(sql`SELECT 1 FROM ${processes} WHERE process = ${process}`, {
        until: (found) => found.length === 0,
        schedule: Schedule.spaced("20 millis")
      })
      frozenMillis = 70_000
      yield* frozen.read
      yield* meeting(alive, 2)
    }).pipe(Effect.scoped)
  )

  it.live(
    "ask for all accounts of a process at once, also of those that come and go, and for what has changed alone",
    () =>
      Effect.gen(function* () {
        const client = yield* connect()
        const schema = newSchema()
        let statements = 0
        const counting = new Proxy(client, {
          apply: (target, self, args) => {
            const [texts] = args
            if (Array.isArray(texts) && /^\s*(INSERT|SELECT|UPDATE|DELETE)/.test(String(texts[0]))) statements++
            return Reflect.apply(target, self, args)
          }
        })
        const open = yield* Effect.provideService(AllowanceSql.make({ schema }), SqlClient.SqlClient, counting)
        const stores = yield* Effect.forEach(
          Array.from({ length: 500 }, (_, index) => `account-${index}`),
          open
        )
        const all = Effect.forEach(stores, (store) => Effect.andThen(store.read, store.meet(4000)), {
          concurrency: "unbounded"
        })
        yield* all
        yield* all
        // The first statement finds no tables; later ones add the accounts that arrived in the meantime.
        assert.isBelow(statements, 30)
        const [busy, ...others] = stores
        for (let round = 0; round < 3; round++) {
          yield* Effect.forEach(others, ({ leave }) => leave)
          yield* all
        }
        assert.isBelow(statements, 60)
        yield* Effect.forEach([...others, busy!], ({ leave }) => leave)
        assert.deepStrictEqual(yield* client`SELECT member FROM ${client(`${schema}.allowance_member`)}`, [])
        assert.deepStrictEqual(yield* client`SELECT process FROM ${client(`${schema}.allowance_process`)}`, [])
      }).pipe(Effect.scoped)
  )

  it.live("leave the content of a later version alone, and replace invalid content", () =>
    Effect.gen(function* () {
      const schema = newSchema()
      const sql = yield* beside()
      const write = (text: string) => sql`INSERT INTO ${sql(`${schema}.shared_allowance`)}
        VALUES (${account}, 1, extract(epoch FROM clock_timestamp())::double precision * 1000, ${text})
        ON CONFLICT (account) DO UPDATE SET content = excluded.content`
      const reading = Effect.flatMap(onServer(schema), (open) => Effect.flatMap(open(account), ({ read }) => read))
      yield* reading
      yield* write('{"version":2}')
      assert.strictEqual((yield* Effect.flip(reading)).detail, "a later version of Berth wrote it")
      for (const text of ["", "null", "[1]", '{"ver', '{"version":"1"}']) {
        yield* write(text)
        assert.isTrue(Option.isNone(yield* reading), text)
      }
    }).pipe(Effect.scoped)
  )

  it.live("need no right to make tables that exist", () =>
    Effect.gen(function* () {
      const schema = newSchema()
      const sql = yield* beside()
      yield* sql.unsafe(`CREATE ROLE ${schema} LOGIN PASSWORD 'p'`)
      const own = new URL(postgres.url())
      own.username = schema
      own.password = "p"
      const reading = Effect.flatMap(onServer(schema, own.href), (open) => open(account))
      assert.match((yield* Effect.flip(Effect.flatMap(reading, ({ read }) => read))).detail, /permission denied/)
      yield* Effect.flatMap(onServer(schema), (open) => Effect.flatMap(open(account), ({ read }) => read))
      yield* sql.unsafe(`GRANT USAGE ON SCHEMA ${schema} TO ${schema}`)
      yield* sql.unsafe(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}`)
      const store = yield* reading
      yield* store.read
      assert.isTrue(yield* store.write(content(yield* monotonicMillis, 7)))
      yield* store.leave
    }).pipe(Effect.scoped)
  )
})

describe("a database that does not answer", () => {
  /** A client of the scripted service that shares its allowance there. */
  const client = (url: string, service = () => ok({ id: 7, name: "web", created_at: "2026-03-01T10:20:30Z" })) =>
    Layer.provide(
      layer(service),
      Layer.effect(
        AllowanceStore,
        Effect.map(onAnyServer("berth", url), (open) => open(account))
      )
    )
  const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))

  it.live("keeps no request waiting and no program from its end, and is reported once", () =>
    Effect.gen(function* () {
      const silent = yield* Effect.acquireRelease(
        Effect.promise(async () => {
          const server = createServer((socket) => socket.on("error", () => {})).listen(0, "127.0.0.1")
          await once(server, "listening")
          return server
        }),
        (server) => Effect.sync(() => server.close())
      )
      const { port } = silent.address() as AddressInfo
      const { logged, logger } = log()
      const began = yield* monotonicMillis
      const replied = yield* Effect.andThen(get, monotonicMillis).pipe(
        Effect.provide(Layer.provide(client(`postgres://user:hunter2@127.0.0.1:${port}/db`), logger))
      )
      const ended = yield* monotonicMillis
      assert.isBelow(replied - began, 3000)
      assert.isBelow(ended - began, 5000)
      assert.deepStrictEqual(logged, [
        "Cannot share the allowance through the server (no answer within 1000 ms): this client relies only on its own replies."
      ])
    }).pipe(Effect.scoped)
  )

  it.live("is used again when it is back, though its crash has emptied the tables", () =>
    Effect.gen(function* () {
      const server = yield* Postgres.scoped()
      const stores = yield* Effect.replicateEffect(
        Effect.flatMap(onAnyServer("berth", server.url()), (open) => open(account)),
        2
      )
      const seen = Effect.forEach(stores, (store) => store.meet(4000))
      const together = {
        schedule: Schedule.spaced("50 millis"),
        until: (all: ReadonlyArray<OwnProcesses>) => all.every(({ count }) => count === 1)
      }
      yield* Effect.repeat(seen, together)
      yield* Effect.promise(() => server.stop("SIGQUIT"))
      const [first] = stores
      const failed = yield* Effect.flip(Effect.forever(Effect.andThen(first!.meet(4000), Effect.sleep("50 millis"))))
      assert.notInclude(failed.detail, "only for tests")
      yield* Effect.promise(() => server.start())
      yield* Effect.repeat(
        Effect.orElseSucceed(seen, () => []),
        {
          ...together,
          until: (all) => all.length > 0 && together.until(all)
        }
      )
      assert.isTrue(yield* Effect.andThen(first!.read, first!.write(content(yield* monotonicMillis, 7))))
    }).pipe(Effect.scoped)
  )
})
