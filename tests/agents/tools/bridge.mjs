// The conformance suite speaks only HTTP. This program passes each message unchanged between the suite and a server on stdio, with one
// process for each session.
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"

const [command, ...args] = process.argv.slice(2)
const sessions = new Map()

const open = async () => {
  const outside = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, outside)
  })
  const inside = new StdioClientTransport({ command, args, env: process.env })
  outside.onmessage = (message) => void inside.send(message)
  inside.onmessage = (message) => void outside.send(message).catch(() => {})
  outside.onclose = () => void inside.close()
  await inside.start()
  await outside.start()
  return outside
}

const server = createServer(async (request, response) => {
  const outside = sessions.get(request.headers["mcp-session-id"]) ?? (await open())
  await outside.handleRequest(request, response)
})
server.listen(0, "127.0.0.1", () => process.stdout.write(`http://127.0.0.1:${server.address().port}/mcp\n`))
process.stdin.resume().on("end", async () => {
  for (const outside of sessions.values()) await outside.close()
  process.exit()
})
