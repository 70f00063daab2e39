import { createClientFromEnv } from "@berthkit/core/promise"

await using client = createClientFromEnv({ stateDirectory: "auto" })
const { node } = await client.nodes.create(
  { name: "api", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" },
  { key: "api-1" }
)
await client.nodes.awaitStatus(node.id, "running")
