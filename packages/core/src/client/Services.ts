/**
 * The services of the client as one layer, over one of the transports.
 */
import { Effect, Layer } from "effect"
import { Allowance } from "./Allowance.ts"
import { Engine } from "./call/Engine.ts"
import { Images } from "./Images.ts"
import { NodeCalls } from "./NodeCalls.ts"
import { Nodes } from "./Nodes.ts"
import { Plans } from "./Plans.ts"
import { RawApi } from "./RawApi.ts"
import { methodSpans } from "./telemetry/methodSpans.ts"
import { Observer } from "./telemetry/Observer.ts"
import type { RuntimeTooOld } from "./options/Runtime.ts"
import type { ClientOptions, InvalidOption } from "./options/Settings.ts"
import type { Transport } from "./transport/Transport.ts"

/** The services of the client. */
export type Services = Nodes | Images | Plans | Allowance | RawApi

/** The calls on which the services are built, without streams. */
export type Calls = Engine | NodeCalls | Images | Plans | RawApi

/** The calls for one account, for programs without streams. Fails with `InvalidOption` and `RuntimeTooOld`. */
export const calls = <R>(
  options: ClientOptions,
  transport: Layer.Layer<Transport, never, R>
): Layer.Layer<Calls, InvalidOption | RuntimeTooOld, R> =>
  Plans.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(NodeCalls.layer, Images.layer, RawApi.layer)),
    Layer.provideMerge(Engine.layer(options)),
    Layer.provide(transport)
  )

/**
 * Builds the layer anew for each client. Effect shares layers within a program by default, so a second client would otherwise use the
 * account and transport of the first. The outer layer is still shared, so a client that several parts of a program use is built only
 * once.
 */
const ofItsOwn = <A, E, R>(services: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.effectContext(Layer.build(Layer.fresh(services)))

/** Adds spans to `Plans` and `RawApi`. The promise client omits them, because its programs have no tracer. */
const observed = () =>
  Layer.mergeAll(
    Layer.effect(
      Plans,
      Effect.map(Effect.all([Plans, Observer]), ([{ list }, observer]) =>
        Plans.of({ list: methodSpans(observer)("plans.list", list) })
      )
    ),
    Layer.effect(
      RawApi,
      Effect.map(Effect.all([RawApi, Observer]), ([{ exchange, request }, observer]) => {
        const traced = methodSpans(observer)
        return RawApi.of({ request: traced("raw.request", request), exchange: traced("raw.exchange", exchange) })
      })
    )
  )

/** The services for one account. Fails with `InvalidOption` when an option is unusable, and with `RuntimeTooOld` on a Node before 22.19. */
export const layer = <R>(
  options: ClientOptions,
  transport: Layer.Layer<Transport, never, R>
): Layer.Layer<Services, InvalidOption | RuntimeTooOld, R> =>
  ofItsOwn(Layer.provideMerge(Layer.mergeAll(Nodes.layer, Allowance.layer, observed()), calls(options, transport)))
