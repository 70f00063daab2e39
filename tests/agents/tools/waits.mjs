// The client of the official SDK, with a timeout that is shorter than the wait. It prints how many progress messages it got, and the result
// of the wait.
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"

const [seconds, patience, command, ...args] = process.argv.slice(2)
const client = new Client({ name: "sdk", version: "1" }, { capabilities: {} })
await client.connect(new StdioClientTransport({ command, args, env: process.env }))
let heard = 0
const wait = { name: "wait", arguments: { node: "fleet-1", for: "deleted", seconds: Number(seconds) } }
const result = await client.callTool(wait, undefined, {
  timeout: Number(patience) * 1000,
  resetTimeoutOnProgress: true,
  onprogress: () => void heard++
})
process.stdout.write(JSON.stringify({ heard, text: result.content[0].text }))
await client.close()
