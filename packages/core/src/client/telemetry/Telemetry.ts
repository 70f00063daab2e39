/**
 * The client's telemetry through Effect: the metrics of `Metrics.ts`, and a span for each call and attempt. Spans are made only
 * where the program has a tracer: Effect's default one drops them, after each was made and timed.
 */
import { Effect, Layer } from "effect"
import * as drift from "./Drift.ts"
import * as http from "./httpAttributes.ts"
import * as Metrics from "./Metrics.ts"
import { Observer } from "./Observer.ts"

/** A span for each call and attempt, where the program has a tracer. */
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

/** Observes the clients that are made with this layer. */
export const layer = Layer.effect(
  Observer,
  Effect.map(Effect.context<never>(), (context) => ({ ...Metrics.make(context), ...spans }))
)
