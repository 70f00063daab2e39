/**
 * The metrics of the daemon in Prometheus's text format. Gauges show the current state. They are built for each scrape, so a
 * series ends when its subject does. Counters and histograms come from Effect's registry, which the daemon's parts and the
 * client update. To keep the text small, series are never about a single node, and with many accounts not about a single
 * account either.
 */
import { Clock, Context, DateTime, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import pkg from "../../package.json" with { type: "json" }
import { knownStatuses } from "@berthkit/core/domain/NodeStatus"
import { Daemon, Refused } from "./Daemon.ts"
import type { NodeCount } from "../store/present.ts"
import { sinkStates } from "../deliver/Sinks.ts"
import { silenceStates } from "../store/silences.ts"
import {
  type AccountCost,
  accountStates,
  type AccountStatus,
  type Silence,
  type SinkStatus,
  type Trouble
} from "./records.ts"
import { isOwn, sweepAgeMillis } from "./readiness.ts"

type Attributes = Readonly<Record<string, string>>
type Sample = readonly [value: number | null, attributes: Attributes]

/** A gauge. It has a value for each set of attributes; unknown values are omitted. */
interface Gauge {
  readonly name: string
  readonly description: string
  readonly samples: ReadonlyArray<Sample>
}

/** Combines the values of many accounts into one; null if unknown. */
type Combine = (values: ReadonlyArray<number | null>) => number | null

/** A gauge about accounts, whose samples have the label `account`. */
interface AccountGauge extends Gauge {
  readonly combine: Combine
}

const overKnown =
  (combine: (values: ReadonlyArray<number>) => number): Combine =>
  (values) => {
    const known = values.filter((value) => value !== null)
    return known.length === 0 ? null : combine(known)
  }
const sum = overKnown((values) => values.reduce((total, value) => total + value, 0))
/** The sum, or null if a value is unknown: a sum of only some amounts of money would be misleading. */
const sumOfAll: Combine = (values) => (values.includes(null) ? null : sum(values))
const highest = overKnown((values) => values.reduce((a, b) => Math.max(a, b)))
const lowest = overKnown((values) => values.reduce((a, b) => Math.min(a, b)))

const withoutAccount = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([name]) => name !== "account"))

/** A gauge about accounts, combined into one value for all of them. */
const combined = ({ combine, samples, ...gauge }: AccountGauge): Gauge => ({
  ...gauge,
  samples: Array.from(
    Map.groupBy(samples, ([, attributes]) => JSON.stringify(withoutAccount(attributes))).values(),
    (alike): Sample => [combine(alike.map(([value]) => value)), withoutAccount(alike[0]![1])]
  )
})

const seconds = (millis: number | null): number | null => (millis === null ? null : millis / 1000)

/** One sample per state, 1 for the current one. */
const stateSamples = <State extends string>(
  states: ReadonlyArray<State>,
  present: State,
  attributes: Attributes
): ReadonlyArray<Sample> => states.map((state) => [state === present ? 1 : 0, { ...attributes, state }])

const accountGauges = (accounts: ReadonlyArray<AccountStatus>, nowMillis: number): ReadonlyArray<AccountGauge> => {
  const each = (value: (status: AccountStatus) => number | null): ReadonlyArray<Sample> =>
    accounts.map((status) => [value(status), { account: status.account }])
  return [
    {
      name: "berth_account_state",
      combine: sum,
      description: "1 for the current state of the account.",
      samples: accounts.flatMap(({ account, state }) => stateSamples(accountStates, state, { account }))
    },
    {
      name: "berth_last_success_timestamp_seconds",
      combine: lowest,
      description: "When the last complete sweep ended.",
      samples: each(({ lastSweep }) => (lastSweep === null ? null : DateTime.toEpochMillis(lastSweep.endedAt) / 1000))
    },
    {
      name: "berth_last_success_age_seconds",
      combine: highest,
      description: "Time since the last complete sweep ended.",
      samples: each((status) => seconds(sweepAgeMillis(status, nowMillis)))
    },
    {
      name: "berth_sweep_interval_seconds",
      combine: highest,
      description: "Planned time from the start of one sweep to the next.",
      samples: each(({ sweepIntervalMillis }) => seconds(sweepIntervalMillis))
    },
    {
      name: "berth_detection_latency_seconds",
      combine: highest,
      description: "Longest delay of a change within the last hour: the width of observedBetween.",
      samples: each(({ detectionLatencyMillis }) => seconds(detectionLatencyMillis))
    },
    {
      name: "berth_unreadable_records",
      combine: sum,
      description: "Records that the last complete sweep could not read; nothing is reported about their nodes.",
      samples: each(({ lastSweep, unreadable }) => (lastSweep === null ? null : (unreadable?.count ?? 0)))
    },
    {
      name: "berth_ratelimit_limit",
      combine: sum,
      description: "Requests that the service grants per window.",
      samples: each(({ allowance }) => allowance?.limit ?? null)
    },
    {
      name: "berth_ratelimit_remaining",
      combine: sum,
      description: "Requests left in the rate limit.",
      samples: each(({ allowance }) => allowance?.remaining ?? null)
    }
  ]
}

