/**
 * What the troubles of a daemon are found in: its accounts, sinks, store and clock at one moment, as plain data.
 */
import type { SinkState } from "../deliver/Sinks.ts"
import type { StoreTrouble } from "../store/StoreHealth.ts"
import type { AccountProgress } from "../telemetry/Progress.ts"
import type { ClockStep } from "./ClockSteps.ts"

/** How much the store holds beside how much it may. */
export interface Kept {
  /** The account with the most events that are kept. */
  readonly events: number
  readonly maxEvents: number
  readonly bytes: number
  readonly maxBytes: number
}

export interface DaemonState {
  readonly nowMillis: number
  /** When the process began. */
  readonly begunMillis: number
  /** By name. */
  readonly accounts: ReadonlyMap<string, AccountProgress>
  readonly sinks: ReadonlyArray<SinkState>
  /** Null while the store is written as it should be. */
  readonly store: StoreTrouble | null
  /** Null where the clock did not step of late. */
  readonly clock: ClockStep | null
  /** Null where that is not known. */
  readonly kept: Kept | null
  /** Null while the monitor gets its heartbeat, and where there is none. */
  readonly heartbeat: { readonly reason: string; readonly sinceMillis: number } | null
}
