import { createClientFromEnv } from "@berthkit/core/promise"

await using client = createClientFromEnv({ stateDirectory: "auto" })
const order = { name: "api", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }

// Run this twice, or kill it half-way: because of the key you still get one node.
const { node, outcome } = await client.nodes.create(order, { key: "api-1" })
await client.nodes.awaitStatus(node.id, "running")
console.log(outcome, node.name)
for await (const { memoryMib, name, status } of client.nodes.list()) console.log(name, status, memoryMib)