/**
 * The cluster engine's own metric. It is looked up by name, because the engine is not loaded if only one process uses the
 * store.
 */
const engineShards = Metric.gauge("effect_cluster_shards", { bigint: true })

const costGauges = (costs: ReadonlyArray<AccountCost>): ReadonlyArray<AccountGauge> => [
  {
    name: "berth_cost_month_to_date_inr",
    combine: sumOfAll,
    description:
      "What the account spent in this month, in rupees, without prices in other currencies. Months begin at midnight in India.",
    samples: costs.map(({ account, spent }) => [spent.amountInr, { account }])
  },
  {
    name: "berth_cost_forecast_inr",
    combine: sumOfAll,
    description:
      "What the month will cost if nothing changes until its end, in rupees, without prices in other currencies.",
    samples: costs.map(({ account, forecast }) => [forecast?.amountInr ?? null, { account }])
  },
  {
    name: "berth_cost_error_inr",
    combine: sumOfAll,
    description: "How far berth_cost_month_to_date_inr may be off, in rupees; absent if a price was unknown.",
    samples: costs.map(({ account, spent }) => [spent.errorInr, { account }])
  }
]

/** The gauges for several processes on one store. Each account is counted for the process that owns it. */
const fleetGauges = (
  accounts: ReadonlyArray<AccountStatus>,
  shards: bigint,
  nowMillis: number
): ReadonlyArray<Gauge> => {
  if (accounts.every(({ owner }) => owner === undefined)) return []
  const watched = accounts.filter(({ state }) => state !== "paused")
  const ages = watched.map((account) => sweepAgeMillis(account, nowMillis) ?? nowMillis)
  return [
    {
      name: "berth_accounts",
      description: "Accounts that this process owns.",
      samples: [[accounts.filter(isOwn).length, {}]]
    },
    {
      name: "berth_shards",
      description: "Shards that this process owns, of the 300 that distribute accounts over processes.",
      samples: [[Number(shards), {}]]
    },
    {
      name: "berth_fleet_oldest_success_age_seconds",
      description: "Time since the last complete sweep of the account that was swept longest ago, in any process.",
      samples: [[Math.max(0, ...ages) / 1000, {}]]
    }
  ]
}

const presentStates = sinkStates.filter((state) => state !== "removed")

/** The gauges about sinks. A removed sink has no series, because nobody waits for its events. */
const sinkGauges = (all: ReadonlyArray<SinkStatus>): ReadonlyArray<Gauge> => {
  const sinks = all.filter(({ state }) => state !== "removed")
  const each = (value: (status: SinkStatus) => number | null): ReadonlyArray<Sample> =>
    sinks.map((status) => [value(status), { sink: status.sink }])
  return [
    {
      name: "berth_sink_state",
      description: "1 for the current state of the sink.",
      samples: sinks.flatMap(({ sink, state }) => stateSamples(presentStates, state, { sink }))
    },
    {
      name: "berth_sink_lag_events",
      description: "Events that the sink has not read.",
      samples: each(({ lag }) => lag)
    },
    {
      name: "berth_sink_waiting_events",
      description: "Events that the sink has read but not delivered.",
      samples: each(({ waiting }) => waiting)
    },
    {
      name: "berth_silenced_events",
      description: "Events that wait for the end of a silence before the sink gets them.",
      samples: each(({ silenced }) => silenced)
    },
    {
      name: "berth_sink_dead_letters",
      description: "Events that could not be delivered and are kept.",
      samples: each(({ deadLetters }) => deadLetters)
    },
    {
      name: "berth_sink_failing_since_timestamp_seconds",
      description: "Since when the sink has accepted no event; absent while it does.",
      samples: each(({ failingSince }) => (failingSince === null ? null : DateTime.toEpochMillis(failingSince) / 1000))
    }
  ]
}

