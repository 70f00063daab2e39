/**
 * How nodes live in a world: how long the stages take that end without a request, and what becomes of a node once it runs.
 * `NodeLife.ts` applies it to one node. Durations are milliseconds.
 */
import { matches } from "./pattern.ts"

/** What becomes of a node without any request about it. */
export type Outcome = "runs" | "stuck" | "powers-off" | "vanishes"

/** Outcomes by weight: of 10 nodes under `{ runs: 8, stuck: 2 }` about two stay in `created`. At least one is above 0. */
export interface Outcomes {
  readonly runs: number
  /** Stays in `created`. */
  readonly stuck: number
  /** Runs for a while, then shows `power-off`. */
  readonly powersOff: number
  /** Runs for a while, then is gone without a trace. */
  readonly vanishes: number
}

export interface LifeRule {
  /** From the create to `running`. Default 2 s. */
  readonly provisioningMillis: number
  /** At most this much more, by seed and id. Default 0. */
  readonly provisioningJitterMillis: number
  /** From the delete to being gone. Default 2 s. */
  readonly terminationMillis: number
  readonly terminationJitterMillis: number
  /** `null` where every node runs, which is the default. */
  readonly outcomes: Outcomes | null
  /** How long a node runs before it powers off or vanishes, where that is its outcome. Default one minute. */
  readonly outcomeAfterMillis: number
  readonly outcomeAfterJitterMillis: number
}

/** How many other rules there may be: a node's is searched for whenever its status is asked. */
export const maxLives = 100

/** The rule of a world, and other rules for nodes of certain names. */
export interface Lifecycle extends LifeRule {
  /** The first whose pattern matches holds; without one, the world's own rule. */
  readonly byName: ReadonlyArray<{ readonly pattern: string; readonly rule: LifeRule }>
}

export const defaultLifecycle: Lifecycle = {
  provisioningMillis: 2_000,
  provisioningJitterMillis: 0,
  terminationMillis: 2_000,
  terminationJitterMillis: 0,
  outcomes: null,
  outcomeAfterMillis: 60_000,
  outcomeAfterJitterMillis: 0,
  byName: []
}

/** The rule for a node of this name. */
export const ruleFor = (lifecycle: Lifecycle, name: string): LifeRule => {
  if (lifecycle.byName.length === 0) return lifecycle
  return lifecycle.byName.find(({ pattern }) => matches(pattern, name))?.rule ?? lifecycle
}

/** The outcome at `share` of the weights, 0 to below 1. */
export const outcomeAmong = ({ powersOff, runs, stuck, vanishes }: Outcomes, share: number): Outcome => {
  let left = share * (runs + stuck + powersOff + vanishes)
  if ((left -= runs) < 0) return "runs"
  if ((left -= stuck) < 0) return "stuck"
  // Fractions may leave a rest where there is none: what has no weight never happens.
  return (left -= powersOff) < 0 || vanishes === 0 ? "powers-off" : "vanishes"
}
