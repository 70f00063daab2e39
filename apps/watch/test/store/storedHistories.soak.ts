/** Many histories of the oracle, each through SQLite and through PostgreSQL. */
import { seed } from "@berthkit/testing/chance"
import * as SqliteClient from "@berthkit/sql-sqlite/SqliteClient"
import { Postgres } from "@berthkit/testing/Postgres"
import { describe, expect, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { postgresLayer } from "../../src/store/postgres.ts"
import { Store } from "../../src/store/Store.ts"
import { historyOf } from "../diff/oracle/history.ts"
import { expectKept } from "./storedHistory.ts"

const histories = Array.from({ length: 2 * Number(process.env["RUNS"]) }, (_, index) => historyOf(seed + index))

const server = Layer.unwrap(
  Effect.map(Postgres.scoped(), (postgres) =>
    Store.layerSql.pipe(Layer.provideMerge(postgresLayer(Redacted.make(postgres.url()))))
  )
)

const keepsAll = Effect.gen(function* () {
  let facts = 0
  let processes = 0
  for (const history of histories) {
    const { published, steps } = yield* expectKept(history)
    facts += published.length
    processes += steps.filter(({ _tag }) => _tag === "begun").length
  }
  expect(facts).toBeGreaterThan(10 * histories.length)
  expect(processes).toBeGreaterThan(2 * histories.length)
})

describe("a store", () => {
  it.effect("over SQLite keeps what the histories of the oracle report", () =>
    keepsAll.pipe(Effect.provide(Store.layerSql.pipe(Layer.provide(SqliteClient.layer({ filename: ":memory:" })))))
  )

  layer(server, { excludeTestServices: true })("over PostgreSQL", (it) => {
    it.effect("keeps what the histories of the oracle report", () => keepsAll)
  })
})
