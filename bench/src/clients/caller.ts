/**
 * A program that only makes list calls with one client: `caller.ts CLIENT URL`. For each number on stdin it makes
 * that many calls, eight at a time, and prints the CPU time per call in microseconds.
 */
import { Layer, ManagedRuntime, Redacted } from "effect"
import { Nodes } from "@berthkit/core/client/Nodes"
import { createInterface } from "node:readline"
import { exit } from "node:process"

const [, , kind, baseUrl] = process.argv
const records = 20

/** One call; returns the number of records. */
type Call = () => Promise<number>

const account = () => ({
  baseUrl: baseUrl!,
  credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
})

/** The Effect client over one of its transports. */
const berth = async (client: Layer.Layer<Nodes, unknown>): Promise<Call> => {
  const runtime = ManagedRuntime.make(client)
  const page = Nodes.use((nodes) => nodes.listPage({ perPage: records }))
  return async () => (await runtime.runPromise(page)).length
}

const clients: Record<string, () => Promise<Call>> = {
  fetch: async () => {
    const url = `${baseUrl}/myaccount/api/v1/nodes/?page_no=1&per_page=20&apikey=key`
    const headers = { authorization: "Bearer token", accept: "application/json" }
    return async () => {
      const response = await fetch(url, { headers })
      return JSON.parse(await response.text()).data.length
    }
  },
  "berth over fetch": async () => {
    const Berth = await import("@berthkit/core/client/Berth")
    const FetchTransport = await import("@berthkit/core/client/transport/FetchTransport")
    return berth(Berth.layerOver(account(), FetchTransport.layer))
  },
  "berth over node:http": async () => {
    const Berth = await import("@berthkit/core/client/Berth")
    const NodeTransport = await import("@berthkit/core/client/transport/NodeTransport")
    return berth(Berth.layerOver(account(), NodeTransport.layer))
  },
  "berth over HttpClient": async () => {
    const Berth = await import("@berthkit/core/client/Berth")
    const { layerUndici } = await import("@effect/platform-node/NodeHttpClient")
    return berth(Layer.provide(Berth.layer(account()), layerUndici))
  },
  promises: async () => {
    const { createClient } = await import("@berthkit/core")
    const client = createClient({ baseUrl: baseUrl!, apiKey: "key", accessToken: "token" })
    return async () => (await client.nodes.listPage({ perPage: records })).length
  }
}

const call = await clients[kind!]!()
for await (const line of createInterface(process.stdin)) {
  let left = Number(line)
  const before = process.cpuUsage()
  const makeCalls = async () => {
    while (left-- > 0) {
      const count = await call()
      if (count !== records) throw new Error(`${kind} got ${count} records`)
    }
  }
  await Promise.all(Array.from({ length: 8 }, makeCalls))
  const { system, user } = process.cpuUsage(before)
  console.log((system + user) / Number(line))
}
exit()
