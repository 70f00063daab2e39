/**
 * The services of the client as one layer, over one of the transports.
 */
import { Layer } from "effect"
import { Allowance } from "./Allowance.ts"
import { Engine } from "./Engine.ts"
import { Images } from "./Images.ts"
import { Nodes } from "./Nodes.ts"
import { Plans } from "./Plans.ts"
import { RawApi } from "./RawApi.ts"
import type { ClientOptions } from "./Settings.ts"
import type { Transport } from "./Transport.ts"

/** The services of the client. */
export type Services = Nodes | Images | Plans | Allowance | RawApi

/** The services for one account. Fails with `InvalidOption` when an option is unusable. */
export const layer = <R>(options: ClientOptions, transport: Layer.Layer<Transport, never, R>) => {
  const services = Plans.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Nodes.layer, Images.layer, Allowance.layer, RawApi.layer)),
    Layer.provide(Engine.layer(options)),
    Layer.provide(transport)
  )
  // Layers are built once per program whatever they are given: without `fresh`, a second client would speak for the
  // account of the first, over its transport. Built inside of another layer, so that one client given to many is still one client.
  return Layer.effectContext(Layer.build(Layer.fresh(services)))
}
