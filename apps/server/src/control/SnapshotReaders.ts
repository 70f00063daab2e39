/**
 * The clients that are reading snapshots. Each keeps the nodes of its world as they were, also when the world is gone, so they are
 * bounded together: the next one waits, in real time as all connections do, and then gets 503.
 */
import { fail, type Failure } from "@berth/core/api/Envelope"
import { Clock, Effect, type Scope, Semaphore } from "effect"
import type { Timeouts } from "../transport/limits.ts"

/** Nodes that all of them keep together. A world that has more is read alone. */
export const maxNodes = 1_000_000

/** What a small world counts as: up to a hundred are read at the same time. */
const minNodes = 10_000

const busy = fail(503, "Too many snapshots are being read: try again.")

export class SnapshotReaders {
  readonly #nodes = Semaphore.makeUnsafe(maxNodes)
  readonly #times: Pick<Timeouts, "turnWaitMillis">

  constructor(times: Pick<Timeouts, "turnWaitMillis">) {
    this.#times = times
  }

  /** Waits for the place of a reader of so many nodes, which it has until the scope closes. */
  take(nodes: number): Effect.Effect<void, Failure<503>, Scope.Scope> {
    const counted = Math.min(maxNodes, Math.max(minNodes, nodes))
    return Semaphore.takeScoped(this.#nodes, counted).pipe(
      Effect.timeoutOrElse({ duration: this.#times.turnWaitMillis, orElse: () => Effect.fail(busy) }),
      Effect.provideService(Clock.Clock, Clock.Clock.defaultValue())
    )
  }
}
