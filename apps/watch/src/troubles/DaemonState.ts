/** The input for finding troubles (problems of a daemon): its accounts, sinks, store and clock at one moment, as plain data. */
import type { SinkState } from "../deliver/Sinks.ts"
import type { StoreTrouble } from "../store/StoreHealth.ts"
import type { AccountProgress } from "../telemetry/Progress.ts"
import type { ClockStep } from "./ClockSteps.ts"

/** How much the store holds, and how much it may hold. */
export interface Kept {
  /** The number of events of the account that has the most. */
  readonly events: number
  readonly maxEvents: number
  readonly bytes: number
  readonly maxBytes: number
}

export interface DaemonState {
  readonly nowMillis: number
  /** When the process started. */
  readonly begunMillis: number
  /** The accounts by name. */
  readonly accounts: ReadonlyMap<string, AccountProgress>
  readonly sinks: ReadonlyArray<SinkState>
  /** Null while writes to the store succeed. */
  readonly store: StoreTrouble | null
  /** Null if the clock was not changed recently. */
  readonly clock: ClockStep | null
  /** Null if unknown. */
  readonly kept: Kept | null
  /** Null while the monitor gets its heartbeat, or if there is no monitor. */
  readonly heartbeat: { readonly reason: string; readonly sinceMillis: number } | null
}
