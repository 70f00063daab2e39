import { type BerthError, createClient, NodeNotFound, type NodeSpec, OutcomeUnknown } from "@berth/core/promise"
import { createTestClient, nodeRecord, ok } from "@berth/core/testing"

const client = createClient({
  baseUrl: process.env["BERTH_BASE_URL"] ?? "http://127.0.0.1:8080",
  apiKey: process.env["BERTH_API_KEY"] ?? "berth-key",
  accessToken: process.env["BERTH_ACCESS_TOKEN"] ?? "berth-token",
  deadline: "30 seconds"
})

const names: Array<string> = []
for await (const node of client.nodes.list()) names.push(node.name)
console.log(`${names.length} nodes`)

const plans = await client.plans.list({ series: "C" })
const cheapest = plans.toSorted((a, b) => (a.pricePerHourInr ?? Infinity) - (b.pricePerHourInr ?? Infinity))[0]!
console.log(`the smallest plan of series C has ${cheapest.vcpus} vCPUs and ${cheapest.memoryMib} MiB`)

const spec: NodeSpec = { name: "web", plan: cheapest.plan, image: cheapest.images[0]! }
const { node, outcome } = await client.nodes.create(spec)
console.log(outcome, node.status)

const running = await client.nodes.awaitStatus(node.id, "running", { timeout: "5 minutes" })
console.log(running.name, running.status)

const describe = (error: BerthError) => `${error.operation}: ${error.message} ${error.hint}`

try {
  await client.nodes.get(1)
} catch (error) {
  if (error instanceof NodeNotFound) console.log(`no node ${error.nodeId}, after ${error.attempts.length} attempt`)
  else if (error instanceof OutcomeUnknown) console.log(`look at ${error.candidates.join(", ")}`)
  else throw error
}

const controller = new AbortController()
const wait = client.nodes.awaitStatus(node.id, "power-off", { signal: controller.signal })
controller.abort()
await wait.catch((error: BerthError) => console.log(error.name, error._tag))

const details = await client.nodes.get(node.id, { deadline: 2000, lane: "sweep" })
console.log(details.id === node.id)

const { limit, remaining } = await client.allowance.level()
console.log(limit, remaining !== null && limit !== null && remaining < limit)

const reply = await client.raw.request({ method: "GET", path: "/nodes/", query: { per_page: "1" } })
console.log(reply.status, reply.headers["ratelimit-limit"])

const countNodes = async (nodes: typeof client.nodes) => (await Array.fromAsync(nodes.list())).length

const scripted = createTestClient([ok([nodeRecord({ id: 1 }), nodeRecord({ id: 2, name: "db" })]), ok([])])
console.log(await countNodes(scripted.nodes))

await client.nodes.delete(node.id)
await client.nodes.awaitDeleted(node.id)
await client.close()
await client.nodes.get(1).catch((error: BerthError) => console.log(describe(error)))
