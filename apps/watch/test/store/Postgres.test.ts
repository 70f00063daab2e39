import { Postgres } from "@berth/testing/Postgres"
import { Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll } from "vitest"
import { postgresLayer } from "../../src/store/postgres.ts"
import { Store } from "../../src/store/Store.ts"
import { storeContract } from "./storeContract.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.make()
})
afterAll(() => postgres[Symbol.asyncDispose]())

let schemas = 0

/** A schema of its own each time. */
const store = Layer.unwrap(
  Effect.sync(() => {
    const address = Redacted.make(`${postgres.url()}?schema=store${++schemas}`)
    return Store.layerSql.pipe(Layer.provideMerge(postgresLayer(address)))
  })
)

storeContract("PostgreSQL", store)
