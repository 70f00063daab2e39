/**
 * The whole client as one layer: every service, over whichever `HttpClient` the program provides.
 */
import { Config, Effect, Layer } from "effect"
import { Engine } from "./Engine.ts"
import { Images } from "./Images.ts"
import { Nodes } from "./Nodes.ts"
import { Plans } from "./Plans.ts"
import { RawApi } from "./RawApi.ts"
import type { ClientOptions } from "./Settings.ts"

/** The services of the client. */
export type Berth = Nodes | Images | Plans | RawApi

/** A client for one account. Fails with `InvalidOption` when an option is unusable. */
export const layer = (options: ClientOptions) => {
  const services = Plans.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Nodes.layer, Images.layer, RawApi.layer)),
    Layer.provide(Engine.layer(options))
  )
  // Layers are built once per program whatever they are given: without `fresh`, a second client would speak for the
  // account of the first. Built inside of another layer, so that one client given to many is still one client.
  return Layer.effectContext(Layer.build(Layer.fresh(services)))
}

/** A client for the account named by `BERTH_BASE_URL`, `BERTH_API_KEY` and `BERTH_ACCESS_TOKEN`. */
export const layerConfig = Layer.unwrap(
  Effect.gen(function* () {
    return layer({
      baseUrl: yield* Config.String("BERTH_BASE_URL"),
      credentials: {
        apiKey: yield* Config.Redacted("BERTH_API_KEY"),
        accessToken: yield* Config.Redacted("BERTH_ACCESS_TOKEN")
      }
    })
  })
)
