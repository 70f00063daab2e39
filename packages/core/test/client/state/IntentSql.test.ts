/** Intents in a database that processes on several machines share. */
import { fileURLToPath } from "node:url"
import { Postgres } from "@berthkit/testing/Postgres"
import { Program } from "@berthkit/testing/Program"
import * as PgClient from "@effect/sql-pg/PgClient"
import { layer, ok } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option, Redacted, Result, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll } from "vitest"
import { IntentStore, type IntentStoreFailed } from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { acceptStrangers, makeIntents } from "../../../src/client/state/IntentSql.ts"
import { readChanges } from "../../../src/client/state/Change.ts"
import { changeKind, noteChanges } from "../../../src/client/state/noteChanges.ts"
import { makeRecords } from "../../../src/client/state/RecordSql.ts"
import { open as openState } from "../../../src/client/state/StateSql.ts"
import { makeTables } from "../../../src/client/state/StateTables.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { intent } from "../creation/intent.ts"
import { intentContract } from "../creation/intentContract.ts"
import { recordContract } from "./recordContract.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.make()
})
afterAll(() => postgres[Symbol.asyncDispose]())

const account = { id: "account", key: undefined, nodes: "nodes" }
const leaseMillis = 1000

const connect = Effect.suspend(() =>
  Effect.orDie(PgClient.make({ url: Redacted.make(postgres.url()), prepare: false })).pipe(
    Effect.provide(Reactivity.layer)
  )
)

let schemas = 0

/** A database with the tables, and the stores of processes in it. */
const place = Effect.gen(function* () {
  const schema = `state${++schemas}`
  const sql = yield* connect
  yield* Effect.orDie(Effect.provideService(makeTables(schema), SqlClient.SqlClient, sql))
  const open = Effect.flatMap(connect, (client) =>
    Effect.provideService(openState({ schema, leaseMillis }), SqlClient.SqlClient, client)
  )
  return { schema, sql, open }
})

intentContract(
  "a database",
  Effect.map(place, ({ open, schema }) => ({
    open: Effect.map(open, (database) => makeIntents(database, account)),
    words: ["sql", postgres.url(), schema, String(leaseMillis)],
    // Waits until the lease of the lock ends.
    takeOver: (store, key) => store.withKeyLock(key)(() => Effect.void)
  }))
)

recordContract("a database", (count) =>
  Effect.flatMap(place, ({ open }) =>
    Effect.replicateEffect(
      Effect.map(open, (database) => makeRecords(database, account)),
      count
    )
  )
)

describe("a process that froze after its request, and whose key another one took over", () => {
  const program = fileURLToPath(new URL("../creation/holder.ts", import.meta.url))

  /** Freezes a process after its request, lets another one take its key over, and thaws it as it gets the reply. */
  const thawed = <E>(
    meanwhile: (store: IntentStore) => Effect.Effect<unknown, IntentStoreFailed>,
    written: (rows: Effect.Effect<unknown>, store: IntentStore) => Effect.Effect<unknown, E>
  ) =>
    Effect.gen(function* () {
      const { open, schema, sql } = yield* place
      const store = makeIntents(yield* open, account)
      const words = ["job", "sql", postgres.url(), schema, String(leaseMillis)]
      const holder = yield* Program.start(() => Program.ofNode(program, words, { isInputOpen: true }))
      yield* Effect.promise(() => holder.printed("held"))
      holder.child.kill("SIGSTOP")
      const row = Effect.orDie(sql`SELECT node, process, value, xmin::text FROM ${sql(`${schema}.state_intent`)}
        WHERE key = 'job'`)
      yield* store.withKeyLock("job")(() =>
        Effect.gen(function* () {
          yield* meanwhile(store)
          const before = yield* row
          holder.child.kill("SIGCONT")
          holder.child.stdin.write("node 9\n")
          // Once the thawed process has renewed its lease four times, it has had the time to write.
          const leaseOf = Effect.map(
            Effect.orDie(sql<{
              readonly until: number
            }>`SELECT lease_until AS until FROM ${sql(`${schema}.state_process`)}
              WHERE (self::json ->> 'pid')::int = ${holder.child.pid!}`),
            ([row]) => row!.until
          )
          const untilMillis = yield* leaseOf
          yield* Effect.repeat(leaseOf, {
            until: (millis) => millis > untilMillis + 2 * leaseMillis,
            schedule: Schedule.spaced("50 millis")
          })
          assert.deepStrictEqual(yield* row, before, "it wrote without its lock")
        })
      )
      yield* Effect.promise(() => holder.printed("ended"))
      yield* written(row, store)
      return holder.printedOn.stdout
    })

  it.live("writes nothing while the other has it, and then the node that only it knows", () =>
    Effect.gen(function* () {
      const printed = yield* thawed(
        (store) => store.save(intent("job", { fate: "lost" })),
        (_, store) =>
          Effect.map(store.find("job"), (found) => assert.strictEqual(Option.getOrThrow(found).nodeId, NodeId.make(9)))
      )
      assert.include(printed, "written")
    })
  )

  it.live("leaves the other's row as it is if that has found a node", () =>
    Effect.gen(function* () {
      let found: unknown
      yield* thawed(
        (store) => store.save(intent("job", { fate: "lost", nodeId: NodeId.make(9), newerThan: 8 })),
        (row, store) =>
          Effect.gen(function* () {
            found = yield* store.find("job")
            assert.strictEqual(((yield* row) as ReadonlyArray<{ node: number }>)[0]!.node, 9)
          })
      )
      assert.strictEqual(Option.getOrThrow(found as Option.Option<{ newerThan: number }>).newerThan, 8)
    })
  )
})

