/**
 * Who is told, as they happen, of the attempts of a client and of what it did not know in the replies. Nobody, unless a
 * layer says so; `Metrics.ts` is the one Berth brings along.
 */
import { Context } from "effect"
import type { Attempt } from "../domain/Attempt.ts"
import type { Lane } from "../domain/Lane.ts"
import type { Drift } from "./Drift.ts"

export interface Observer {
  /** An attempt is over, however it ended: the last of `attempts`, which are those of its call so far. */
  readonly attempted: (operation: string, lane: Lane, attempts: ReadonlyArray<Attempt>) => void
  /** A reply had something in it that Berth does not know. */
  readonly drifted: (drifts: ReadonlyArray<Drift>) => void
}

export const Observer = Context.Reference<Observer | undefined>("@berth/core/client/Observer", {
  defaultValue: () => undefined
})
