/**
 * Spans of calls and attempts, made only where the program has a tracer: Effect's own keeps spans to itself, so that each
 * would be made, timed and thrown away.
 */
import { Effect, type Tracer } from "effect"

/** A span around the effect, where there is a tracer to take it. */
export const traced =
  (name: string, options?: Tracer.SpanOptions) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.withFiber(({ cache }) => (cache.tracer === undefined ? effect : Effect.withSpan(effect, name, options)))

/** Attributes of the span that `traced` made around this. */
export const annotated = (attributes: Readonly<Record<string, unknown>>): Effect.Effect<void> =>
  Effect.withFiber(({ cache }) => (cache.tracer === undefined ? Effect.void : Effect.annotateCurrentSpan(attributes)))
