// A route of Next in its edge runtime, which has neither files nor a message channel: a create with a key that is kept in memory.
import { createClient } from "@berthkit/core"

export const config = { runtime: "edge" }

const spec = { name: "edge", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }
const clientWith = (stateDirectory) =>
  createClient({
    baseUrl: process.env.BERTH_BASE_URL,
    apiKey: process.env.BERTH_API_KEY,
    accessToken: process.env.BERTH_ACCESS_TOKEN,
    stateDirectory
  })
let client

export default async () => {
  client ??= clientWith("memory")
  const { node, outcome } = await client.nodes.create(spec, { key: "edge" })
  const inFiles = await clientWith("state")
    .nodes.create(spec, { key: "edge" })
    .catch((error) => error.message)
  return Response.json({ id: node.id, outcome, inFiles })
}
