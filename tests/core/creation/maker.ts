/**
 * A process that makes nodes, each with its own key, and keeps its intents in a folder. Tests kill this process: `maker.ts URL KEY TOKEN
 * FOLDER COUNT [CONCURRENCY]`. Prints the outcome of each key as a line of JSON. If its `Date` can be stepped, it begins `CLOCK_AHEAD`
 * milliseconds ahead, and SIGUSR2 steps it by `CLOCK_STEP`.
 */
import type {} from "@berthkit/testing/steppedDate"
import { Console, Duration, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "@berthkit/core/client/Berth"
import { layerDirectory } from "@berthkit/core/client/creation/IntentFolder"
import { Nodes } from "@berthkit/core/client/Nodes"
import { isToday, placeOptions } from "../../account.ts"

const [baseUrl, apiKey, accessToken, folder, count, concurrency = "4"] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
  string?
]

const client = Berth.layer({
  baseUrl,
  credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) },
  deadline: Duration.minutes(3),
  ...placeOptions
}).pipe(Layer.provide(layerDirectory(folder)), Layer.provide(FetchHttpClient.layer))

const { CLOCK_AHEAD, CLOCK_STEP } = process.env
if (CLOCK_AHEAD !== undefined) globalThis.stepWallClock(Number(CLOCK_AHEAD))
process.on("SIGUSR2", () => globalThis.stepWallClock(Number(CLOCK_STEP)))

/** Nodes with the same name are the hardest to tell apart. In today's dialect names must be unique. */
const nameOf = (i: number) => (isToday ? `node-${i}` : "node")

const make = (i: number) =>
  Nodes.use((nodes) =>
    nodes.create({ name: nameOf(i), plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }, { key: `job-${i}` })
  ).pipe(
    Effect.match({
      onFailure: ({ reason }) => ({ key: i, outcome: reason._tag, id: 0 }),
      onSuccess: ({ node, outcome }) => ({ key: i, outcome, id: Number(node.id) })
    }),
    Effect.flatMap((line) => Console.log(JSON.stringify(line)))
  )

await Effect.forEach(
  Array.from({ length: Number(count) }, (_, i) => i),
  make,
  { concurrency: Number(concurrency) }
).pipe(Effect.provide(client), Effect.runPromise)
