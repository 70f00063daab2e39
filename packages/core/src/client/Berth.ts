/**
 * The complete client as one layer: every service, over the program's `HttpClient`, with metrics.
 */
import { Config, Effect, Layer, Option } from "effect"
import * as AllowanceFile from "./allowance/AllowanceFile.ts"
import * as HttpTransport from "./transport/HttpTransport.ts"
import * as Services from "./Services.ts"
import { type ClientOptions, settingsFrom } from "./options/Settings.ts"
import * as Telemetry from "./telemetry/Telemetry.ts"
import type { Transport } from "./transport/Transport.ts"

/** The services of the client. */
export type Berth = Services.Services

const allowanceFileOf = (options: ClientOptions) =>
  Layer.unwrap(Effect.map(Effect.fromResult(settingsFrom(options)), AllowanceFile.layer))

/**
 * A client for one account over one of the transports. Fails with `InvalidOption` when an option is unusable, and with
 * `RuntimeTooOld` on a Node before 22.19. `observer` provides an `Observer`; default: the client's metrics and spans.
 */
export const layerOver = <R, RO = never>(
  options: ClientOptions,
  transport: Layer.Layer<Transport, never, R>,
  observer: Layer.Layer<never, never, RO> = Telemetry.layer as Layer.Layer<never, never, RO>
) => Layer.provide(Services.layer(options, transport), Layer.merge(observer, allowanceFileOf(options)))

/** A client for one account over the program's `HttpClient`. Fails with `InvalidOption` and `RuntimeTooOld`. */
export const layer = (options: ClientOptions) => layerOver(options, HttpTransport.layer)

/** A client for the account named by `BERTH_BASE_URL`, `BERTH_API_KEY`, `BERTH_ACCESS_TOKEN` and, if they are set, `BERTH_ACCOUNT`, `BERTH_PROJECT` and `BERTH_LOCATION`. */
export const layerConfig = Layer.unwrap(
  Effect.gen(function* () {
    return layer({
      baseUrl: yield* Config.String("BERTH_BASE_URL"),
      credentials: {
        apiKey: yield* Config.Redacted("BERTH_API_KEY"),
        accessToken: yield* Config.Redacted("BERTH_ACCESS_TOKEN")
      },
      account: Option.getOrUndefined(yield* Config.option(Config.String("BERTH_ACCOUNT"))),
      project: Option.getOrUndefined(yield* Config.option(Config.Int("BERTH_PROJECT"))),
      location: Option.getOrUndefined(yield* Config.option(Config.String("BERTH_LOCATION")))
    })
  })
)
