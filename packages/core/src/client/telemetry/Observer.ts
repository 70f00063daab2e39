/**
 * Receives a client's reports: its calls and attempts, and unknown values in replies. There is no observer unless a layer provides one;
 * `Telemetry.ts` provides Berth's.
 */
import { Context, type Effect, type Tracer } from "effect"
import type { Attempt } from "../../domain/Attempt.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Drift } from "./Drift.ts"

/** Options of a span. Its attributes are computed only if the span is created. */
export interface SpanOptions {
  readonly kind: Tracer.SpanKind
  readonly attributes: () => Readonly<Record<string, unknown>>
}

export interface Observer {
  /** Called when an attempt has ended. `attempts` lists the call's attempts so far; the ended one is the last. */
  readonly attempted: (operation: string, lane: Lane, attempts: ReadonlyArray<Attempt>) => void
  /** Called when a reply contains something that Berth does not know. */
  readonly drifted: (drifts: ReadonlyArray<Drift>, operation: string) => void
  /**
   * Wraps a step in a span, if the observer creates one. A `method` is a program's call that makes several requests; a `call` is named
   * after its operation, an `attempt` after its HTTP method.
   */
  readonly traced: (
    step: "method" | "call" | "attempt",
    name: string,
    options?: SpanOptions
  ) => <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /**
   * Computes the attributes of an attempt's span. It is part of the observer so that a web page, which has no observer, does not load it.
   */
  readonly http: typeof import("./httpAttributes.ts")
  /** Counts drift in values. It is part of the observer for the same reason as `http`. */
  readonly drift: typeof import("./Drift.ts")
  /** Adds attributes to the span that `traced` created. */
  readonly annotated: (attributes: Readonly<Record<string, unknown>>) => Effect.Effect<void>
}

export const Observer = Context.Reference<Observer | undefined>("@berthkit/core/client/telemetry/Observer", {
  defaultValue: () => undefined
})
