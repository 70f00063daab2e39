/**
 * The client's telemetry through Effect: the metrics of `Metrics.ts`, and a span per call and attempt. Spans are created only if the
 * program has a tracer. Effect's default tracer would create and time them, and then drop them.
 */
import { Effect, Layer } from "effect"
import * as drift from "./Drift.ts"
import * as http from "./httpAttributes.ts"
import * as Metrics from "./Metrics.ts"
import { Observer } from "./Observer.ts"

/** A span per call and attempt, if the program has a tracer. */
export const spans: Pick<Observer, "annotated" | "drift" | "http" | "traced"> = {
  drift,
  http,
  traced: (_step, name, options) => (effect) =>
    Effect.withFiber(({ cache }) =>
      cache.tracer === undefined
        ? effect
        : Effect.withSpan(effect, name, options && { kind: options.kind, attributes: options.attributes() })
    ),
  annotated: (attributes) =>
    Effect.withFiber(({ cache }) => (cache.tracer === undefined ? Effect.void : Effect.annotateCurrentSpan(attributes)))
}

/** Observes the clients that are built with this layer. */
export const layer = Layer.effect(
  Observer,
  Effect.map(Effect.context<never>(), (context) => ({ ...Metrics.make(context), ...spans }))
)
