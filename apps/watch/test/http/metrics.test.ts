import { describe, expect, it } from "@effect/vitest"
import { DateTime, Effect, Metric } from "effect"
import { metricProblems } from "@berthkit/testing/metricLint"
import parse from "parse-prometheus-text-format"
import { aCost } from "./aCost.ts"
import { aNode } from "../diff/aNode.ts"
import { ask, served } from "./http.ts"
import { anAccount, aSilence, aSink, aTrouble } from "./memoryDaemon.ts"

const time = "2026-03-01T10:00:00.000Z"

const scrape = (url: string) =>
  Effect.map(ask(`${url}/metrics`), ({ headers, text }) => {
    expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8")
    return new Map(parse(text).map((family) => [family.name, family]))
  })

describe("/metrics", () => {
  it.live("has the state of accounts, nodes and sinks, as Prometheus reads it", () =>
    Effect.gen(function* () {
      const { put, state, url } = yield* served()
      put(aNode({ id: 1, plan: "small" }), time)
      put(aNode({ id: 2, plan: "small" }), time)
      put(aNode({ id: 3, plan: 'odd "plan"\\' }), time)
      const endedAt = DateTime.makeUnsafe(1_700_000_000_500)
      state.accounts = [
        anAccount({
          lastSweep: { endedAt, durationMillis: 1, requests: 1 },
          unreadable: { count: 32, example: "node 4, whose name is not a string" },
          detectionLatencyMillis: 8500,
          allowance: { limit: 1200, remaining: 733, resetAt: null }
        })
      ]
      state.silences = [aSilence(), aSilence({ state: "planned" }), aSilence({ state: "over" }), aSilence()]
      state.sinks = [aSink({ lag: 12, silenced: 5, state: "down" }), aSink({ sink: "old", state: "removed" })]
      state.troubles = [
        aTrouble({ name: "store-failing", about: { kind: "daemon", name: null }, severity: "critical" }),
        aTrouble({ name: "sink-down", about: { kind: "sink", name: "ops" } })
      ]
      const families = yield* scrape(url)
      const values = (name: string) =>
        Object.fromEntries(
          families.get(name)!.metrics.map(({ labels, value }) => [JSON.stringify(labels ?? {}), value])
        )
      expect(values("berth_nodes")).toEqual({
        '{"account":"default","status":"running","plan":"small"}': "2",
        '{"account":"default","status":"running","plan":"odd \\"plan\\"\\\\"}': "1",
        '{"account":"default","status":"creating","plan":""}': "0",
        '{"account":"default","status":"created","plan":""}': "0",
        '{"account":"default","status":"power-off","plan":""}': "0",
        '{"account":"default","status":"terminate","plan":""}': "0"
      })
      expect(values("berth_last_success_timestamp_seconds")).toEqual({ '{"account":"default"}': "1700000000.5" })
      expect(values("berth_detection_latency_seconds")).toEqual({ '{"account":"default"}': "8.5" })
      expect(values("berth_unreadable_records")).toEqual({ '{"account":"default"}': "32" })
      expect(values("berth_ratelimit_remaining")).toEqual({ '{"account":"default"}': "733" })
      expect(values("berth_trouble")).toEqual({
        '{"trouble":"store-failing","severity":"critical"}': "1",
        '{"trouble":"sink-down","severity":"warning","sink":"ops"}': "1"
      })
      expect(values("berth_store_bytes")).toEqual({ "{}": "4096" })
      expect(values("berth_silences")).toEqual({
        '{"state":"planned"}': "1",
        '{"state":"active"}': "2",
        '{"state":"over"}': "1"
      })
      expect(values("berth_silenced_events")).toEqual({ '{"sink":"ops"}': "5" })
      expect(values("berth_sink_lag_events")).toEqual({ '{"sink":"ops"}': "12" })
      expect(values("berth_sink_state")).toEqual({
        '{"sink":"ops","state":"up"}': "0",
        '{"sink":"ops","state":"retrying"}': "0",
        '{"sink":"ops","state":"failing"}': "0",
        '{"sink":"ops","state":"down"}': "1",
        '{"sink":"ops","state":"disabled"}': "0"
      })
    })
  )

  it.live("lists the usual state of an account first", () =>
    Effect.gen(function* () {
      const { url } = yield* served()
      const states = (yield* scrape(url)).get("berth_account_state")!.metrics.map(({ labels }) => labels!["state"])
      expect(states).toEqual(["watching", "starting", "degraded", "frozen", "paused", "stopped"])
    })
  )

  it.live("counts what a process has where several have one store, and its accounts alone have series", () =>
    Effect.gen(function* () {
      const { state, url } = yield* served()
      const families = yield* scrape(url)
      for (const name of ["berth_accounts", "berth_shards"]) expect(families.has(name)).toBe(false)
      const now = yield* DateTime.now
      const swept = (seconds: number) => ({
        endedAt: DateTime.subtract(now, { seconds }),
        durationMillis: 1,
        requests: 1
      })
      const owner = { process: "watch-1:1:a", since: now, from: null, isHere: true }
      state.accounts = [
        anAccount({ account: "own", lastSweep: swept(1), owner }),
        anAccount({
          account: "other",
          lastSweep: swept(500),
          owner: { ...owner, process: "watch-2:1:b", isHere: false }
        })
      ]
      yield* Metric.update(Metric.gauge("effect_cluster_shards", { bigint: true }), 99n)
      const fleet = yield* scrape(url)
      const valueOf = (name: string) => Number(fleet.get(name)!.metrics[0]!.value)
      expect([valueOf("berth_accounts"), valueOf("berth_shards")]).toEqual([1, 99])
      expect(valueOf("berth_fleet_oldest_success_age_seconds")).toBeGreaterThanOrEqual(500)
      expect(fleet.get("berth_last_success_age_seconds")!.metrics.map(({ labels }) => labels)).toEqual([
        { account: "own" }
      ])
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live("ends a series with what it was about; a status without nodes is 0 once the nodes are known", () =>
    Effect.gen(function* () {
      const { put, state, url } = yield* served()
      put(aNode({ id: 1, plan: "small" }), time)
      const nodes = Effect.map(scrape(url), (families) =>
        (families.get("berth_nodes")?.metrics ?? []).map(({ labels, value }) => [
          labels!["status"],
          labels!["plan"],
          value
        ])
      )
      expect(yield* nodes).toEqual([["running", "small", "1"]])
      state.nodes.clear()
      expect(yield* nodes).toEqual([])
      state.accounts = [anAccount({ lastSweep: { endedAt: yield* DateTime.now, durationMillis: 1, requests: 1 } })]
      expect(yield* nodes).toEqual(
        ["creating", "created", "running", "power-off", "terminate"].map((status) => [status, "", "0"])
      )
    })
  )

  it.live("shows many accounts together, each alone on request, and stays small", () =>
    Effect.gen(function* () {
      const { put, state, url } = yield* served()
      const names = Array.from({ length: 2000 }, (_, index) => `team-${index}@example.com`)
      const endedAt = DateTime.makeUnsafe(1_700_000_000_000)
      state.accounts = names.map((account, index) =>
        anAccount({
          account,
          state: index === 7 ? "degraded" : "watching",
          lastSweep: { endedAt: DateTime.add(endedAt, { seconds: index }), durationMillis: 1, requests: 1 },
          detectionLatencyMillis: 1000 + index,
          allowance: { limit: 1200, remaining: 700, resetAt: null }
        })
      )
      state.costs = names.map((account) => aCost({ account }, DateTime.toEpochMillis(endedAt), [[1, 2]]))
      state.troubles = names.map((name) => aTrouble({ about: { kind: "account", name } }))
      for (const [index, account] of names.entries()) {
        for (const plan of ["small", "large"])
          put(aNode({ id: 2 * index + (plan === "small" ? 1 : 2), plan }), time, account)
        const own = { account }
        const count = (name: string, attributes: object) =>
          Metric.update(
            Metric.counter(name, { description: "C.", incremental: true, attributes: { ...own, ...attributes } }),
            2
          )
        const boundaries = Array.from({ length: 16 }, (_, at) => 2 ** at)
        const observe = (name: string, attributes: object) =>
          Metric.update(
            Metric.histogram(name, { description: "H.", boundaries, attributes: { ...own, ...attributes } }),
            3
          )
        for (const operation of ["nodes.list", "nodes.get", "images.list", "plans.list"]) {
          yield* count("berth_requests_total", { operation, outcome: "ok" })
          yield* observe("berth_request_duration_seconds", { operation })
        }
        for (const lane of ["reads", "polls"]) yield* observe("berth_queue_wait_seconds", { lane })
        yield* observe("berth_sweep_duration_seconds", {})
        for (const type of ["created", "status_changed", "changed", "deleted"])
          yield* count("berth_events_total", { type })
      }
      const { text } = yield* ask(`${url}/metrics`)
      expect(text.length).toBeLessThan(1_000_000)
      expect(metricProblems(text)).toEqual([])
      const families = yield* scrape(url)
      const valuesOf = (name: string) =>
        families.get(name)!.metrics.map(({ labels = {}, value, ...rest }) => [labels, value ?? rest])
      expect(valuesOf("berth_nodes").slice(0, 2)).toEqual([
        [{ status: "running", plan: "small" }, "2000"],
        [{ status: "running", plan: "large" }, "2000"]
      ])
      expect(valuesOf("berth_nodes")).toHaveLength(2 + 4)
      expect(valuesOf("berth_account_state").slice(0, 3)).toEqual([
        [{ state: "watching" }, "1999"],
        [{ state: "starting" }, "0"],
        [{ state: "degraded" }, "1"]
      ])
      expect(valuesOf("berth_last_success_timestamp_seconds")).toEqual([[{}, "1700000000"]])
      expect(valuesOf("berth_detection_latency_seconds")).toEqual([[{}, "2.999"]])
      expect(valuesOf("berth_ratelimit_remaining")).toEqual([[{}, String(2000 * 700)]])
      expect(valuesOf("berth_events_total")[0]).toEqual([{ type: "created" }, "4000"])
      expect(text).toContain('berth_request_duration_seconds_count{operation="nodes.get"} 2000')
      expect(text).toContain('berth_request_duration_seconds_sum{operation="nodes.get"} 6000')
      expect(text).toContain('berth_request_duration_seconds_bucket{operation="nodes.get",le="4"} 2000')
      // Metrics for alerts still name the account.
      expect(valuesOf("berth_trouble")).toHaveLength(2000)

      const one = yield* ask(`${url}/metrics?account=${encodeURIComponent(names[7]!)}`)
      expect(metricProblems(one.text)).toEqual([])
      expect(one.text).toContain('berth_account_state{account="team-7@example.com",state="degraded"} 1')
      expect(one.text).toContain('berth_nodes{account="team-7@example.com",status="terminate",plan=""} 0')
      expect(one.text).toContain('berth_events_total{account="team-7@example.com",type="deleted"} 2')
      const samples = one.text.split("\n").filter((line) => line !== "" && !line.startsWith("#"))
      expect(samples.filter((line) => !line.includes('account="team-7@example.com"'))).toEqual([])
      expect(yield* ask(`${url}/metrics?account=nobody`)).toMatchObject({
        status: 404,
        json: { message: "There is no account nobody." }
      })
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.live(
    "keeps to the rules for names: units in full, counters in total, a help text, no label of a single node",
    () =>
      Effect.gen(function* () {
        const { put, state, url } = yield* served()
        put(aNode({ id: 1 }), time)
        state.sinks = [aSink({ failingSince: DateTime.makeUnsafe(0) })]
        yield* Metric.update(Metric.counter("berth_events_total", { description: "Events.", incremental: true }), 1)
        yield* Metric.update(Metric.gauge("berth_allowance_limit", { description: "Of no account." }), 1)
        const { text } = yield* ask(`${url}/metrics`)
        expect(metricProblems(text)).toEqual([])
        const families = yield* scrape(url)
        expect(families.has("berth_allowance_limit")).toBe(false)
        expect(families.size).toBeGreaterThan(10)
        for (const { metrics, name } of families.values()) {
          expect(name).toMatch(/^(berth|process)_/)
          for (const { labels = {} } of metrics) {
            for (const label of Object.keys(labels)) expect(label).not.toMatch(/^(id|node|node_id|name|ip)$/)
          }
        }
      }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )
})
