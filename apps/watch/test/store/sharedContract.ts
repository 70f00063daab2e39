/** The contract of a store on PostgreSQL, for one process and for several at once, on every version of the server. */
import type { Postgres } from "@berthkit/testing/Postgres"
import { describe, expect, it } from "@effect/vitest"
import { readAddress } from "@berthkit/terminal/postgresAddress"
import { Context, Deferred, Effect, Fiber, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { beginning } from "../../src/events/Cursor.ts"
import { postgresLayer } from "../../src/store/postgres.ts"
import { Store } from "../../src/store/Store.ts"
import { fromStoreFailed } from "../../src/process/CommandFailed.ts"
import { fromSqlError, mayPass } from "../../src/store/StoreFailed.ts"
import { created, delivery, row } from "./facts.ts"
import { storeContract } from "./storeContract.ts"

const lost = { fault: "lost" }

/** `server` is called in each test. */
export const sharedContract = (name: string, server: () => Postgres) => {
  let schemas = 0

  /** An address with a new schema each time. */
  const newAddress = () => Redacted.make(`${server().url()}?schema=store${++schemas}`)

  storeContract(
    name,
    Layer.unwrap(Effect.sync(() => Store.layerSql.pipe(Layer.provideMerge(postgresLayer(newAddress())))))
  )

  /** The store of one process, and its statements. */
  const one = Effect.map(
    Effect.suspend(() => Layer.build(Store.layerServer(newAddress()))),
    (context) => ({
      first: Context.get(context, Store),
      sql: Context.get(context, SqlClient.SqlClient)
    })
  )

  /** The stores of two processes on one schema. */
  const two = Effect.gen(function* () {
    const address = newAddress()
    const open = Effect.map(Layer.build(Store.layerServer(address)), (context) => Context.get(context, Store))
    // Open both at once, so that neither finds tables.
    const [first, second] = yield* Effect.all([open, open], { concurrency: "unbounded" })
    return { first, second, address }
  })

  describe(`a store on ${name} that several processes have at once`, () => {
    it.live("may be written again after a connection that broke within a transaction", () =>
      Effect.gen(function* () {
        const address = newAddress()
        const context = yield* Layer.build(Store.layerServer(address))
        const store = Context.get(context, Store)
        const sql = Context.get(context, SqlClient.SqlClient)
        const cut = Effect.mapError(sql`SELECT pg_terminate_backend(pg_backend_pid())`, fromSqlError)
        expect(yield* Effect.flip(store.atomically(cut))).toMatchObject({ fault: "unavailable" })
        expect((yield* store.claim("a")).owner.epoch).toBe(1)
      })
    )

    it.live("says that it is locked, and by health too, while an operator holds a lock", () =>
      Effect.gen(function* () {
        const { first, sql } = yield* one
        const holding = sql`LOCK TABLE account`.pipe(
          Effect.andThen(Effect.sleep("30 seconds")),
          sql.withTransaction,
          Effect.forkChild
        )
        const fiber = yield* holding
        yield* Effect.sleep("300 millis")
        expect(yield* Effect.flip(first.claim("a"))).toMatchObject({ fault: "busy" })
        expect(yield* first.health).toMatchObject({ failure: { fault: "busy" } })
        yield* Fiber.interrupt(fiber)
      })
    )

    it.live("is written again as soon as the server is, also through connections made while it was read-only", () =>
      Effect.gen(function* () {
        const { first: admin, sql } = yield* one
        expect((yield* admin.claim("a")).owner.epoch).toBe(1)
        yield* Effect.orDie(sql`CREATE ROLE failing_over LOGIN SUPERUSER PASSWORD 'p'`)
        const [found] = yield* Effect.orDie(sql<{ schema: string }>`SELECT current_schema() AS schema`)
        yield* Effect.orDie(sql`ALTER ROLE failing_over SET default_transaction_read_only = on`)
        const url = new URL(server().url())
        url.username = "failing_over"
        url.password = "p"
        url.searchParams.set("schema", found!.schema)
        const reader = Context.get(yield* Layer.build(Store.layerServerReader(Redacted.make(url.href))), Store)
        expect(yield* Effect.flip(reader.claim("a"))).toMatchObject({ fault: "readOnly" })
        expect(yield* reader.health).toMatchObject({ failure: { fault: "readOnly" } })
        yield* Effect.orDie(sql`ALTER ROLE failing_over RESET default_transaction_read_only`)
        // The first write that a connection refuses closes the connection.
        const claimed = yield* Effect.retry(reader.claim("a"), { times: 2 })
        expect(claimed.owner.epoch).toBe(2)
        yield* Effect.orDie(sql`DROP ROLE failing_over`)
      }).pipe(Effect.scoped)
    )

    it.live("names a right that is revoked while it runs, and waits for it", () =>
      Effect.gen(function* () {
        const { first, sql } = yield* one
        const { owner } = yield* first.claim("a")
        const [found] = yield* Effect.orDie(sql<{ schema: string }>`SELECT current_schema() AS schema`)
        yield* Effect.orDie(sql`CREATE ROLE less`)
        yield* Effect.orDie(sql`GRANT USAGE ON SCHEMA ${sql(found!.schema)} TO less`)
        const revoked = first.atomically(
          Effect.mapError(sql`SET LOCAL ROLE less`, fromSqlError).pipe(
            Effect.andThen(first.commit(owner, { events: [created(1, 1)] }))
          )
        )
        const failed = yield* Effect.flip(revoked)
        expect(failed.fault).toBe("denied")
        expect(mayPass(failed)).toBe(true)
        expect(yield* first.health).toMatchObject({ failure: { fault: "denied" } })
        yield* first.commit(owner, { events: [created(1, 1)] })
      })
    )

    it.live("keeps whom an account was taken over from, and when", () =>
      Effect.gen(function* () {
        const { first, sql } = yield* one
        const owned = Effect.map(first.accounts, ([row]) => row!.owner!)
        yield* first.claim("a")
        const { process, ...begun } = yield* owned
        expect(begun.from).toBe(null)
        yield* first.claim("a")
        expect(yield* owned, "it had it all the time").toEqual({ process, ...begun })
        yield* Effect.orDie(sql`UPDATE account SET owner = 'another', owned_since = 5, former_owner = ${process}`)
        yield* first.claim("a")
        const taken = yield* owned
        expect(taken).toEqual({ process, from: "another", sinceMillis: taken.sinceMillis })
        expect(taken.sinceMillis).toBeGreaterThanOrEqual(begun.sinceMillis)
      })
    )

    it.live("accepts nothing from the previous owner of an account", () =>
      Effect.gen(function* () {
        const { first, second } = yield* two
        const { owner } = yield* first.claim("a")
        yield* first.commit(owner, { events: [created(1, 1), created(2, 1)] })
        yield* first.meet("ops")
        yield* first.begin("ops", "a", 0)
        yield* first.take({ sink: "ops", account: "a", after: 0, seq: 1, deliveries: [delivery(1)], dropped: [] })
        const { known, owner: later } = yield* second.claim("a")
        expect([known.seq, later.epoch]).toEqual([2, owner.epoch + 1])

        expect(first.epochOf("a")).toBe(owner.epoch)
        yield* first.record("ops", [{ _tag: "Delivered", delivery: delivery(1) }], null)
        expect(first.epochOf("a"), "noticed by a write").toBe(null)
        expect(yield* second.deliveries("ops", ["a"], 9)).toEqual([delivery(1)])
        const taken = { sink: "ops", account: "a", after: 1, seq: 2, deliveries: [delivery(2)], dropped: [delivery(1)] }
        expect(yield* Effect.flip(first.take(taken))).toMatchObject(lost)
        expect(yield* Effect.flip(first.settleHeld("ops", [delivery(1)], []))).toMatchObject(lost)
        expect(yield* Effect.flip(first.commit(owner, { nodes: [row(7)], events: [created(7, 2)] }))).toMatchObject(
          lost
        )

        yield* second.take(taken)
        expect(yield* second.deliveries("ops", ["a"], 9)).toEqual([delivery(2)])
        expect((yield* second.after(beginning, 9)).map(({ seq }) => seq)).toEqual([1, 2])
        yield* second.commit(later, { events: [created(3, 3)] })
        expect(
          (yield* first.after(beginning, 9)).map(({ seq }) => seq),
          "reading is for all"
        ).toEqual([1, 2, 3])
      }).pipe(Effect.scoped)
    )

    it.live("notifies the previous owner of an account", () =>
      Effect.gen(function* () {
        const { first, second } = yield* two
        const { owner } = yield* first.claim("a")
        const told = yield* Effect.forkChild(Effect.flip(first.lost("a")), { startImmediately: true })
        yield* second.claim("a")
        yield* Effect.ignore(first.commit(owner, { events: [created(1, 1)] }))
        expect(yield* Fiber.join(told)).toMatchObject(lost)
      }).pipe(Effect.scoped)
    )

    it.live("lets two processes hold the accounts that they have", () =>
      Effect.gen(function* () {
        const { first, second } = yield* two
        const { owner: a } = yield* first.claim("a")
        const { owner: b } = yield* second.claim("b")
        yield* Effect.all(
          Array.from({ length: 20 }, (_, index) => [
            first.commit(a, { events: [created(index + 1, index)] }),
            second.commit(b, { events: [created(index + 1, index)] }),
            first.commitOfDaemon([created(index + 1, index)]),
            second.commitOfDaemon([created(index + 101, index)])
          ]).flat(),
          { concurrency: "unbounded" }
        )
        const events = yield* first.after(beginning, 1000)
        for (const [account, count] of [
          ["a", 20],
          ["b", 20],
          ["_daemon", 40]
        ] as const) {
          const seqs = events.filter((event) => event.account === account).map(({ seq }) => seq)
          expect(seqs).toEqual(Array.from({ length: count }, (_, index) => index + 1))
        }
      }).pipe(Effect.scoped)
    )

    it.live("shows no event before an earlier one, even if the transaction that began first ends last", () =>
      Effect.gen(function* () {
        const { address, first, second } = yield* two
        const sql = Context.get(yield* Layer.build(postgresLayer(address)), SqlClient.SqlClient)
        const { owner: a } = yield* first.claim("a")
        const { owner: b } = yield* second.claim("b")
        const isWritten = yield* Deferred.make<void>()
        const mayEnd = yield* Deferred.make<void>()
        const slow = first
          .commit(a, { events: [created(1, 1)] })
          .pipe(Effect.andThen(Deferred.succeed(isWritten, undefined)), Effect.andThen(Deferred.await(mayEnd)))
        const ending = yield* Effect.forkChild(first.atomically(slow))
        yield* Deferred.await(isWritten)
        const waiting = yield* Effect.forkChild(second.commit(b, { events: [created(2, 2)] }))
        const locks = sql<{ count: number }>`SELECT count(*)::INT AS count FROM pg_stat_activity
          WHERE wait_event_type = 'Lock'`
        const isLocked = Effect.repeat(locks, { until: ([row]) => row!.count > 0 })
        yield* Effect.raceFirst(Fiber.await(waiting), isLocked)
        expect([yield* second.after(beginning, 9), yield* second.log]).toEqual([[], { end: 0, removed: 0 }])
        yield* Deferred.succeed(mayEnd, undefined)
        yield* Effect.all([Fiber.join(ending), Fiber.join(waiting)])
        const events = yield* second.after(beginning, 9)
        expect(events.map(({ account, position }) => `${account} ${position}`)).toEqual(["a 1", "b 2"])
      }).pipe(Effect.scoped)
    )

    it.live("wakes the readers of the others", () =>
      Effect.gen(function* () {
        const { first, second } = yield* two
        const { owner } = yield* first.claim("a")
        // The first answer may report only that it has begun to listen.
        const woken = Effect.gen(function* () {
          for (let seen = 0; ; seen = yield* second.newEvents(seen)) {
            const events = yield* second.after(beginning, 9)
            if (events.length > 0) return events.map(({ seq }) => seq)
          }
        })
        const reading = yield* Effect.forkChild(woken, { startImmediately: true })
        yield* first.commit(owner, { events: [created(1, 1)] })
        expect(yield* Fiber.join(reading)).toEqual([1])
      }).pipe(Effect.scoped)
    )

    it.live("does not move a place that a person set back", () =>
      Effect.gen(function* () {
        const { first, second } = yield* two
        const { owner } = yield* first.claim("a")
        yield* first.commit(owner, { events: [created(1, 1), created(2, 1)] })
        yield* first.meet("ops")
        yield* first.begin("ops", "a", 2)
        const orders = yield* first.ordersOf("ops")
        yield* second.replay("ops", beginning)
        expect(yield* first.ordersOf("ops")).toBe(orders + 1)
        const taken = { sink: "ops", account: "a", after: 2, seq: 2, deliveries: [], dropped: [] }
        expect(yield* Effect.flip(first.take(taken))).toMatchObject(lost)
        expect((yield* first.placesOf("ops")).get("a")).toBe(0)
      }).pipe(Effect.scoped)
    )

    it.live("is nothing that another schema of the database notices", () =>
      Effect.gen(function* () {
        const { first } = yield* two
        const { second } = yield* two
        yield* first.claim("a")
        expect(yield* second.heads).toEqual([])
      }).pipe(Effect.scoped)
    )
  })

  describe(`a server that cannot be used, ${name}`, () => {
    const refusedBy = (address: string) =>
      Effect.flip(Effect.scoped(Layer.build(Store.layerServer(Redacted.make(address)))))

    it.live("is named, without the password of its address", () =>
      Effect.gen(function* () {
        const url = new URL(server().url())
        url.password = "hunter2"
        const denied = yield* refusedBy(url.href)
        expect(denied).toMatchObject({ fault: "denied" })
        expect(JSON.stringify(denied) + denied.message).not.toContain("hunter2")
        expect(yield* refusedBy(server().url("nothing"))).toMatchObject({ fault: "denied" })
        url.port = "1"
        expect(yield* refusedBy(url.href)).toMatchObject({ fault: "unavailable" })
      })
    )

    it.live("wants the password that the address leaves out from the environment, and says so", () =>
      Effect.gen(function* () {
        const url = new URL(Redacted.value(newAddress()))
        const PGPASSWORD = decodeURIComponent(url.password)
        const variables: Readonly<Record<string, string>> = { PGPASSWORD, PGUSER: url.username, PGPORT: url.port }
        const bare = `postgres://${url.hostname}${url.pathname}${url.search}`
        const addressWith = (...names: ReadonlyArray<string>) =>
          Result.getOrThrow(readAddress(bare, (name) => (names.includes(name) ? variables[name] : undefined)))
        const denied = yield* refusedBy(Redacted.value(addressWith("PGUSER", "PGPORT")))
        expect(denied).toMatchObject({ fault: "denied", message: expect.stringMatching("password authentication") })
        expect(denied.hint).toContain("PGPASSWORD")
        const failure = fromStoreFailed(denied)
        expect(failure.exit).toBe("usage")
        yield* Layer.build(Store.layerServer(addressWith("PGUSER", "PGPORT", "PGPASSWORD")))
      }).pipe(Effect.scoped)
    )

    it.live("may let a user make no schema and no tables, if they are there", () =>
      Effect.gen(function* () {
        const { address, first } = yield* two
        const { schema } = { schema: new URL(Redacted.value(address)).searchParams.get("schema")! }
        const sql = Context.get(yield* Layer.build(postgresLayer(address)), SqlClient.SqlClient)
        yield* sql.unsafe(`CREATE ROLE ${schema}_role LOGIN PASSWORD 'p'`)
        const own = new URL(Redacted.value(address))
        own.username = `${schema}_role`
        own.password = "p"
        expect(yield* refusedBy(own.href)).toMatchObject({ fault: "denied" })
        yield* sql.unsafe(`GRANT USAGE ON SCHEMA ${schema} TO ${schema}_role`)
        yield* sql.unsafe(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO ${schema}_role`)
        const limited = Context.get(yield* Layer.build(Store.layerServer(Redacted.make(own.href))), Store)
        const { owner } = yield* limited.claim("a")
        yield* limited.commit(owner, { events: [created(1, 1)] })
        expect((yield* first.after(beginning, 9)).length).toBe(1)
      }).pipe(Effect.scoped)
    )

    it.live("is refused if it has no place for the tables, or cannot keep every character", () =>
      Effect.gen(function* () {
        const sql = Context.get(yield* Layer.build(postgresLayer(newAddress())), SqlClient.SqlClient)
        yield* sql`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`
        expect(yield* refusedBy(server().url("latin"))).toMatchObject({ fault: "encoding" })
        yield* sql`CREATE SCHEMA theirs`
        yield* sql`CREATE TABLE theirs.account (foo INTEGER)`
        for (const schema of ["theirs", "pg_own"]) {
          expect(yield* refusedBy(`${server().url()}?schema=${schema}`)).toMatchObject({ fault: "occupied" })
        }
      }).pipe(Effect.scoped)
    )

    it.live("gets its tables if another process was killed as it began to make them", () =>
      Effect.gen(function* () {
        const address = newAddress()
        const sql = Context.get(yield* Layer.build(postgresLayer(address)), SqlClient.SqlClient)
        yield* sql`CREATE TABLE schema_version (
          migration_id INTEGER PRIMARY KEY, created_at TIMESTAMPTZ NOT NULL DEFAULT now(), name TEXT NOT NULL)`
        const store = Context.get(yield* Layer.build(Store.layerServer(address)), Store)
        const { owner } = yield* store.claim("a")
        yield* store.commit(owner, { events: [created(1, 1)] })
      }).pipe(Effect.scoped)
    )

    it.live("is refused with a later schema, and left as it is", () =>
      Effect.gen(function* () {
        const { address } = yield* two
        const sql = Context.get(yield* Layer.build(postgresLayer(address)), SqlClient.SqlClient)
        yield* sql`INSERT INTO schema_version (migration_id, name) VALUES (999, 'later')`
        expect(yield* refusedBy(Redacted.value(address))).toMatchObject({ fault: "otherSchema" })
      }).pipe(Effect.scoped)
    )
  })
}
