/**
 * What a world begins with, as a request writes it, and what that means. Everything may be left out; then it is as
 * `--help` says of the flag of that name.
 */
import { Duration, Schema } from "effect"
import { defaultLifecycle, type LifeRule, type Outcomes } from "../lifecycle/Lifecycle.ts"
import { algorithms } from "../world/allowance.ts"
import { type Account, authModes, defaults, deleteStyles, type WorldSettings } from "../world/World.ts"
import { ClockText, DurationText, ScenarioText } from "./fields.ts"

const described = (description: string) => ({ description })

/** What a fresh account may be called: visible ASCII, so that it fits into a header and a query. */
const Credential = Schema.String.check(
  Schema.makeFilter((text) => /^[!-~]{1,255}$/.test(text) || "1 to 255 visible ASCII characters")
)

/** A window of nothing would never end, or never begin. */
const Window = DurationText.check(
  Schema.makeFilter((window) => Duration.toMillis(window) > 0 || "a window longer than nothing")
)

const RateLimit = Schema.Struct({
  limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))),
  window: Schema.optionalKey(Window),
  algorithm: Schema.optionalKey(Schema.Literals(algorithms))
})

const Weight = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

const OutcomeWeights = Schema.Struct({
  runs: Schema.optionalKey(Weight).annotate(described("Runs until somebody ends it.")),
  stuck: Schema.optionalKey(Weight).annotate(described("Stays in `created`.")),
  powersOff: Schema.optionalKey(Weight).annotate(described("Runs for `outcomeAfter`, then shows `power-off`.")),
  vanishes: Schema.optionalKey(Weight).annotate(described("Runs for `outcomeAfter`, then is gone."))
}).check(
  Schema.makeFilter(
    (weights) => Object.values(weights).some((weight) => (weight ?? 0) > 0) || "at least one weight above 0"
  )
)

const lifeFields = {
  provisioning: Schema.optionalKey(DurationText).annotate(described("From a create to running; default 2 seconds.")),
  provisioningJitter: Schema.optionalKey(DurationText).annotate(described("At most this much more; default nothing.")),
  termination: Schema.optionalKey(DurationText).annotate(described("From a delete to being gone; default 2 seconds.")),
  terminationJitter: Schema.optionalKey(DurationText).annotate(described("At most this much more; default nothing.")),
  outcomes: Schema.optionalKey(OutcomeWeights).annotate(
    described("What becomes of nodes, by weight; default all run.")
  ),
  outcomeAfter: Schema.optionalKey(DurationText).annotate(
    described("Running time before an outcome; default 1 minute.")
  ),
  outcomeAfterJitter: Schema.optionalKey(DurationText).annotate(described("At most this much more; default nothing."))
}

const LifeOptions = Schema.Struct(lifeFields)

const NamedLife = Schema.Struct({
  nodes: Schema.String.check(Schema.isMaxLength(255)).annotate(
    described("A pattern of node names: `*` is any text, `?` one character.")
  ),
  ...lifeFields
})

export const WorldOptions = Schema.Struct({
  seed: Schema.optionalKey(Schema.Int).annotate(described("Default 1.")),
  clock: Schema.optionalKey(ClockText).annotate(described("`real` (default), `frozen`, or a factor such as `x60`.")),
  scenario: Schema.optionalKey(ScenarioText).annotate(described("`empty` (default), `small`, or `fleet:N`.")),
  ...lifeFields,
  lives: Schema.optionalKey(Schema.Array(NamedLife).check(Schema.isMaxLength(100))).annotate(
    described("Other lives for nodes of certain names; the first that matches holds, the rest is as the world has it.")
  ),
  rateLimit: Schema.optionalKey(RateLimit).annotate(described("Default 1200 per hour, fixed-window.")),
  auth: Schema.optionalKey(Schema.Literals(authModes)),
  deleteStyle: Schema.optionalKey(Schema.Literals(deleteStyles)),
  uniqueNames: Schema.optionalKey(Schema.Boolean),
  apiKey: Schema.optionalKey(Credential).annotate(described("Default: one that follows from the server's seed.")),
  accessToken: Schema.optionalKey(Credential).annotate(described("Default: one that follows from the server's seed."))
}).annotate({ identifier: "WorldOptions" })
export type WorldOptions = typeof WorldOptions.Type

const toMillis = (duration: Duration.Duration | undefined, defaultMillis: number): number =>
  duration === undefined ? defaultMillis : Duration.toMillis(duration)

const outcomesOf = (weights: typeof OutcomeWeights.Type | undefined, otherwise: Outcomes | null): Outcomes | null =>
  weights === undefined
    ? otherwise
    : {
        runs: weights.runs ?? 0,
        stuck: weights.stuck ?? 0,
        powersOff: weights.powersOff ?? 0,
        vanishes: weights.vanishes ?? 0
      }

const ruleOf = (options: typeof LifeOptions.Type, otherwise: LifeRule): LifeRule => ({
  provisioningMillis: toMillis(options.provisioning, otherwise.provisioningMillis),
  provisioningJitterMillis: toMillis(options.provisioningJitter, otherwise.provisioningJitterMillis),
  terminationMillis: toMillis(options.termination, otherwise.terminationMillis),
  terminationJitterMillis: toMillis(options.terminationJitter, otherwise.terminationJitterMillis),
  outcomes: outcomesOf(options.outcomes, otherwise.outcomes),
  outcomeAfterMillis: toMillis(options.outcomeAfter, otherwise.outcomeAfterMillis),
  outcomeAfterJitterMillis: toMillis(options.outcomeAfterJitter, otherwise.outcomeAfterJitterMillis)
})

/** The settings of a world from what was asked for, the rest as it is by default. */
export const settingsOf = (options: WorldOptions, account: Account): WorldSettings => {
  const rule = ruleOf(options, defaultLifecycle)
  return {
    account,
    seed: options.seed ?? defaults.seed,
    clock: options.clock ?? defaults.clock,
    lifecycle: {
      ...rule,
      byName: (options.lives ?? []).map((life) => ({ pattern: life.nodes, rule: ruleOf(life, rule) }))
    },
    allowance: {
      limit: options.rateLimit?.limit ?? defaults.allowance.limit,
      windowMillis: toMillis(options.rateLimit?.window, defaults.allowance.windowMillis),
      algorithm: options.rateLimit?.algorithm ?? defaults.allowance.algorithm
    },
    auth: options.auth ?? defaults.auth,
    deleteStyle: options.deleteStyle ?? defaults.deleteStyle,
    uniqueNames: options.uniqueNames ?? defaults.uniqueNames,
    scenario: options.scenario ?? defaults.scenario,
    faults: defaults.faults
  }
}
