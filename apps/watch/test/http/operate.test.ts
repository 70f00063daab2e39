import { readFileSync } from "node:fs"
import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Metric } from "effect"
import { parse } from "yaml"
import { alertsFile, docsFile, printedAlerts, printedDocs } from "../../scripts/printedTroubles.ts"
import { Progress } from "../../src/telemetry/Progress.ts"
import { aNode } from "../diff/aNode.ts"
import { ask, served } from "./http.ts"
import { anAccount, aSink, aTrouble } from "./memoryDaemon.ts"

const read = (name: string) => readFileSync(new URL(`../../operate/${name}`, import.meta.url), "utf8")

/** The expressions of the rules and of the panels. */
const alerts = ["alerts.yml", "alerts-nodes.yml"].flatMap(
  (name): ReadonlyArray<{ readonly alert: string; readonly expr: string }> => parse(read(name)).groups[0].rules
)
const panels: ReadonlyArray<{ readonly targets: ReadonlyArray<{ readonly expr: string }> }> = JSON.parse(
  read("grafana.json")
).panels

const namesIn = (expressions: ReadonlyArray<string>) =>
  new Set(expressions.flatMap((each) => each.match(/\bberth_\w+/g) ?? []))

/** A daemon with a value for each of its metrics. */
const busy = Effect.gen(function* () {
  const { put, state, url } = yield* served()
  const now = yield* DateTime.now
  put(aNode({ id: 1 }), DateTime.formatIso(now))
  state.accounts = [
    anAccount({
      lastSweep: { endedAt: now, durationMillis: 1, requests: 1 },
      detectionLatencyMillis: 1,
      allowance: { limit: 1, remaining: 1, resetAt: null }
    })
  ]
  state.sinks = [aSink({ failingSince: now })]
  state.troubles = [aTrouble()]
  const { report } = yield* Progress
  yield* report("default", { lastSweep: { endedMillis: 0, durationMillis: 1, requests: 1 } })
  for (const name of ["berth_events_total", "berth_deletions_total"]) {
    yield* Metric.update(Metric.counter(name, { incremental: true }), 1)
  }
  return yield* ask(`${url}/metrics`)
}).pipe(Effect.provide(Progress.layer([])), Effect.provideService(Metric.MetricRegistry, new Map()))

describe("the rules for Prometheus and the board for Grafana", () => {
  it("are printed from the table of troubles, as the docs are", () => {
    // Printed by `pnpm --filter @berthkit/watch troubles`.
    expect(readFileSync(alertsFile, "utf8")).toBe(printedAlerts())
    expect(readFileSync(docsFile, "utf8")).toBe(printedDocs())
    expect(printedDocs()).toContain("| `sink-failing` |")
  })

  it.live("ask for metrics that there are", () =>
    Effect.gen(function* () {
      const { text } = yield* busy
      const there = new Set(Array.from(text.matchAll(/^(berth_\w+)[{ ]/gm), ([, name]) => name))
      const asked = namesIn([
        ...alerts.map(({ expr }) => expr),
        ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
      ])
      expect(asked.size).toBeGreaterThan(10)
      expect([...asked].filter((name) => !there.has(name))).toEqual([])
    })
  )
})
