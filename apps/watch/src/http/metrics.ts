/**
 * The metrics of the daemon in Prometheus's text format: what its state is at this moment, made anew for each scrape so that a
 * series ends with what it was about, and the counters and histograms of Effect's registry, which its parts and the client
 * update. No series is about a single node.
 */
import { Clock, Context, DateTime, Effect, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import pkg from "../../package.json" with { type: "json" }
import { Daemon } from "./Daemon.ts"
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

/** A gauge, with a value for each set of attributes. A value that is not known is left out. */
interface Gauge {
  readonly name: string
  readonly description: string
  readonly samples: ReadonlyArray<Sample>
}

const seconds = (millis: number | null): number | null => (millis === null ? null : millis / 1000)

/** One sample for each state, 1 for the present one. */
const stateSamples = <State extends string>(
  states: ReadonlyArray<State>,
  present: State,
  attributes: Attributes
): ReadonlyArray<Sample> => states.map((state) => [state === present ? 1 : 0, { ...attributes, state }])

const accountGauges = (accounts: ReadonlyArray<AccountStatus>, nowMillis: number): ReadonlyArray<Gauge> => {
  const each = (value: (status: AccountStatus) => number | null): ReadonlyArray<Sample> =>
    accounts.map((status) => [value(status), { account: status.account }])
  return [
    {
      name: "berth_account_state",
      description: "1 for the present state of the account.",
      samples: accounts.flatMap(({ account, state }) => stateSamples(accountStates, state, { account }))
    },
    {
      name: "berth_last_success_timestamp_seconds",
      description: "When the last complete sweep ended.",
      samples: each(({ lastSweep }) => (lastSweep === null ? null : DateTime.toEpochMillis(lastSweep.endedAt) / 1000))
    },
    {
      name: "berth_last_success_age_seconds",
      description: "Time since the last complete sweep ended.",
      samples: each((status) => seconds(sweepAgeMillis(status, nowMillis)))
    },
    {
      name: "berth_sweep_interval_seconds",
      description: "Planned time from the start of one sweep to the next.",
      samples: each(({ sweepIntervalMillis }) => seconds(sweepIntervalMillis))
    },
    {
      name: "berth_detection_latency_seconds",
      description: "Longest delay of a change within the last hour: the width of observedBetween.",
      samples: each(({ detectionLatencyMillis }) => seconds(detectionLatencyMillis))
    },
    {
      name: "berth_unreadable_records",
      description: "Records that the last complete sweep could not read; nothing is reported about their nodes.",
      samples: each(({ lastSweep, unreadable }) => (lastSweep === null ? null : (unreadable?.count ?? 0)))
    },
    {
      name: "berth_ratelimit_limit",
      description: "Requests that the service grants per window.",
      samples: each(({ allowance }) => allowance?.limit ?? null)
    },
    {
      name: "berth_ratelimit_remaining",
      description: "Requests left in the rate limit.",
      samples: each(({ allowance }) => allowance?.remaining ?? null)
    }
  ]
}

/** What the engine counts of itself, by its name: where one process has the store the engine is not loaded. */
const engineShards = Metric.gauge("effect_cluster_shards", { bigint: true })

const costGauges = (costs: ReadonlyArray<AccountCost>): ReadonlyArray<Gauge> => [
  {
    name: "berth_cost_month_to_date_inr",
    description: "What the account spent in this month, in rupees. Months begin at midnight in India.",
    samples: costs.map(({ account, spent }) => [spent.amountInr, { account }])
  },
  {
    name: "berth_cost_forecast_inr",
    description: "What the month will cost if nothing changes until its end, in rupees.",
    samples: costs.map(({ account, forecast }) => [forecast?.amountInr ?? null, { account }])
  },
  {
    name: "berth_cost_error_inr",
    description: "How far berth_cost_month_to_date_inr may be off, in rupees; absent where a price was not known.",
    samples: costs.map(({ account, spent }) => [spent.errorInr, { account }])
  }
]

/** Of several processes on one store. Each account is in the series of the one that has it. */
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
      description: "Accounts that this process has.",
      samples: [[accounts.filter(isOwn).length, {}]]
    },
    {
      name: "berth_shards",
      description: "Shards that this process has, of the 300 by which accounts are spread over processes.",
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

/** Those of a sink that is removed end: nobody waits for what it does not get. */
const sinkGauges = (all: ReadonlyArray<SinkStatus>): ReadonlyArray<Gauge> => {
  const sinks = all.filter(({ state }) => state !== "removed")
  const each = (value: (status: SinkStatus) => number | null): ReadonlyArray<Sample> =>
    sinks.map((status) => [value(status), { sink: status.sink }])
  return [
    {
      name: "berth_sink_state",
      description: "1 for the present state of the sink.",
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
      description: "Since when the sink has taken no event; absent while it does.",
      samples: each(({ failingSince }) => (failingSince === null ? null : DateTime.toEpochMillis(failingSince) / 1000))
    }
  ]
}

/** A series for each trouble, for as long as it lasts. */
const troubleGauge = (troubles: ReadonlyArray<Trouble>): Gauge => ({
  name: "berth_trouble",
  description: "1 for each trouble that lasts now.",
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
  { name: "berth_build_info", description: "The version that runs.", samples: [[1, { version: pkg.version }]] }
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

/** What accumulates. The gauges of the client are those of the accounts above, by other names. */
const formatRegistry = Effect.map(Metric.MetricRegistry, (registry) =>
  PrometheusMetrics.formatUnsafe(
    Context.make(Metric.MetricRegistry, new Map(Array.from(registry).filter(([, { type }]) => type !== "Gauge")))
  )
)

/** The whole answer to a scrape. */
export const formatMetrics = Effect.gen(function* () {
  const daemon = yield* Daemon
  const [accounts, sinks, counts, troubles, silences] = yield* Effect.all([
    daemon.accounts,
    daemon.sinks,
    daemon.nodeCounts,
    daemon.troubles,
    daemon.silences
  ])
  const nodes: Gauge = {
    name: "berth_nodes",
    description: "Nodes by status and plan.",
    samples: counts.map(({ account, count, plan, status }) => [count, { account, status, plan: plan ?? "" }])
  }
  const now = yield* Clock.currentTimeMillis
  const storeBytes: Gauge = {
    name: "berth_store_bytes",
    description: "Size of the store's rows and indexes, which maxSize limits.",
    samples: [[yield* daemon.storeBytes, {}]]
  }
  const gauges = [
    ...processGauges,
    residentBytes(),
    storeBytes,
    nodes,
    troubleGauge(troubles),
    ...accountGauges(accounts.filter(isOwn), now),
    ...costGauges(yield* daemon.monthCosts),
    ...fleetGauges(accounts, (yield* Metric.value(engineShards)).value, now),
    ...sinkGauges(sinks),
    silenceGauge(silences)
  ]
  return format(gauges) + (yield* formatRegistry)
})
