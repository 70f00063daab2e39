import { createClient } from "@berth/core/promise"
import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer, request } from "node:http"
import { fetch, ProxyAgent } from "undici"
import { mockService } from "./Service.ts"

/** A proxy on a free port, which reports the host of each request. Addresses without TLS are asked for whole. */
const proxy = async (onRequest: (host: string) => void) => {
  const server = createServer((incoming, outgoing) => {
    const { host } = new URL(incoming.url!)
    onRequest(host)
    const { headers, method, url } = incoming
    incoming.pipe(
      request(url!, { method, headers }, (reply) => {
        outgoing.writeHead(reply.statusCode!, reply.headers)
        reply.pipe(outgoing)
      })
    )
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
    }
  }
}

describe("the recipe for a proxy", () => {
  it("sends every request of a client through it, with undici's own `fetch`", async () => {
    const hosts: Array<string> = []
    await using through = await proxy((host) => hosts.push(host))
    await using service = await mockService({ scenario: { fleet: 3 } })
    const dispatcher = new ProxyAgent(through.url)
    const client = createClient({
      ...service.options,
      fetch: ((input: string, init: object) => fetch(input, { ...init, dispatcher })) as typeof globalThis.fetch
    })
    assert.lengthOf(await client.nodes.list().toArray(), 3)
    await client.close()
    await dispatcher.destroy()
    assert.deepStrictEqual(Array.from(new Set(hosts)), [new URL(service.baseUrl).host])
  })
})
