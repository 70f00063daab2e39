// Code from `docs/reference/client.md`. With the variables of a service and a database, it prints the id of the node.
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import * as SharedState from "@berthkit/core/client/state/SharedState"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Layer, ManagedRuntime, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"

const options = {
  baseUrl: process.env.BERTH_BASE_URL!,
  credentials: {
    apiKey: Redacted.make(process.env.BERTH_API_KEY!),
    accessToken: Redacted.make(process.env.BERTH_ACCESS_TOKEN!)
  }
}
const database = PgClient.layer({ url: Redacted.make(process.env.BERTH_STATE_URL!) })
const runtime = ManagedRuntime.make(
  Berth.layer(options).pipe(Layer.provide(SharedState.layer(options)), Layer.provide([FetchHttpClient.layer, database]))
)

const spec = { name: "web", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }
const { node } = await runtime.runPromise(Nodes.use((nodes) => nodes.create(spec, { key: "order-7" })))
process.stdout.write(`${node.id}\n`)
await runtime.dispose()
