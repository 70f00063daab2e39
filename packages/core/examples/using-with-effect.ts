import { Allowance } from "@berth/core/client/Allowance"
import * as Berth from "@berth/core/client/Berth"
import { Nodes } from "@berth/core/client/Nodes"
import { Plans } from "@berth/core/client/Plans"
import { RawApi } from "@berth/core/client/RawApi"
import { NodeId } from "@berth/core/domain/Node"
import * as Scripted from "@berth/core/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { Console, Effect, Layer, Stream } from "effect"
import { PrometheusMetrics } from "effect/observability"

const BerthLive = Berth.layerConfig.pipe(Layer.provide(NodeHttpClient.layerUndici))

const inventory = Effect.gen(function* () {
  const nodes = yield* Nodes
  const count = yield* nodes.list().pipe(Stream.runCount)
  yield* Console.log(`${count} nodes`)

  const plans = yield* Plans.use((plans) => plans.list({ series: "C" }))
  const cheapest = plans.toSorted((a, b) => (a.pricePerHourInr ?? Infinity) - (b.pricePerHourInr ?? Infinity))[0]!
  yield* Console.log(`the smallest plan of series C has ${cheapest.vcpus} vCPUs and ${cheapest.memoryMib} MiB`)
  return cheapest
})

const launch = Effect.gen(function* () {
  const nodes = yield* Nodes
  const plan = yield* inventory
  const { node, outcome } = yield* nodes.create({ name: "web", plan: plan.plan, image: plan.images[0]! })
  yield* Console.log(outcome, node.status)
  const running = yield* nodes.awaitStatus(node.id, "running", { timeout: "5 minutes" })
  yield* Console.log(running.name, running.status)
  return node.id
})

const find = (id: NodeId) =>
  Nodes.use((nodes) => nodes.get(id)).pipe(
    Effect.asSome,
    Effect.catchReason("BerthError", "NodeNotFound", ({ nodeId }) =>
      Effect.as(Console.log(`no node ${nodeId}`), undefined)
    )
  )

const patrol = Effect.fnUntraced(function* (id: NodeId) {
  const nodes = yield* Nodes
  const node = yield* nodes.get(id, { deadline: "2 seconds", lane: "sweep" })
  yield* Console.log(node.id === id)
  const seen = yield* Effect.timeoutOption(nodes.awaitStatus(id, "power-off"), "50 millis")
  yield* Console.log(seen._tag)
})

const report = Effect.gen(function* () {
  const { level } = yield* Allowance
  const { limit, remaining } = yield* level
  yield* Console.log(limit, remaining !== null && limit !== null && remaining < limit)

  const metrics = yield* PrometheusMetrics.format()
  yield* Console.log(metrics.split("\n").find((line) => line.startsWith("berth_allowance_limit")))
})

const raw = Effect.gen(function* () {
  const api = yield* RawApi
  const reply = yield* api.request({ method: "GET", path: "/nodes/", query: [["per_page", "1"]] })
  yield* Console.log(reply.status, reply.headers["ratelimit-limit"])
})

const countNodes = Nodes.use((nodes) => Stream.runCount(nodes.list()))

const script = [Scripted.ok([Scripted.nodeRecord({ id: 1 }), Scripted.nodeRecord({ id: 2 })]), Scripted.ok([])]
const tested = Effect.flatMap(Effect.provide(countNodes, Scripted.layer(script)), Console.log)

const program = Effect.gen(function* () {
  const id = yield* launch
  yield* patrol(id)
  yield* report
  yield* raw
  yield* tested
  yield* Nodes.use((nodes) => nodes.delete(id))
  yield* Nodes.use((nodes) => nodes.awaitDeleted(id))
  yield* find(id)
})

await Effect.runPromise(Effect.provide(program, BerthLive))
