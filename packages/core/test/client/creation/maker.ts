/**
 * A process that makes nodes, each under a key of its own, with its intents in a folder: for the test that kills it.
 * `maker.ts URL KEY TOKEN FOLDER COUNT`.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "../../../src/client/Berth.ts"
import * as IntentStore from "../../../src/client/creation/IntentStore.ts"
import { Nodes } from "../../../src/client/Nodes.ts"

const [baseUrl, apiKey, accessToken, folder, count] = process.argv.slice(2) as [string, string, string, string, string]

const client = Berth.layer({
  baseUrl,
  credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
}).pipe(Layer.provide(IntentStore.layerDirectory(folder)), Layer.provide([FetchHttpClient.layer, NodeServices.layer]))

const make = (i: number) =>
  Nodes.use((nodes) =>
    nodes.create({ name: "node", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }, { key: `job-${i}` })
  )

await Effect.forEach(
  Array.from({ length: Number(count) }, (_, i) => i),
  make,
  { concurrency: 4 }
).pipe(Effect.provide(client), Effect.runPromise)
