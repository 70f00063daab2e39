// The client of the official SDK, for the protocol revisions with sessions: reads, proposes a change, consents in its dialog, and prints
// the results.
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"

const [command, ...args] = process.argv.slice(2)
const client = new Client({ name: "sdk", version: "1" }, { capabilities: { elicitation: {} } })
const questions = []
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  questions.push(params.message)
  return { action: "accept", content: {} }
})
await client.connect(new StdioClientTransport({ command, args, env: process.env }))
const { tools } = await client.listTools()
const order = { action: "create", name: "sdk", plan: "C-2VCPU-8RAM-50DISK", image: "Ubuntu-22.04" }
// The client checks each result against the schema of the tool.
const nodes = await client.callTool({ name: "list_nodes", arguments: {} })
const proposed = await client.callTool({ name: "propose", arguments: order })
const done = await client.callTool({ name: "execute", arguments: { proposal: proposed.structuredContent.id } })
const refused = await client.callTool({ name: "get_node", arguments: { node: -1 } })
const { resources } = await client.listResources()
process.stdout.write(
  JSON.stringify({
    server: client.getServerVersion(),
    tools: tools.map(({ name }) => name),
    nodes: nodes.structuredContent.nodes.length,
    outcome: done.structuredContent.outcome,
    refused: refused.isError,
    resources: resources.map(({ uri }) => uri),
    questions
  })
)
await client.close()
