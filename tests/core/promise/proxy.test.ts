import { createClient } from "@berthkit/core/promise"
import { HttpService } from "@berthkit/testing/HttpService"
import { assert, describe, it } from "@effect/vitest"
import { request } from "node:http"
import { fetch, ProxyAgent } from "undici"
import { mockService } from "./Service.ts"

/** A proxy on a free port that reports the host of each request. For plain HTTP, a client sends the proxy the whole address. */
const proxy = (onRequest: (host: string) => void) =>
  HttpService.listen((incoming, outgoing) => {
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
