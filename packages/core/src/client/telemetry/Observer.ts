/**
 * Who is told, as they happen, of the calls and attempts of a client and of what it did not know in the replies. Nobody,
 * unless a layer says so; `Telemetry.ts` is the one Berth brings along.
 */
import { Context, type Effect, type Tracer } from "effect"
import type { Attempt } from "../../domain/Attempt.ts"
import type { Lane } from "../../domain/Lane.ts"
import type { Drift } from "./Drift.ts"
import type { WireRequest } from "../transport/Transport.ts"

export interface Observer {
  /**
   * An attempt is over, however it ended: the last of `attempts`, which are those of its call so far. `request` is what was
   * sent, without the credentials.
   */
  readonly attempted: (operation: string, lane: Lane, attempts: ReadonlyArray<Attempt>, request: WireRequest) => void
  /** A reply had something in it that Berth does not know. */
  readonly drifted: (drifts: ReadonlyArray<Drift>) => void
  /** A call or an attempt, with a span around it where somebody takes that. */
  readonly traced: (
    name: string,
    options?: Tracer.SpanOptions
  ) => <A, E>(effect: Effect.Effect<A, E>) => Effect.Effect<A, E>
  /** Attributes of the span that `traced` made around this. */
  readonly annotated: (attributes: Readonly<Record<string, unknown>>) => Effect.Effect<void>
}

export const Observer = Context.Reference<Observer | undefined>("@berth/core/client/telemetry/Observer", {
  defaultValue: () => undefined
})
