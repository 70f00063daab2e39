/**
 * The settings of a world: every one has a value, durations are milliseconds. `WorldOptions.ts` has the form in which they
 * are asked for.
 */
import { Redacted } from "effect"
import type { AnyFault } from "../faults/Fault.ts"
import { defaultLifecycle, type Lifecycle, type ForcedStatus } from "../lifecycle/NodeLife.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"
import type { RateLimit } from "./allowance.ts"

/** Whose world it is. */
export interface Account {
  readonly apiKey: Redacted.Redacted
  readonly accessToken: Redacted.Redacted
}

/** `strict` needs key and token, `key-only` the key, `off` nothing (A6). */
export type AuthMode = "strict" | "key-only" | "off"
export const authModes: ReadonlyArray<AuthMode> = ["strict", "key-only", "off"]

/** `documented` answers a delete with 204 and no body, `enveloped` with 200 and the envelope (A12). */
export type DeleteStyle = "documented" | "enveloped"
export const deleteStyles: ReadonlyArray<DeleteStyle> = ["documented", "enveloped"]

/** What a world begins with: nothing, a handful of nodes and saved images, or so many running nodes. */
export type Scenario = "empty" | "small" | { readonly fleet: number }

export const maxFleetNodes = 5_000_000

/** A node of a world's start; what is left out has a default. */
export interface GivenNode {
  readonly name: string
  /** Slug of a plan; default the first one that the image goes with. */
  readonly plan?: string
  /** Slug or id of a public image; default Ubuntu-24.04 where it goes with the plan, else the first that does. */
  readonly image?: string | number
  /** Default: what its life has it show, which is `running`. `created` begins to be provisioned, `terminate` to go. */
  readonly status?: ForcedStatus | "terminate"
  /** Default: the next one that is free. */
  readonly id?: number
  /** Milliseconds since the epoch; default so that it has just come to show its status. */
  readonly createdAt?: number
  readonly locked?: boolean
  readonly backups?: boolean
}

export interface WorldSettings {
  readonly account: Account
  readonly seed: number
  readonly clock: ClockMode
  /** When the world's time begins, in milliseconds since the epoch. Default: 2026-01-01 when frozen, else the real time. */
  readonly startAt: number | null
  readonly lifecycle: Lifecycle
  readonly rateLimit: RateLimit
  readonly auth: AuthMode
  readonly deleteStyle: DeleteStyle
  /** Whether a name in use is refused. Default false: the interface does not forbid it (A14). */
  readonly uniqueNames: boolean
  readonly scenario: Scenario
  /** The nodes it begins with beside those of the scenario. Default none. */
  readonly nodes: ReadonlyArray<GivenNode>
  /** The faults that are armed from the start. Default none. */
  readonly faults: ReadonlyArray<AnyFault>
}

/** The settings of a world that asks for nothing else. */
export const defaults: WorldSettings = {
  account: { apiKey: Redacted.make("berth-key"), accessToken: Redacted.make("berth-token") },
  seed: 1,
  clock: "real",
  startAt: null,
  lifecycle: defaultLifecycle,
  rateLimit: { limit: 1200, windowMillis: 3_600_000, algorithm: "fixed-window" },
  auth: "strict",
  deleteStyle: "documented",
  uniqueNames: false,
  scenario: "empty",
  nodes: [],
  faults: []
}
