/**
 * The options of a world in one schema. The encoded form is the body of `POST /_mock/worlds`, and a test passes the decoded
 * form to `makeWorld`. `cli/flags.ts` makes flags from the fields, and `--help` shows the fields' descriptions.
 */
import { DateTime, Duration, Option, Schema } from "effect"
import { DurationText, InstantText, readDurationMillis } from "../lifecycle/timeText.ts"
import { type LifeRule, maxLives, type Outcomes, Weight } from "../lifecycle/NodeLife.ts"
import { maxNamePatternLength } from "../lifecycle/pattern.ts"
import { textField } from "../lifecycle/textField.ts"
import type { ClockMode } from "../lifecycle/VirtualClock.ts"
import { algorithms } from "@berthkit/profile/algorithms"
import { canCount, slidingLimitSentence } from "./allowance.ts"
import { catalogues, credits, currencies, defaultToday, orders, pagings, type Today } from "./Today.ts"
import {
  type Account,
  authModes,
  defaults,
  deleteStyles,
  described,
  dialects,
  GivenNode,
  maxFleetNodes,
  maxGivenNodes,
  maxTextLength,
  type Scenario,
  type WorldSettings
} from "./WorldSettings.ts"

/** Parses `real`, `frozen`, or `x` and a factor of 1 or more, such as `x60`. */
const readClock = (text: string): Option.Option<ClockMode> => {
  if (text === "real" || text === "frozen") return Option.some(text)
  const factor = /^x(\d{1,6}(?:\.\d{1,3})?)$/.exec(text)?.[1]
  return factor === undefined || Number(factor) < 1 ? Option.none() : Option.some({ times: Number(factor) })
}

export const ClockText = textField<ClockMode>(
  Schema.Union([Schema.Literals(["real", "frozen"]), Schema.Struct({ times: Schema.Finite })]),
  "real, frozen or a factor such as x60",
  readClock,
  (mode) => (typeof mode === "string" ? mode : `x${mode.times}`)
)

/** Parses `empty`, `small`, or `fleet:` and a number of nodes. */
const readScenario = (text: string): Option.Option<Scenario> => {
  if (text === "empty" || text === "small") return Option.some(text)
  const fleet = /^fleet:(\d{1,9})$/.exec(text)?.[1]
  return fleet === undefined || Number(fleet) > maxFleetNodes ? Option.none() : Option.some({ fleet: Number(fleet) })
}

const ScenarioText = textField<Scenario>(
  Schema.Union([Schema.Literals(["empty", "small"]), Schema.Struct({ fleet: Schema.Int })]),
  `empty, small or fleet:N with N up to ${maxFleetNodes}`,
  readScenario,
  (scenario) => (typeof scenario === "string" ? scenario : `fleet:${scenario.fleet}`)
)

/**
 * Parses the text of the flag, such as `1200/1h`: requests per window. There must be at least one request and one
 * millisecond.
 */
export const readRateLimit = (text: string): Option.Option<{ readonly limit: number; readonly window: number }> => {
  const parts = /^([1-9]\d{0,8})\/(.+)$/.exec(text)
  if (parts === null) return Option.none()
  return Option.map(
    Option.filter(readDurationMillis(parts[2]!), (window) => window > 0),
    (window) => ({ limit: Number(parts[1]), window })
  )
}

/** A credential is visible ASCII, because it goes into a header and a query. */
const Credential = Schema.String.check(
  Schema.makeFilter((text) => /^[!-~]{1,255}$/.test(text) || "1 to 255 visible ASCII characters")
)

/** The length of a window. Zero is refused, because such a window would never end, or never begin. */
const Window = DurationText.check(
  Schema.makeFilter((window) => Duration.toMillis(window) > 0 || "a window longer than zero")
)

export const RateLimit = Schema.Struct({
  limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 999_999_999 }))).annotate(
    described("Requests per window, 1 or more")
  ),
  window: Schema.optionalKey(Window).annotate(described("How long a window is, such as 1 hour")),
  algorithm: Schema.optionalKey(Schema.Literals(algorithms)).annotate(described("How the window counts"))
})
  .check(Schema.makeFilter((rateLimit) => canCount(rateLimit) || slidingLimitSentence))
  .annotate({
    identifier: "RateLimit",
    description: "Requests per window; default 1200 per hour, fixed-window"
  })

/** The parts of a rate limit that were requested, as settings. */
export const rateLimitOf = ({
  algorithm,
  limit,
  window
}: typeof RateLimit.Type): Partial<WorldSettings["rateLimit"]> => ({
  ...(limit === undefined ? {} : { limit }),
  ...(window === undefined ? {} : { windowMillis: Duration.toMillis(window) }),
  ...(algorithm === undefined ? {} : { algorithm })
})