/** A series for each trouble, for as long as it lasts. */
const troubleGauge = (troubles: ReadonlyArray<Trouble>): Gauge => ({
  name: "berth_trouble",
  description: "1 for each current trouble.",
  samples: troubles.map(({ about, name, severity }) => [
    1,
    { trouble: name, severity, ...(about.name === null ? {} : { [about.kind]: about.name }) }
  ])
})

const silenceGauge = (silences: ReadonlyArray<Silence>): Gauge => ({
  name: "berth_silences",
  description: "Silences by state; an ended one counts for a day.",
  samples: silenceStates.map((state) => [silences.filter((silence) => silence.state === state).length, { state }])
})

const processGauges: ReadonlyArray<Gauge> = [
  { name: "berth_build_info", description: "The running version.", samples: [[1, { version: pkg.version }]] }
]

const residentBytes = (): Gauge => ({
  name: "process_resident_memory_bytes",
  description: "Resident memory size in bytes.",
  samples: [[process.memoryUsage.rss(), {}]]
})

const format = (gauges: ReadonlyArray<Gauge>): string => {
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const { description, name, samples } of gauges) {
    for (const [value, attributes] of samples) {
      if (value !== null) Metric.gauge(name, { description, attributes }).updateUnsafe(value, context)
    }
  }
  return PrometheusMetrics.formatUnsafe(context)
}

const nodeGauge = (counts: ReadonlyArray<NodeCount>): AccountGauge => ({
  name: "berth_nodes",
  description: "Nodes by status and plan; 0, without a plan, for a status that no node has.",
  combine: sum,
  samples: counts.map(({ account, count, plan, status }) => [count, { account, status, plan: plan ?? "" }])
})

/**
 * Adds a 0 for each status that no node has, because an alert cannot refer to a missing series. `subjects`: the labels of each
 * account whose nodes are known; no labels if accounts are shown together.
 */
const withZeros = (gauge: Gauge, subjects: ReadonlyArray<Attributes>): Gauge => {
  const keyOf = ({ account, status }: Attributes) => JSON.stringify([account, status])
  const present = new Set(gauge.samples.map(([, attributes]) => keyOf(attributes)))
  const absent = subjects
    .flatMap((subject) => knownStatuses.map((status): Attributes => ({ ...subject, status, plan: "" })))
    .filter((attributes) => !present.has(keyOf(attributes)))
  return { ...gauge, samples: [...gauge.samples, ...absent.map((attributes): Sample => [0, attributes])] }
}

/**
 * With more accounts than this, metrics show them all together. Separate series for thousands of accounts would make a scrape
 * of many megabytes.
 */
const maxAccounts = 100

type Entry = Metric.Metric.Metadata<any, any>

/** The summed state of one counter or histogram over several accounts. */
const addStates = (states: ReadonlyArray<any>): any => {
  const [first] = states
  const total = (of: (state: any) => number) => states.reduce((all, state) => all + of(state), 0)
  if (!("buckets" in first)) return { ...first, count: total(({ count }) => count) }
  return {
    ...first,
    count: total(({ count }) => count),
    sum: total(({ sum }) => sum),
    buckets: first.buckets.map(([bound]: [number], at: number) => [bound, total(({ buckets }) => buckets[at][1])])
  }
}

