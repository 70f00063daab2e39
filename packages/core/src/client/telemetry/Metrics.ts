/**
 * The metrics of the client, in Effect's registry, from where `effect/observability` exports them as Prometheus or OTLP:
 *
 * | metric | kind | attributes |
 * |---|---|---|
 * | `berth_requests_total` | counter | `operation`, `outcome` (`ok`, the tag of a reason, `interrupted`, `defect`) |
 * | `berth_retries_total` | counter | `operation`, `reason` (how the attempt before it ended) |
 * | `berth_request_duration_seconds` | histogram | `operation` |
 * | `berth_queue_wait_seconds` | histogram: waiting for a turn within the allowance | `lane` |
 * | `berth_allowance_limit`, `berth_allowance_remaining` | gauges: as in the newest reply | |
 * | `berth_drift_total` | counter: records with something Berth does not know | `kind` (`field`, `status`, `record`: left out), `name` |
 *
 * If a program has several accounts, `Metric.CurrentMetricAttributes` around each layer separates their series.
 */
import { type Context, Metric } from "effect"
import type { Attempt } from "../../domain/Attempt.ts"
import type { Drift } from "./Drift.ts"
import type { Observer } from "./Observer.ts"

/** The service chooses these names, so their number and length are limited. */
const maxDriftNames = 64
const maxDriftNameLength = 64

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1200, 3600]

const limit = Metric.gauge("berth_allowance_limit", { description: "Requests granted per window." })
const remaining = Metric.gauge("berth_allowance_remaining", { description: "Requests left." })

/** One metric per value of an attribute, created on first use. */
const by = <A>(make: (attribute: string) => A) => {
  const made = new Map<string, A>()
  return (attribute: string): A => {
    let one = made.get(attribute)
    if (one === undefined) made.set(attribute, (one = make(attribute)))
    return one
  }
}

const requests = by((operation) =>
  by((outcome) =>
    Metric.counter("berth_requests_total", {
      description: "Requests sent.",
      incremental: true,
      attributes: { operation, outcome }
    })
  )
)
const retries = by((operation) =>
  by((reason) =>
    Metric.counter("berth_retries_total", {
      description: "Requests sent because an earlier one of the same call failed.",
      incremental: true,
      attributes: { operation, reason }
    })
  )
)
const durations = by((operation) =>
  Metric.histogram("berth_request_duration_seconds", {
    description: "From sending a request until its reply is read.",
    boundaries: seconds,
    attributes: { operation }
  })
)
const waits = by((lane) =>
  Metric.histogram("berth_queue_wait_seconds", {
    description: "Waited for a turn within the allowance.",
    boundaries: seconds,
    attributes: { lane }
  })
)
/** Do not cache these, because the names are rare and can be anything. */
const drifts = (kind: string, name: string) =>
  Metric.counter("berth_drift_total", {
    description: "Records with something that Berth does not know.",
    incremental: true,
    attributes: { kind, name }
  })

/** Whether the client refused the request before it was sent. */
const isUnsent = ({ outcome, status }: Attempt) => outcome === "InvalidRequest" && status === null

/** Records the engine's reports in the registry, with the attributes of the context. */
export const make = (context: Context.Context<never>): Pick<Observer, "attempted" | "drifted"> => {
  const driftNames = new Set<string>()
  const driftName = ({ name }: Drift): string => {
    const short = name.slice(0, maxDriftNameLength)
    if (driftNames.size < maxDriftNames) driftNames.add(short)
    return driftNames.has(short) ? short : "other"
  }
  return {
    attempted: (operation, lane, attempts) => {
      const attempt = attempts.at(-1)
      if (attempt === undefined || isUnsent(attempt)) return
      requests(operation)(attempt.outcome).updateUnsafe(1, context)
      durations(operation).updateUnsafe(attempt.durationMillis / 1000, context)
      waits(lane).updateUnsafe(attempt.queuedMillis / 1000, context)
      const before = attempts.at(-2)
      if (before !== undefined) retries(operation)(before.outcome).updateUnsafe(1, context)
      if (attempt.allowance !== null) {
        limit.updateUnsafe(attempt.allowance.limit, context)
        remaining.updateUnsafe(attempt.allowance.remaining, context)
      }
    },
    drifted: (found) => {
      for (const drift of found) drifts(drift.kind, driftName(drift)).updateUnsafe(drift.count, context)
    }
  }
}
