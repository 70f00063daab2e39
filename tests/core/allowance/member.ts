/**
 * A process that sends as much as admission allows, for the test of several processes that share an allowance through a file: `member.ts
 * URL KEY TOKEN FILE MILLIS`.
 */
import { Duration, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Berth from "@berthkit/core/client/Berth"
import { Images } from "@berthkit/core/client/Images"

const [baseUrl, apiKey, accessToken, allowanceFile, millis] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string
]

const client = Berth.layer({
  baseUrl,
  allowanceFile,
  credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
}).pipe(Layer.provide(FetchHttpClient.layer))

const ask = Effect.ignore(Images.use((images) => images.saved()))

await Effect.forever(ask).pipe(
  Effect.timeoutOption(Duration.millis(Number(millis))),
  Effect.provide(client),
  Effect.runPromise
)
