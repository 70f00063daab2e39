// Code from `docs/using-with-promises.md`. With the variables of a service, it prints the number of nodes on a page.
import { createClientFromEnv } from "@berthkit/core/promise"
import { Agent, fetch } from "undici"

const kept = new Agent()
const once = new Agent({ pipelining: 0 })
const client = createClientFromEnv({
  fetch: (input, init) => fetch(input, { ...init, dispatcher: init?.method === "POST" ? once : kept })
})

const { node } = await client.nodes.create({ name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" })
process.stdout.write(`${(await client.nodes.get(node.id)).name}\n`)
await Promise.all([kept.close(), once.close()])
