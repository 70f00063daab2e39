// A route of Next on Node: a create with a key and a state directory.
import { createClientFromEnv } from "@berthkit/core"

const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }

export default async (request, response) => {
  const { nodes } = createClientFromEnv({ stateDirectory: process.env.STATE })
  const { node, outcome } = await nodes.create(spec, { key: "web" })
  response.json({ id: node.id, outcome })
}
