/** Measures how long the client blocks its program while it reads a reply that was made to block it. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { type Row, subjectAtMost } from "../Row.ts"

const ticker = fileURLToPath(new URL("../clients/ticker.ts", import.meta.url))
const maxStandstillMillis = 100
const bodyLength = 16 * 2 ** 20

const filled = (text: string) => text.repeat(Math.ceil(bodyLength / text.length))
const names = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join(",")

/** Bodies far beyond every bound, then bodies just within the bounds. */
const bodies = [
  filled("["),
  filled("\\"),
  filled('"'),
  `[${filled("{},")}{}]`,
  `{${names(1_000_000)}}`,
  filled('<a href="/nodes/">'),
  `{"code":422,"errors":{${names(49_000)}}}`,
  `{"code":422,"errors":{"name":["${"\\\\".repeat(1_000_000)}"]}}`,
  `{"code":422,"errors":[${Array.from({ length: 28_000 }, (_, at) => `{"k${at}":1}`).join(",")}]}`
].map((body) => Buffer.from(body))

/** The worst over all bodies, each as a success and as a failure, with and without a `content-length`. */
export const tickRow = async (): Promise<Row> => {
  const server = createServer((request, response) => {
    const page = Number(new URL(request.url!, "http://service").searchParams.get("page"))
    const body = bodies[page >> 2]!
    response.writeHead(page & 1 ? 500 : 200, page & 2 ? { "content-length": body.length } : {})
    response.write("")
    response.end(body)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  return {
    name: `longest standstill, ${bodies.length * 4} hostile replies`,
    subject: "promise client",
    baseline: "limit",
    unit: "ms",
    targets: [subjectAtMost(maxStandstillMillis)],
    pairs: 3,
    measure: async () => {
      const child = spawn(process.execPath, [ticker, baseUrl, String(bodies.length * 4)], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const printed = await text(child.stdout)
      if (printed === "") throw new Error("the client ended without a result")
      return { subject: Number(printed), baseline: maxStandstillMillis }
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
