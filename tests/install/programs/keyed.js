// A create with a key. A second run of this program with the same state directory gets the node of the first run.
import { createClientFromEnv } from "@berthkit/core"

const client = createClientFromEnv({ stateDirectory: process.env.STATE })
const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }
client.nodes.create(spec, { key: "web" }).then(
  ({ node, outcome }) => console.log(JSON.stringify({ id: node.id, outcome })),
  (error) => console.log(JSON.stringify({ failure: error.message }))
)