/** The entries of the registry, summed over all accounts. */
const combinedEntries = (entries: ReadonlyArray<Entry>): ReadonlyArray<Entry> =>
  Array.from(
    Map.groupBy(entries, ({ attributes = {}, id }) => `${id} ${JSON.stringify(withoutAccount(attributes))}`).values(),
    (alike): Entry => {
      const [{ attributes = {}, hooks, ...rest }] = alike as [Entry]
      const get: Entry["hooks"]["get"] = (context) => addStates(alike.map(({ hooks }) => hooks.get(context)))
      return { ...rest, attributes: withoutAccount(attributes), hooks: { ...hooks, get } }
    }
  )

/**
 * The counters and histograms of the registry. The client's gauges are left out, because the account gauges above show the same
 * values under other names.
 */
const formatRegistry = (choose: (entries: ReadonlyArray<Entry>) => ReadonlyArray<Entry>) =>
  Effect.map(Metric.MetricRegistry, (registry) => {
    const entries = choose(Array.from(registry.values()).filter(({ type }) => type !== "Gauge"))
    return PrometheusMetrics.formatUnsafe(
      Context.make(Metric.MetricRegistry, new Map(entries.map((entry, at) => [String(at), entry])))
    )
  })

const gaugesOfAccounts = Effect.fnUntraced(function* (accounts: ReadonlyArray<AccountStatus>) {
  const daemon = yield* Daemon
  const names = new Set(accounts.map(({ account }) => account))
  const isOf = ({ account }: { readonly account: string }) => names.has(account)
  return {
    nodes: nodeGauge((yield* daemon.nodeCounts).filter(isOf)),
    others: [
      ...accountGauges(accounts, yield* Clock.currentTimeMillis),
      ...costGauges((yield* daemon.monthCosts).filter(isOf))
    ]
  }
})

const isSweptOnce = ({ lastSweep }: AccountStatus): boolean => lastSweep !== null

const ofEach = ({ account }: AccountStatus): Attributes => ({ account })

/** The answer to a scrape of one account. It is available for any number of accounts. */
export const formatAccountMetrics = Effect.fnUntraced(function* (name: string) {
  const daemon = yield* Daemon
  const found = (yield* daemon.accounts).filter(({ account }) => account === name)
  if (found.length === 0) return yield* new Refused({ kind: "unknown", message: `There is no account ${name}.` })
  const own = found.filter(isOwn)
  const { nodes, others } = yield* gaugesOfAccounts(own)
  const troubles = (yield* daemon.troubles).filter(({ about }) => about.kind === "account" && about.name === name)
  const gauges = [withZeros(nodes, own.filter(isSweptOnce).map(ofEach)), troubleGauge(troubles), ...others]
  const isOf = ({ attributes }: Entry) => attributes?.["account"] === name
  return format(gauges) + (yield* formatRegistry((entries) => entries.filter(isOf)))
})

/** The answer to a scrape. It has series for each account or, with many accounts, for all of them together. */
export const formatMetrics = Effect.gen(function* () {
  const daemon = yield* Daemon
  const [accounts, sinks, troubles, silences] = yield* Effect.all([
    daemon.accounts,
    daemon.sinks,
    daemon.troubles,
    daemon.silences
  ])
  const own = accounts.filter(isOwn)
  const areMany = own.length > maxAccounts
  const { nodes, others } = yield* gaugesOfAccounts(own)
  const swept = own.filter(isSweptOnce)
  const storeBytes: Gauge = {
    name: "berth_store_bytes",
    description: "Size of the store's rows and indexes, which maxSize limits.",
    samples: [[yield* daemon.storeBytes, {}]]
  }
  const gauges = [
    ...processGauges,
    residentBytes(),
    storeBytes,
    areMany ? withZeros(combined(nodes), swept.length > 0 ? [{}] : []) : withZeros(nodes, swept.map(ofEach)),
    troubleGauge(troubles),
    ...(areMany ? others.map(combined) : others),
    ...fleetGauges(accounts, (yield* Metric.value(engineShards)).value, yield* Clock.currentTimeMillis),
    ...sinkGauges(sinks),
    silenceGauge(silences)
  ]
  return format(gauges) + (yield* formatRegistry(areMany ? combinedEntries : (entries) => entries))
})
