/**
 * What a client reports as it happens: its calls and attempts, and the unknown parts of replies. There is no observer unless a
 * layer provides one; `Telemetry.ts` is Berth's.
 */
import { Context, type Effect, type Tracer } from "effect"
import type { Attempt } from "../../domain/Attempt.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Drift } from "./Drift.ts"

/** Of a span. Its attributes are made where it is. */
export interface SpanOptions {
  readonly kind: Tracer.SpanKind
  readonly attributes: () => Readonly<Record<string, unknown>>
}

export interface Observer {
  /** An attempt has ended: the last of `attempts`, those of its call so far. */
  readonly attempted: (operation: string, lane: Lane, attempts: ReadonlyArray<Attempt>) => void
  /** A reply of the operation has something that Berth does not know. */
  readonly drifted: (drifts: ReadonlyArray<Drift>, operation: string) => void
  /**
   * A step, with a span around it where the observer makes one. A `method` is what a program called, where it takes several
   * calls; a `call` is named after its operation, an `attempt` after its HTTP method.
   */
  readonly traced: (
    step: "method" | "call" | "attempt",
    name: string,
    options?: SpanOptions
  ) => <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** The attributes of an attempt's span. They belong to the observer because a page has no observer and need not load them. */
  readonly http: typeof import("./httpAttributes.ts")
  /** The code that counts drift in values; here for the same reason. */
  readonly drift: typeof import("./Drift.ts")
  /** Adds attributes to the span that `traced` made around this. */
  readonly annotated: (attributes: Readonly<Record<string, unknown>>) => Effect.Effect<void>
}

export const Observer = Context.Reference<Observer | undefined>("@berthkit/core/client/telemetry/Observer", {
  defaultValue: () => undefined
})
