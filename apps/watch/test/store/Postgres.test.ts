/** The store on the server of the npm packages. */
import { Postgres } from "@berthkit/testing/Postgres"
import { afterAll, beforeAll } from "vitest"
import { sharedContract } from "./sharedContract.ts"

let postgres: Postgres
beforeAll(async () => {
  postgres = await Postgres.make()
})
afterAll(() => postgres[Symbol.asyncDispose]())

sharedContract("PostgreSQL", () => postgres)
