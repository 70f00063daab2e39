/** The cheapest server on `node:http`: answers every request with the bytes that it got on stdin. */
import { createServer } from "node:http"
import { text } from "node:stream/consumers"

const reply: { readonly headers: ReadonlyArray<string>; readonly body: string } = JSON.parse(await text(process.stdin))
const body = Buffer.from(reply.body, "base64")

const server = createServer((_, response) => {
  response.writeHead(200, [...reply.headers])
  response.end(body)
})
server.listen(0, "127.0.0.1", () => {
  const address = server.address()
  if (address !== null && typeof address === "object") {
    console.log(JSON.stringify({ url: `http://127.0.0.1:${address.port}` }))
  }
})
process.once("SIGTERM", () => process.exit(0))