const OutcomeWeights = Schema.Struct({
  runs: Schema.optionalKey(Weight).annotate(described("Runs until a request ends it.")),
  stuck: Schema.optionalKey(Weight).annotate(described("Stays in `created`.")),
  powersOff: Schema.optionalKey(Weight).annotate(described("Runs for `outcomeAfter`, then shows `power-off`.")),
  vanishes: Schema.optionalKey(Weight).annotate(described("Runs for `outcomeAfter`, then is gone."))
}).check(
  Schema.makeFilter(
    (weights) => Object.values(weights).some((weight) => (weight ?? 0) > 0) || "Expected at least one weight above 0"
  )
)

/** The life of nodes. All durations are in the world's time. */
const lifeFields = {
  provisioning: Schema.optionalKey(DurationText).annotate(
    described("How long creating a node takes; default 2 seconds")
  ),
  provisioningJitter: Schema.optionalKey(DurationText).annotate(described("Maximum additional time; default 0")),
  termination: Schema.optionalKey(DurationText).annotate(
    described("How long deleting a node takes; default 2 seconds")
  ),
  terminationJitter: Schema.optionalKey(DurationText).annotate(described("Maximum additional time; default 0")),
  outcomes: Schema.optionalKey(OutcomeWeights).annotate(described("What happens to nodes, by weight; default all run")),
  outcomeAfter: Schema.optionalKey(DurationText).annotate(
    described("Running time before an outcome; default 1 minute")
  ),
  outcomeAfterJitter: Schema.optionalKey(DurationText).annotate(described("Maximum additional time; default 0"))
}

/** The name of a node or an image that a test asks for. */
export const GivenName = Schema.String.check(
  Schema.isPattern(/\S/, { expected: "a name that is not blank" }),
  Schema.isMaxLength(maxTextLength)
)

/** A node that exists from the start. */
const NodeOptions = Schema.Struct({
  ...GivenNode.fields,
  name: GivenName,
  createdAt: Schema.optionalKey(InstantText).annotate(described("Default: it has just reached its status"))
})

const LifeOptions = Schema.Struct(lifeFields)

const NamedLife = Schema.Struct({
  nodes: Schema.String.check(Schema.isMaxLength(maxNamePatternLength)).annotate(
    described("A pattern of node names: `*` is any text, `?` one character")
  ),
  ...lifeFields
})

/** The switches of today's dialect, each under the name of its setting. */
const todayFields = {
  catalogue: Schema.optionalKey(Schema.Literals(catalogues)).annotate(
    described(
      'With dialect "today": short (24 plans per location), whole (about 2000, like the service) or documented (those of the documented interface); default short'
    )
  ),
  currency: Schema.optionalKey(Schema.Literals(currencies)).annotate(
    described('With dialect "today": the currency of its prices; default INR')
  ),
  credit: Schema.optionalKey(Schema.Literals(credits)).annotate(
    described('With dialect "today": whether the account can pay for nodes; default enough')
  ),
  listDates: Schema.optionalKey(Schema.Boolean).annotate(
    described('With dialect "today": the list shows when nodes were created; default false')
  ),
  paging: Schema.optionalKey(Schema.Literals(pagings)).annotate(
    described(
      'With dialect "today": whether the list follows its paging parameters (followed), shows all nodes on every page (ignored), shows its first 20 nodes on every page, without totals (cut), or follows them and answers 404 after its end (not-found-after-the-end); default followed'
    )
  ),
  order: Schema.optionalKey(Schema.Literals(orders)).annotate(
    described('With dialect "today": the order of the list, by id; default ascending')
  ),
  failuresWith200: Schema.optionalKey(Schema.Boolean).annotate(
    described('With dialect "today": failures have the HTTP status 200 and a code in the body; default false')
  )
}
const todayNames = Object.keys(todayFields) as ReadonlyArray<keyof typeof todayFields>

/** The switches of today's dialect in options that do not ask for that dialect. */
export const switchesWithoutDialect = (
  options: { readonly dialect?: string | undefined } & { readonly [name in keyof typeof todayFields]?: unknown }
): ReadonlyArray<keyof typeof todayFields> =>
  options.dialect === "today" ? [] : todayNames.filter((name) => options[name] !== undefined)

/** Why such a switch is refused. */
export const needsDialectToday = "This needs the dialect today"

