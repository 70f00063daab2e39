/**
 * What a client reports as it happens: its calls and attempts, and the unknown parts of replies. There is no observer unless a
 * layer provides one; `Telemetry.ts` is Berth's.
 */
import { Context, type Effect, type Tracer } from "effect"
import type { Attempt } from "../../domain/Attempt.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Drift } from "./Drift.ts"
import type { WireRequest } from "../transport/Transport.ts"

export interface Observer {
  /**
   * An attempt has ended: the last of `attempts`, those of its call so far. `request` is what was sent, without the
   * credentials.
   */
  readonly attempted: (operation: string, lane: Lane, attempts: ReadonlyArray<Attempt>, request: WireRequest) => void
  /** A reply has something that Berth does not know. */
  readonly drifted: (drifts: ReadonlyArray<Drift>) => void
  /** A call or an attempt, with a span around it where the observer makes one. */
  readonly traced: (
    name: string,
    options?: Tracer.SpanOptions
  ) => <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Adds attributes to the span that `traced` made around this. */
  readonly annotated: (attributes: Readonly<Record<string, unknown>>) => Effect.Effect<void>
}

export const Observer = Context.Reference<Observer | undefined>("@berth/core/client/telemetry/Observer", {
  defaultValue: () => undefined
})
