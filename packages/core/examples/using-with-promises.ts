import { createClientFromEnv, isBerthError, isKnownStatus, NodeNotFound, type NodeSpec } from "@berthkit/core/promise"
import { createTestClient, nodeRecord, ok } from "@berthkit/core/testing"

const attempts: Array<string> = []
const client = createClientFromEnv({
  deadline: "30 seconds",
  stateDirectory: "auto",
  onAttempt: ({ method, operation, status, url }) => {
    attempts.push(`${operation}: ${method} ${url.replace(/.*\?/, "?")} ${status}`)
  }
})

const names: Array<string> = []
for await (const node of client.nodes.list()) names.push(node.name)
console.log(`${names.length} nodes`)

const all = await client.nodes.list().toArray()
const firstTen = await client.nodes.list().toArray({ limit: 10 })
const secondTen = await client.nodes.listPage({ page: 2, perPage: 10 })
console.log(all.length, firstTen.length, secondTen[0]?.name === all[10]?.name)

for await (const page of client.nodes.list().pages()) {
  console.log(`a page with ${page.length} nodes`)
  break
}

const quick = client.nodes.list({ exact: false, onEnd: ({ complete }) => console.log(complete) })
console.log((await quick.toArray()).length)

const plans = await client.plans.list({ series: "C" })
const cheapest = plans.toSorted((a, b) => (a.pricePerHourInr ?? Infinity) - (b.pricePerHourInr ?? Infinity))[0]!
console.log(`the smallest plan of series C has ${cheapest.vcpus} vCPUs and ${cheapest.memoryMib} MiB`)

const { image, slug } = cheapest.slugs[0]!
const spec: NodeSpec = { name: "web", plan: slug, image }
const { node, outcome } = await client.nodes.create(spec, { key: "order-7" })
console.log(outcome, node.status, isKnownStatus(node.status))

const again = await client.nodes.create(spec, { key: "order-7" })
console.log(again.outcome, again.node.id === node.id)

const running = await client.nodes.awaitStatus(node.id, "running", { timeout: "5 minutes" })
const [found, ...others] = await client.nodes.find("web")
console.log(running.status, found?.id === node.id, others.length)

const describe = (error: unknown) => {
  if (!isBerthError(error)) throw error
  switch (error._tag) {
    case "NodeNotFound":
      return `no node ${error.nodeId}: the service returned ${error.status}, after ${error.attempts.length} attempt`
    case "OutcomeUnknown":
      return `one of ${error.candidates.join(", ")}`
    case "ClientClosed":
      return `${error.operation}: ${error.message} ${error.hint}`
    default:
      throw error
  }
}

try {
  await client.nodes.get(1)
} catch (error) {
  console.log(describe(error), error instanceof NodeNotFound)
}

const controller = new AbortController()
const wait = client.nodes.awaitStatus(node.id, "power-off", { signal: controller.signal })
controller.abort()
await wait.catch((error) => isBerthError(error) && console.log(error.name, error._tag))

const details = await client.nodes.get(node.id, { deadline: 2000, lane: "sweep" })
console.log(details.id === node.id)

console.log(attempts.at(-1))

const { limit, remaining } = await client.allowance.current()
console.log(limit, remaining !== null && limit !== null && remaining < limit)

const reply = await client.raw.request({ method: "GET", path: "/nodes/", query: { per_page: "1" } })
console.log(reply.status, reply.headers["ratelimit-limit"])

const countNodes = async (nodes: typeof client.nodes) => (await nodes.list().toArray()).length

const testClient = createTestClient([ok([nodeRecord({ id: 1 }), nodeRecord({ id: 2, name: "db" })]), ok([])])
console.log(await countNodes(testClient.nodes))

await client.nodes.delete(node.id)
await client.nodes.awaitDeleted(node.id)
await client.close()
await client.nodes.get(1).catch((error) => console.log(describe(error)))
