/** The tables of the shared state, and the rights that a role needs to use them. */
import { Postgres } from "@berthkit/testing/Postgres"
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as AllowanceSql from "../../../src/client/allowance/AllowanceSql.ts"
import { makeAllowanceTables } from "../../../src/client/allowance/AllowanceTables.ts"
import { makeRecords } from "../../../src/client/state/RecordSql.ts"
import { open } from "../../../src/client/state/StateSql.ts"
import { makeTables, rightsIn } from "../../../src/client/state/StateTables.ts"
import { monotonicMillis } from "../../../src/client/time/Monotonic.ts"
import { content } from "../allowance/storeContract.ts"

const connect = (url: string) =>
  Effect.orDie(PgClient.make({ url: Redacted.make(url), prepare: false })).pipe(Effect.provide(Reactivity.layer))

/** A server, and its address for a new role that may make nothing. */
const server = Effect.gen(function* () {
  const postgres = yield* Postgres.scoped()
  const sql = yield* connect(postgres.url())
  const addressOf = Effect.fnUntraced(function* (role: string) {
    yield* sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'p'`)
    const address = new URL(postgres.url())
    address.username = role
    address.password = "p"
    return address.href
  })
  return { sql, addressOf }
})

describe("the tables of the shared state", () => {
  it.live(
    "with the printed rights are enough for the records and the allowance of a role that may make no tables",
    () =>
      Effect.gen(function* () {
        const { addressOf, sql } = yield* server
        const own = yield* connect(yield* addressOf("ci"))
        yield* Effect.provideService(makeTables("shared"), SqlClient.SqlClient, sql)
        for (const statement of rightsIn("shared", "ci")) yield* sql.unsafe(statement)
        const use = Effect.provideService(SqlClient.SqlClient, own)
        const records = makeRecords(yield* use(open({ schema: "shared" })), { id: "a", key: undefined, nodes: "n" })
        assert.deepStrictEqual(yield* records.list("lease"), [])
        for (const key of ["run-1", "run-2"]) yield* records.put("lease", key, "{}")
        yield* own.unsafe((yield* records.statementOf("lease", "run-1")) ?? assert.fail("no statement"))
        assert.deepStrictEqual(yield* records.list("lease"), [{ key: "run-2", value: "{}" }])
        const store = yield* (yield* use(AllowanceSql.make({ schema: "shared" })))("account")
        assert.deepStrictEqual(yield* store.read, Option.none())
        assert.isTrue(yield* store.write(content(yield* monotonicMillis, 7)))
      }).pipe(Effect.scoped)
  )

  it.live("are made by a role that does not own those of the allowance, which the daemon made before", () =>
    Effect.gen(function* () {
      const { addressOf, sql } = yield* server
      yield* Effect.provideService(makeAllowanceTables("shared"), SqlClient.SqlClient, sql)
      const admin = yield* connect(yield* addressOf("admin"))
      yield* sql`GRANT USAGE, CREATE ON SCHEMA shared TO admin`
      yield* Effect.provideService(makeTables("shared"), SqlClient.SqlClient, admin)
      const tables = yield* sql<{ owner: string }>`SELECT DISTINCT tableowner AS owner FROM pg_tables
        WHERE schemaname = 'shared' AND tablename LIKE 'state%'`
      assert.deepStrictEqual(
        tables.map(({ owner }) => owner),
        ["admin"]
      )
    }).pipe(Effect.scoped)
  )
})
