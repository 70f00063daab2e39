// A program without Effect that uses the client against the mock service in its own process.
import { createClient, isBerthError, type Node, NodeNotFound } from "@berthkit/core"
import * as alias from "@berthkit/core/promise"
import { startServer } from "@berthkit/server/testing/promise"

const server = await startServer()
const { apiKey, accessToken, baseUrl } = await server.makeWorld()
const client = createClient({ baseUrl, apiKey, accessToken, stateDirectory: "./state" })

const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }
const { node } = await client.nodes.create(spec, { key: "web" })
const again = await client.nodes.create(spec, { key: "web" })
const nodes: ReadonlyArray<Node> = await client.nodes.list().toArray()
const listed = nodes.some(({ createdAt, id }) => id === node.id && createdAt?.getTime() === node.createdAt?.getTime())

const refused = await client.nodes.get(1).then(
  () => "nothing",
  (error: unknown) =>
    isBerthError(error) && error._tag === "NodeNotFound"
      ? { nodeId: error.nodeId, isSameClass: error instanceof NodeNotFound && error instanceof alias.NodeNotFound }
      : error
)

console.log(JSON.stringify({ listed, refused, isKept: again.node.id === node.id }))
await client.close()
await server.close()
