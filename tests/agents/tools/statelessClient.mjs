// The official client for the protocol revision without sessions. It does the same as `sdkClient.mjs`, but here a reply asks the person,
// because the server cannot.
import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"

const [command, ...args] = process.argv.slice(2)
const client = new Client(
  { name: "stateless", version: "1" },
  { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: "2026-07-28" } } }
)
const questions = []
client.setRequestHandler("elicitation/create", ({ params }) => {
  questions.push(params.message)
  return { action: "accept", content: {} }
})
await client.connect(new StdioClientTransport({ command, args, env: process.env }))
const { tools } = await client.listTools()
const order = { action: "create", name: "stateless", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }
const nodes = await client.callTool({ name: "list_nodes", arguments: {} })
const proposed = await client.callTool({ name: "propose", arguments: order })
const done = await client.callTool({ name: "execute", arguments: { proposal: proposed.structuredContent.id } })
const refused = await client.callTool({ name: "get_node", arguments: { node: -1 } })
process.stdout.write(
  JSON.stringify({
    server: client.getServerVersion(),
    tools: tools.map(({ name }) => name),
    nodes: nodes.structuredContent.nodes.length,
    outcome: done.structuredContent.outcome,
    refused: refused.isError,
    questions
  })
)
await client.close()
