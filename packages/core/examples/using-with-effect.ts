import { accountLayer } from "@berthkit/core/client/AccountFiles"
import { Allowance } from "@berthkit/core/client/Allowance"
import * as Berth from "@berthkit/core/client/Berth"
import { Nodes } from "@berthkit/core/client/Nodes"
import { Plans } from "@berthkit/core/client/Plans"
import { RawApi } from "@berthkit/core/client/RawApi"
import { NodeId } from "@berthkit/core/domain/Node"
import * as Scripted from "@berthkit/core/testing"
import { NodeHttpClient } from "@effect/platform-node"
import { Config, Console, Effect, Layer, Stream } from "effect"
import { PrometheusMetrics } from "effect/observability"

const account = Effect.gen(function* () {
  return {
    baseUrl: yield* Config.String("BERTH_BASE_URL"),
    credentials: {
      apiKey: yield* Config.Redacted("BERTH_API_KEY"),
      accessToken: yield* Config.Redacted("BERTH_ACCESS_TOKEN")
    }
  }
})

const BerthLive = Layer.unwrap(
  Effect.map(account, (options) =>
    Berth.layer({ ...options, deadline: "30 seconds", maxAttempts: 5, userAgent: "inventory/1.0" }).pipe(
      Layer.provide(accountLayer(options)),
      Layer.provide(NodeHttpClient.layerUndici)
    )
  )
)

const inventory = Effect.gen(function* () {
  const nodes = yield* Nodes
  const count = yield* nodes.list().pipe(Stream.runCount)
  yield* Console.log(`${count} nodes`)
  const quick = nodes.list({ exact: false, onEnd: ({ complete }) => Console.log(complete) })
  const names = yield* quick.pipe(
    Stream.map(({ name }) => name),
    Stream.runCollect
  )
  yield* Console.log(names.length)

  const plans = yield* Plans.use((plans) => plans.list({ series: "C" }))
  const cheapest = plans.toSorted((a, b) => (a.pricePerHourInr ?? Infinity) - (b.pricePerHourInr ?? Infinity))[0]!
  yield* Console.log(`the smallest plan of series C has ${cheapest.vcpus} vCPUs and ${cheapest.memoryMib} MiB`)
  return cheapest
})

const launch = Effect.gen(function* () {
  const nodes = yield* Nodes
  const { slugs } = yield* inventory
  const { image, slug } = slugs[0]!
  const spec = { name: "web", plan: slug, image }
  const { node, outcome } = yield* nodes.create(spec, { key: "order-7" })
  yield* Console.log(outcome, node.status)
  const again = yield* nodes.create(spec, { key: "order-7" })
  yield* Console.log(again.outcome, again.node.id === node.id)
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
  const { current } = yield* Allowance
  const { limit, remaining } = yield* current
  yield* Console.log(limit, remaining !== null && limit !== null && remaining < limit)

  const metrics = yield* PrometheusMetrics.format()
  yield* Console.log(metrics.split("\n").find((line) => line.startsWith("berth_allowance_limit")))
})

const raw = Effect.gen(function* () {
  const api = yield* RawApi
  const refused = yield* Effect.flip(api.request({ method: "GET", path: "/nothing/" }))
  yield* Console.log(refused.reason._tag, refused.reply?.status)
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
