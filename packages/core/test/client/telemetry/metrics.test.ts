import { layer, ok, type Reply } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric, Stream } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { Images } from "../../../src/client/Images.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { NodeId } from "../../../src/domain/Node.ts"
import { inTime } from "../../inTime.ts"

const record = (id: number, more: Record<string, unknown> = {}) => ({
  id,
  name: `node-${id}`,
  created_at: "2026-03-01T10:20:30Z",
  status: "running",
  ...more
})

const allowance = { "ratelimit-limit": "1200", "ratelimit-remaining": "1187", "ratelimit-reset": "1790000000" }

/** The metrics after `effect` has run over a service with these replies. */
const metricsAfter = <E>(replies: ReadonlyArray<Reply>, effect: Effect.Effect<unknown, E, Nodes | Images>) =>
  inTime(Effect.exit(effect)).pipe(
    Effect.andThen(PrometheusMetrics.format()),
    Effect.map((text) => text.split("\n").filter((line) => line.startsWith("berth_"))),
    Effect.provide(layer(replies)),
    Effect.provideService(Metric.MetricRegistry, new Map())
  )

const get = Nodes.use((nodes) => nodes.get(NodeId.make(7)))

describe("the metrics of a client", () => {
  it.effect("count requests by operation and outcome, and retries by reason", () =>
    Effect.gen(function* () {
      const lines = yield* metricsAfter([{ status: 503 }, ok(record(7), allowance)], get)
      assert.includeMembers(lines, [
        'berth_requests_total{operation="nodes.get",outcome="ServiceUnavailable"} 1',
        'berth_requests_total{operation="nodes.get",outcome="ok"} 1',
        'berth_retries_total{operation="nodes.get",reason="ServiceUnavailable"} 1',
        'berth_request_duration_seconds_count{operation="nodes.get"} 2',
        'berth_queue_wait_seconds_count{lane="interactive"} 2',
        "berth_allowance_limit 1200",
        "berth_allowance_remaining 1187"
      ])
    })
  )

  it.effect("count the fields and statuses that Berth does not know", () =>
    Effect.gen(function* () {
      const nodes = [
        record(1, { status: "Reinstalling", gpu: 1 }),
        record(2, { gpu: 2, vcpus: "many" }),
        record(3, { public_ip_address: { ip_address: "203.0.113.7", netmask: "255.255.255.0" } })
      ]
      const lines = yield* metricsAfter(
        [ok(nodes), ok([{ name: "u", image: "u", plan: "P", hue: "red" }])],
        Effect.andThen(
          Nodes.use((nodes) => nodes.listPage()),
          Images.use((images) => images.list())
        )
      )
      assert.sameMembers(
        lines.filter((line) => line.startsWith("berth_drift")),
        [
          'berth_drift_total{kind="status",name="Reinstalling"} 1',
          'berth_drift_total{kind="field",name="gpu"} 2',
          'berth_drift_total{kind="field",name="vcpus"} 1',
          'berth_drift_total{kind="field",name="hue"} 1'
        ]
      )
    })
  )

  it.effect("count the drift of a node in a list once, even when pages repeat the node", () =>
    Effect.gen(function* () {
      const ids = Array.from({ length: 300 }, (_, i) => i + 1)
      const client = layer(({ query }) => {
        const page = Number(query["page_no"])
        const size = Number(query["per_page"])
        return ok(ids.slice((page - 1) * size, page * size).map((id) => record(id, { gpu: id })))
      })
      yield* Nodes.use((nodes) => Stream.runDrain(nodes.list())).pipe(Effect.provide(client))
      assert.include(yield* PrometheusMetrics.format(), 'berth_drift_total{kind="field",name="gpu"} 300')
    }).pipe(Effect.provideService(Metric.MetricRegistry, new Map()))
  )

  it.effect("do not count a request that was refused before it was sent", () =>
    Effect.gen(function* () {
      const lines = yield* metricsAfter(
        [],
        Nodes.use((nodes) => nodes.listPage({ perPage: 1000 }))
      )
      assert.deepStrictEqual(lines, [])
    })
  )

  it.effect("keep a bounded number of names, for any names of the service", () =>
    Effect.gen(function* () {
      const garbage = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`field-${i}-${"x".repeat(100)}`, i]))
      const lines = yield* metricsAfter([ok(record(7, garbage))], get)
      const drift = lines.filter((line) => line.startsWith("berth_drift"))
      assert.strictEqual(drift.length, 65)
      assert.include(drift, 'berth_drift_total{kind="field",name="other"} 936')
    })
  )
})
