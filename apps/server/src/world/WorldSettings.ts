/**
 * The settings of a world: every one has a value, durations are milliseconds. `WorldOptions.ts` has the form in which they
 * are asked for.
 */
import { Redacted } from "effect"
import type { AnyFault } from "../faults/Fault.ts"
import { defaultLifecycle, type Lifecycle } from "../lifecycle/Lifecycle.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"
import type { RateLimit } from "./allowance.ts"

/** Whose world it is. */
export interface Account {
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
}

/** `strict` needs key and token, `key-only` the key, `off` nothing (decision 6). */
export type AuthMode = "strict" | "key-only" | "off"
export const authModes: ReadonlyArray<AuthMode> = ["strict", "key-only", "off"]

/** `documented` answers a delete with 204 and no body, `enveloped` with 200 and the envelope (decision 12). */
export type DeleteStyle = "documented" | "enveloped"
export const deleteStyles: ReadonlyArray<DeleteStyle> = ["documented", "enveloped"]

/** What a world begins with: nothing, a handful of nodes and saved images, or so many running nodes. */
export type Scenario = "empty" | "small" | { readonly fleet: number }

export const maxFleetNodes = 5_000_000

export interface WorldSettings {
  readonly account: Account
  readonly seed: number
  readonly clock: ClockMode
  readonly lifecycle: Lifecycle
  readonly rateLimit: RateLimit
  readonly auth: AuthMode
  readonly deleteStyle: DeleteStyle
  /** Whether a name in use is refused. Default false: the interface does not forbid it (decision 14). */
  readonly uniqueNames: boolean
  readonly scenario: Scenario
  /** The faults that are armed from the start. Default none. */
  readonly faults: ReadonlyArray<AnyFault>
}

/** The settings of a world that asks for nothing else. */
export const defaults: WorldSettings = {
  account: { apiKey: Redacted.make("berth-key"), accessToken: Redacted.make("berth-token") },
  seed: 1,
  clock: "real",
  lifecycle: defaultLifecycle,
  rateLimit: { limit: 1200, windowMillis: 3_600_000, algorithm: "fixed-window" },
  auth: "strict",
  deleteStyle: "documented",
  uniqueNames: false,
  scenario: "empty",
  faults: []
}
