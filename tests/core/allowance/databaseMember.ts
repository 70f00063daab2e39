/**
 * A process that reads pages as fast as admission allows, for the test of several processes that share an allowance through PostgreSQL:
 * `databaseMember.ts URL KEY TOKEN DATABASE PAGE_SIZE`. The size of its pages identifies its requests.
 */
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as AllowanceSql from "@berthkit/core/client/allowance/AllowanceSql"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import { placeOptions } from "../../account.ts"
import * as PgClient from "@effect/sql-pg/PgClient"

const [baseUrl, apiKey, accessToken, database, pageSize] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string
]

const options = {
  baseUrl,
  credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) },
  ...placeOptions
}

const client = Berth.layer(options).pipe(
  Layer.provide(AllowanceSql.layer(options)),
  Layer.provide([FetchHttpClient.layer, PgClient.layer({ url: Redacted.make(database) })])
)

const ask = Effect.ignore(Nodes.use((nodes) => nodes.listPage({ perPage: Number(pageSize) })))

await Effect.runPromise(Effect.provide(Effect.forever(ask), client))
