/**
 * The services of the client over one engine. `Berth.ts` is these with metrics; the promise client has no use for metrics.
 */
import { Layer } from "effect"
import type { HttpClient } from "effect/http"
import { Allowance } from "./Allowance.ts"
import { Engine } from "./Engine.ts"
import { Images } from "./Images.ts"
import { Nodes } from "./Nodes.ts"
import { Plans } from "./Plans.ts"
import { RawApi } from "./RawApi.ts"
import type { ClientOptions, InvalidOption } from "./Settings.ts"

/** The services of the client. */
export type Services = Nodes | Images | Plans | Allowance | RawApi

/** The services for one account. Fails with `InvalidOption` when an option is unusable. */
export const layer = (options: ClientOptions): Layer.Layer<Services, InvalidOption, HttpClient.HttpClient> => {
  const services = Plans.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Nodes.layer, Images.layer, Allowance.layer, RawApi.layer)),
    Layer.provide(Engine.layer(options))
  )
  // Layers are built once per program whatever they are given: without `fresh`, a second client would speak for the
  // account of the first. Built inside of another layer, so that one client given to many is still one client.
  return Layer.effectContext(Layer.build(Layer.fresh(services)))
}