describe("a change in the log of a database", () => {
  it.live("has the database's time, although the clock of its machine is a year behind", () =>
    Effect.gen(function* () {
      const { open, sql } = yield* place
      const records = makeRecords(yield* open, account)
      const log = yield* noteChanges(records, () => Effect.undefined)
      const yearAgo = (yield* Clock.currentTimeMillis) - 365 * 86_400_000
      const slow = Object.assign(Object.create(yield* Clock.Clock), {
        currentTimeMillis: Effect.succeed(yearAgo),
        currentTimeMillisUnsafe: () => yearAgo
      })
      const [before] = yield* sql<{ readonly at: Date }>`SELECT clock_timestamp() AS at`
      yield* Effect.provideService(
        log.noted({ action: "delete", node: 7 }, Effect.void, () => ({ outcome: "deleted" })),
        Clock.Clock,
        slow
      )
      const [after] = yield* sql<{ readonly at: Date }>`SELECT clock_timestamp() AS at`
      const [change] = readChanges(yield* records.list(changeKind))
      const atMillis = Date.parse(change!.at)
      assert.isAtLeast(atMillis, before!.at.getTime() - 1)
      assert.isAtMost(atMillis, after!.at.getTime() + 1)
    })
  )
})

/** A service that makes nodes, and how many it was asked for. */
class Service {
  readonly nodes: Array<{
    readonly id: number
    readonly name: string
    readonly plan: string
    readonly status: string
  }> = []
  posts = 0
  /** Runs before each reply. */
  readonly meanwhile: Effect.Effect<unknown>
  #next = 100
  constructor(meanwhile: Effect.Effect<unknown> = Effect.void) {
    this.meanwhile = meanwhile
  }
  make(name: string) {
    const node = { id: this.#next++, name, plan: "P", status: "Running" }
    this.nodes.push(node)
    return node
  }
  /** Creates a node with a client of this service whose intents are in the database. */
  readonly create = (store: IntentStore, key: string, name: string) =>
    Nodes.use((nodes) => nodes.create({ name, plan: "P", image: "I" }, { key, deadline: "30 seconds" })).pipe(
      Effect.map(({ node }) => Number(node.id)),
      Effect.mapError(({ reason }) => reason),
      Effect.result,
      Effect.provide(
        layer(({ body, method, path, query }) => {
          if (method === "POST") {
            this.posts++
            const node = this.make((body as { readonly name: string }).name)
            return Effect.as(this.meanwhile, { ...ok(node), status: 202 })
          }
          const id = /nodes\/(\d+)\/$/.exec(path)?.[1]
          const node = this.nodes.find((each) => each.id === Number(id))
          if (id !== undefined) return node === undefined ? { status: 404 } : ok(node)
          return Effect.as(this.meanwhile, ok(query["page_no"] === "1" ? this.nodes : []))
        })
      ),
      Effect.orDie,
      Effect.provideService(IntentStore, store)
    )
}

/** All rows, as a backup has them. */
const tables = ["account", "process", "lock", "record", "intent", "stranger"]

describe("rows that are restored from an older backup", () => {
  /** A database that was restored from a backup without the changes of `since`. The program that restores it copies rows. */
  const restored = Effect.fnUntraced(function* (
    before: (store: IntentStore) => Effect.Effect<unknown, IntentStoreFailed>,
    since: (store: IntentStore) => Effect.Effect<unknown, IntentStoreFailed>
  ) {
    const { open, schema, sql } = yield* place
    const store = makeIntents(yield* open, account)
    yield* before(store)
    for (const name of tables) {
      yield* sql`CREATE TABLE ${sql(`${schema}.kept_${name}`)} AS SELECT * FROM ${sql(`${schema}.state_${name}`)}`
    }
    yield* since(store)
    const restore = sql.withTransaction(
      Effect.forEach(tables, (name) =>
        Effect.andThen(
          sql`DELETE FROM ${sql(`${schema}.state_${name}`)}`,
          sql`INSERT INTO ${sql(`${schema}.state_${name}`)} SELECT * FROM ${sql(`${schema}.kept_${name}`)}`
        )
      )
    )
    yield* restore
    /** As if the time in which unknown creates may be under way had passed. */
    const waited = sql`UPDATE ${sql(`${schema}.state_account`)} SET restored_at = 0, tx =
      (pg_current_xact_id()::text::numeric % 4294967296)::text`
    const database = yield* open
    const backup = yield* Effect.orDie(sql<{ readonly key: string }>`SELECT key FROM ${sql(`${schema}.kept_intent`)}`)
    return { backup: backup.map(({ key }) => key), database, store: makeIntents(database, account), old: store, waited }
  })

  it.live("refuse keys that they do not know, as long as their creates may be under way", () =>
    Effect.gen(function* () {
      const service = new Service()
      const { old, store } = yield* restored(
        (store) => service.create(store, "first", "web-1"),
        (store) => service.create(store, "second", "web-2")
      )
      assert.deepStrictEqual(yield* service.create(store, "first", "web-1"), Result.succeed(100))
      for (const each of [store, old]) {
        const second = yield* Effect.flip(Effect.fromResult(yield* service.create(each, "second", "web-2")))
        assert.strictEqual(second._tag, "StateUnavailable")
        assert.include(second.message, "was restored from a backup")
        // The hint must not name a way around the key.
        assert.isTrue(second._tag === "StateUnavailable" && second.path !== null)
      }
      assert.strictEqual(service.posts, 2)
    })
  )

  it.live("never lead to a second node of a key, later either", () =>
    Effect.gen(function* () {
      const service = new Service()
      const { store, waited } = yield* restored(
        (store) => service.create(store, "first", "web-1"),
        (store) =>
          Effect.all([
            service.create(store, "second", "web-2"),
            service.create(store, "third", "web-3"),
            service.create(store, "fourth", "web-3")
          ])
      )
      yield* Effect.flip(Effect.fromResult(yield* service.create(store, "second", "web-2")))
      yield* waited
      // A create under a new key, after which the highest known id is above those of the forgotten nodes.
      assert.deepStrictEqual(yield* service.create(store, "new", "web-9"), Result.succeed(104))
      for (const [key, name, candidates] of [
        ["second", "web-2", [101]],
        ["third", "web-3", [102, 103]],
        ["fourth", "web-3", [102, 103]],
        ["second", "web_2", [101]]
      ] as const) {
        const reason = yield* Effect.flip(Effect.fromResult(yield* service.create(store, key, name)))
        assert.strictEqual(reason._tag, "OutcomeUnknown")
        assert.deepStrictEqual("candidates" in reason && reason.candidates.map(Number), [...candidates])
      }
      assert.strictEqual(service.posts, 5)
    })
  )

  it.live("let a key make its node once the others are known, or gone", () =>
    Effect.gen(function* () {
      const service = new Service()
      const { database, store, waited } = yield* restored(
        (store) => service.create(store, "first", "web-1"),
        (store) => Effect.all([service.create(store, "second", "web-2"), service.create(store, "third", "web-3")])
      )
      yield* store.find("first")
      yield* waited
      yield* Effect.flip(Effect.fromResult(yield* service.create(store, "other", "web-2")))
      service.nodes.splice(1, 1)
      assert.deepStrictEqual(yield* service.create(store, "other", "web-2"), Result.succeed(103))
      yield* Effect.flip(Effect.fromResult(yield* service.create(store, "another", "web-3")))
      const known = yield* acceptStrangers(database, account)
      assert.deepStrictEqual(
        known.map(({ node }) => node),
        [101, 102]
      )
      assert.deepStrictEqual(yield* service.create(store, "another", "web-3"), Result.succeed(104))
    })
  )

  it.live("return a create under way by its process", () =>
    Effect.gen(function* () {
      const { backup, old, store } = yield* restored(
        (store) => store.save(intent("_before")),
        (store) => store.save(intent("job"))
      )
      // Check the backup: the process renews its lease during the check, so in the database it may have written the intent again.
      assert.deepStrictEqual(backup, ["_before"])
      // Its process finds that its lease is gone, or that the lease is from before the restore.
      yield* old.withKeyLock("job")(({ confirm }) => Effect.andThen(confirm, old.save(intent("job"))))
      assert.isTrue(Option.isSome(yield* store.find("job")))
    })
  )

  it.live("take a lock over from its owners", () =>
    Effect.gen(function* () {
      const { open, schema, sql } = yield* place
      const store = makeIntents(yield* open, account)
      const fault = yield* store.withKeyLock("job")(({ confirm }) =>
        Effect.gen(function* () {
          yield* store.save(intent("job", { sentAt: null }))
          yield* Effect.orDie(sql`DELETE FROM ${sql(`${schema}.state_lock`)}`)
          assert.include((yield* Effect.flip(confirm)).detail, "another process took over the lock")
          return yield* Effect.flip(store.save(intent("job")))
        })
      )
      assert.include(fault.detail, "another process took over the lock")
      assert.isNull(Option.getOrThrow(yield* store.find("job")).sentAt)
    })
  )
})

describe("an account", () => {
  it.live("that gets a name has what its key had, also while a process still goes by the key", () =>
    Effect.gen(function* () {
      const { open } = yield* place
      const byKey = { id: "key", key: undefined, nodes: "nodes" }
      const byName = { id: "name", key: "key", nodes: "nodes" }
      const one = yield* open
      const old = makeIntents(one, byKey)
      const oldRecords = makeRecords(one, byKey)
      yield* old.save(intent("job", { nodeId: NodeId.make(9) }))
      yield* oldRecords.put("lease", "a", "{}")
      const other = yield* open
      const store = makeIntents(other, byName)
      assert.strictEqual(Option.getOrThrow(yield* store.find("job")).nodeId, NodeId.make(9))
      assert.strictEqual(yield* store.newestNode, 9)
      assert.deepStrictEqual(yield* makeRecords(other, byName).get("lease", "a"), Option.some("{}"))
      yield* old.save(intent("late", { nodeId: NodeId.make(12) }))
      yield* oldRecords.put("lease", "b", "{}")
      assert.isTrue(Option.isSome(yield* store.find("late")))
      assert.strictEqual((yield* makeRecords(other, byName).list("lease")).length, 2)
      assert.deepStrictEqual(
        yield* makeRecords(other, { id: "third", key: undefined, nodes: "nodes" }).elsewhere("lease"),
        [
          { key: "a", value: "{}" },
          { key: "b", value: "{}" }
        ]
      )
    })
  )

  it.live("that gets a name while a key is held takes the lock from its holder", () =>
    Effect.gen(function* () {
      const { open } = yield* place
      const old = makeIntents(yield* open, { id: "key", key: undefined, nodes: "nodes" })
      const fault = yield* old.withKeyLock("job")(() =>
        Effect.gen(function* () {
          yield* makeIntents(yield* open, { id: "name", key: "key", nodes: "nodes" }).find("job")
          return yield* Effect.flip(old.save(intent("job")))
        })
      )
      assert.include(fault.detail, "another process took over the lock")
    })
  )
})

describe("a database", () => {
  it.live("without the tables says what to run", () =>
    Effect.gen(function* () {
      const database = yield* Effect.provideService(
        openState({ schema: "nowhere", name: "postgres://host/db" }),
        SqlClient.SqlClient,
        yield* connect
      )
      const { detail, hint } = yield* Effect.flip(makeRecords(database, account).list("lease"))
      assert.strictEqual(detail, "postgres://host/db: its berth tables are missing")
      assert.strictEqual(hint, "Run: berth state migrate")
      const service = new Service()
      const refused = yield* Effect.flip(
        Effect.fromResult(yield* service.create(makeIntents(database, account), "job", "web"))
      )
      assert.strictEqual(refused._tag, "StateUnavailable")
      assert.strictEqual(service.posts, 0)
    })
  )

  it.live("that cuts every connection during each request has one node for each key all the same", () =>
    Effect.gen(function* () {
      const { open, sql } = yield* place
      const cut = Effect.ignore(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`)
      const service = new Service(cut)
      const stores = yield* Effect.replicateEffect(
        Effect.map(open, (database) => makeIntents(database, account)),
        2
      )
      const keys = ["a", "b", "c"]
      const made = yield* Effect.forEach(
        stores,
        (store) => Effect.forEach(keys, (key) => Effect.flatMap(service.create(store, key, key), Effect.fromResult)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(made[0], made[1])
      assert.strictEqual(new Set(made[0]).size, keys.length)
      assert.strictEqual(service.posts, keys.length)
    })
  )
})
