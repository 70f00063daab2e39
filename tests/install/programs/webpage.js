// Uses the client like a page. It runs without a `process`.
import { createClient } from "@berthkit/core"

const { BERTH_BASE_URL, BERTH_API_KEY, BERTH_ACCESS_TOKEN } = globalThis.process.env
const account = { baseUrl: BERTH_BASE_URL, apiKey: BERTH_API_KEY, accessToken: BERTH_ACCESS_TOKEN }
const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }
const node = globalThis.process

const run = async () => {
  const inFiles = createClient({ ...account, stateDirectory: "state" })
  const kept = () => inFiles.nodes.create(spec, { key: "web" }).catch((error) => error.message)
  const onNode = await kept()
  globalThis.process = undefined
  const client = createClient({ ...account, stateDirectory: "memory" })
  const first = await client.nodes.create(spec, { key: "web" })
  const second = await client.nodes.create(spec, { key: "web" })
  globalThis.process = node
  return { onNode, isSame: first.node.id === second.node.id }
}
run().then((result) => console.log(JSON.stringify(result)))
