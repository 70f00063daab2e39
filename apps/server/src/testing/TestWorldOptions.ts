/**
 * What a world of a test begins with, with durations as Effect takes them, and how a request of the control plane says it.
 */
import { Duration } from "effect"
import type { WorldOptions } from "../control/WorldOptions.ts"
import type { Outcomes } from "../lifecycle/Lifecycle.ts"
import type { AllowancePolicy } from "../world/allowance.ts"
import type { Scenario } from "../world/scenario.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"
import type { AuthMode, DeleteStyle } from "../world/World.ts"

/** How nodes live. All durations are time of the world. */
export interface TestLife {
  /** From a create to `running`. Default 2 seconds. */
  readonly provisioning?: Duration.Input
  /** At most this much more, by seed and id. Default none. */
  readonly provisioningJitter?: Duration.Input
  /** From a delete to being gone. Default 2 seconds. */
  readonly termination?: Duration.Input
  readonly terminationJitter?: Duration.Input
  /** What becomes of nodes, by weight. Default: all run. */
  readonly outcomes?: Partial<Outcomes>
  /** How long a node runs before it powers off or vanishes, where that is its outcome. Default one minute. */
  readonly outcomeAfter?: Duration.Input
  readonly outcomeAfterJitter?: Duration.Input
}

/** Everything has a default. */
export interface TestWorldOptions extends TestLife {
  /** Default 1. */
  readonly seed?: number
  /** Default `frozen`, at 2026-01-01T00:00:00.000Z. `real` follows the `Clock` of the test. */
  readonly clock?: ClockMode
  /** Default `empty`. */
  readonly scenario?: Scenario
  /** Other lives for nodes whose name matches a pattern (`*`, `?`); the first that matches holds. */
  readonly lives?: ReadonlyArray<TestLife & { readonly nodes: string }>
  /** Default 1200 per hour, `fixed-window`. */
  readonly allowance?: AllowancePolicy
  /** Default `strict`. */
  readonly auth?: AuthMode
  /** Default `documented`. */
  readonly deleteStyle?: DeleteStyle
  /** Default false. */
  readonly uniqueNames?: boolean
}

/** What was said. In JSON there is no undefined, so what was not said has to be absent. */
const said = <A extends object>(options: A) =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    readonly [K in keyof A]?: Exclude<A[K], undefined>
  }

const duration = (input: Duration.Input | undefined): Duration.Duration | undefined =>
  input === undefined ? undefined : Duration.fromInputUnsafe(input)

const life = (options: TestLife) =>
  said({
    provisioning: duration(options.provisioning),
    provisioningJitter: duration(options.provisioningJitter),
    termination: duration(options.termination),
    terminationJitter: duration(options.terminationJitter),
    outcomes: options.outcomes,
    outcomeAfter: duration(options.outcomeAfter),
    outcomeAfterJitter: duration(options.outcomeAfterJitter)
  })

const rateLimit = ({ algorithm, limit, windowMillis }: AllowancePolicy) => ({
  limit,
  window: Duration.millis(windowMillis),
  algorithm
})

/** The same as the body of `POST /_mock/worlds`, decoded. */
export const worldOptions = (options: TestWorldOptions): WorldOptions => ({
  ...said({
    seed: options.seed,
    scenario: options.scenario,
    lives: options.lives?.map((one) => ({ nodes: one.nodes, ...life(one) })),
    rateLimit: options.allowance === undefined ? undefined : rateLimit(options.allowance),
    auth: options.auth,
    deleteStyle: options.deleteStyle,
    uniqueNames: options.uniqueNames
  }),
  ...life(options),
  clock: options.clock ?? "frozen"
})