/** The options of a world. Everything has a default. */
export const WorldOptions = Schema.Struct({
  seed: Schema.optionalKey(Schema.Int).annotate(described("Determines ids, addresses, prices and versions; default 1")),
  clock: Schema.optionalKey(ClockText).annotate(
    described(
      "How time passes in the world (the mock account): real, x60 (sixty times as fast) or frozen; default real"
    )
  ),
  startAt: Schema.optionalKey(InstantText).annotate(
    described("Start of the world's time, such as 2026-05-01T00:00:00Z; default 2026-01-01 when frozen, otherwise now")
  ),
  scenario: Schema.optionalKey(ScenarioText).annotate(
    described("Initial content of the account: empty, small (a few nodes) or fleet:N (N nodes); default empty")
  ),
  nodes: Schema.optionalKey(Schema.Array(NodeOptions).check(Schema.isMaxLength(maxGivenNodes))).annotate(
    described("Initial nodes, in addition to those of the scenario")
  ),
  ...lifeFields,
  lives: Schema.optionalKey(Schema.Array(NamedLife).check(Schema.isMaxLength(maxLives))).annotate(
    described("Other rules for nodes of certain names: the first match applies; omitted fields are those of the world")
  ),
  rateLimit: Schema.optionalKey(RateLimit),
  auth: Schema.optionalKey(Schema.Literals(authModes)).annotate(
    described("What a request needs: strict (key and token), key-only (the key) or off (nothing); default strict")
  ),
  deleteStyle: Schema.optionalKey(Schema.Literals(deleteStyles)).annotate(
    described(
      "Reply to a delete: documented (204 without a body) or enveloped (200 with the envelope); default documented"
    )
  ),
  uniqueNames: Schema.optionalKey(Schema.Boolean).annotate(
    described("Refuse a name that another node has; default false, but true with the dialect today")
  ),
  dialect: Schema.optionalKey(Schema.Literals(dialects)).annotate(
    described(
      "What to imitate: documented (the documented interface) or today (the service as it is now); default documented"
    )
  ),
  ...todayFields,
  apiKey: Schema.optionalKey(Credential).annotate(described("Default: derived from the server's seed")),
  accessToken: Schema.optionalKey(Credential).annotate(described("Default: derived from the server's seed"))
})
  .check(
    Schema.makeFilter((options) =>
      switchesWithoutDialect(options).map((name) => ({ path: [name], issue: needsDialectToday }))
    )
  )
  .annotate({ identifier: "WorldOptions" })
export type WorldOptions = typeof WorldOptions.Type

const givenNode = ({ createdAt, ...node }: typeof NodeOptions.Type): GivenNode =>
  createdAt === undefined ? node : { ...node, createdAt: instantMillis(createdAt) }

const instantMillis = (instant: DateTime.DateTime.Input): number => DateTime.toEpochMillis(DateTime.makeUnsafe(instant))

const toMillis = (duration: Duration.Input | undefined, defaultMillis: number): number =>
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

/** Observed durations of a profile apply unless the options ask for others. */
const samplesOf = (
  name: "provisioningSamples" | "terminationSamples",
  asked: Duration.Input | undefined,
  { [name]: samples }: LifeRule
) => (asked === undefined && samples !== undefined ? { [name]: samples } : {})

const ruleOf = (options: typeof LifeOptions.Type, otherwise: LifeRule): LifeRule => ({
  provisioningMillis: toMillis(options.provisioning, otherwise.provisioningMillis),
  provisioningJitterMillis: toMillis(options.provisioningJitter, otherwise.provisioningJitterMillis),
  ...samplesOf("provisioningSamples", options.provisioning ?? options.provisioningJitter, otherwise),
  ...samplesOf("terminationSamples", options.termination ?? options.terminationJitter, otherwise),
  terminationMillis: toMillis(options.termination, otherwise.terminationMillis),
  terminationJitterMillis: toMillis(options.terminationJitter, otherwise.terminationJitterMillis),
  outcomes: outcomesOf(options.outcomes, otherwise.outcomes),
  outcomeAfterMillis: toMillis(options.outcomeAfter, otherwise.outcomeAfterMillis),
  outcomeAfterJitterMillis: toMillis(options.outcomeAfterJitter, otherwise.outcomeAfterJitterMillis)
})

/** The settings that the options ask for. All others come from `base`. */
export const settingsOf = (options: WorldOptions, account: Account, base: WorldSettings = defaults): WorldSettings => {
  const rule = ruleOf(options, base.lifecycle)
  return {
    ...base,
    account,
    seed: options.seed ?? base.seed,
    clock: options.clock ?? base.clock,
    startAt: options.startAt === undefined ? base.startAt : instantMillis(options.startAt),
    lifecycle: {
      ...rule,
      byName: (options.lives ?? []).map((life) => ({ pattern: life.nodes, rule: ruleOf(life, rule) }))
    },
    rateLimit: { ...base.rateLimit, ...rateLimitOf(options.rateLimit ?? {}) },
    auth: options.auth ?? base.auth,
    deleteStyle: options.deleteStyle ?? base.deleteStyle,
    uniqueNames: options.uniqueNames ?? (options.dialect === "today" || base.uniqueNames),
    scenario: options.scenario ?? base.scenario,
    nodes: (options.nodes ?? []).map(givenNode),
    faults: base.faults,
    ...(options.dialect === "today" ? { today: todayOf(options) } : {})
  }
}

const todayOf = ({
  catalogue = defaultToday.catalogue,
  credit = defaultToday.credit,
  currency = defaultToday.currency,
  failuresWith200 = defaultToday.failuresWith200,
  listDates = defaultToday.listDates,
  order = defaultToday.order,
  paging = defaultToday.paging
}: Partial<Today>): Today => ({ catalogue, credit, currency, failuresWith200, listDates, order, paging })
