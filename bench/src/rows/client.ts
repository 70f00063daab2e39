/**
 * Measures the CPU time of a client's whole call, from the call to the decoded value, against other clients with a comparable call. Each
 * client runs in a separate process, against the bare server.
 */
import { fileURLToPath } from "node:url"
import { startCaller } from "../Caller.ts"
import { startServer } from "../processes.ts"
import { listedNode } from "../listedNode.ts"
import { ratioAtMost, type Row } from "../Row.ts"

const calls = 500

/** Calls before the measurement, on either side: Node recompiles new code several times. */
const warmingCalls = 12_000
const bareServer = fileURLToPath(new URL("../bareServer.ts", import.meta.url))

const record = (i: number) =>
  listedNode(1000 + i, {
    public_ip_address: `164.52.${i >> 8}.${i & 255}`,
    private_ip_address: `10.1.${i >> 8}.${i & 255}`,
    backup: i % 2 === 0
  })
const data = Array.from({ length: 20 }, (_, i) => record(i))

/** Starts a server that answers every request with this body and the mock service's headers. */
const serve = (body: object) => {
  const text = JSON.stringify(body)
  return startServer([bareServer], {
    input: JSON.stringify({
      headers: [
        ["content-type", "application/json"],
        ["content-length", String(Buffer.byteLength(text))],
        ["ratelimit-limit", "100000000"],
        ["ratelimit-remaining", "99999999"],
        ["ratelimit-reset", "3600"]
      ].flat(),
      body: Buffer.from(text).toString("base64")
    })
  })
}

const body = { message: "Success", code: 200, data, errors: {} }

/** Measures a client of `clients/caller.ts` against bare `fetch`. */
const clientRow = async (client: string, what: string, target: number): Promise<Row> => {
  const start = async (client: string) => {
    const server = await serve(body)
    const caller = startCaller(client, server.url)
    await caller.cpuPerCall(warmingCalls)
    return { caller, server }
  }
  const left = await start(client)
  const right = await start("fetch")
  return {
    name: "client CPU, list of 20",
    subject: what,
    baseline: "fetch and JSON.parse",
    unit: "µs",
    targets: [ratioAtMost(target)],
    pairs: 21,
    measure: async () => ({
      subject: await left.caller.cpuPerCall(calls),
      baseline: await right.caller.cpuPerCall(calls)
    }),
    close: async () => {
      for (const { caller, server } of [left, right]) {
        await caller.stop()
        await server.stop()
      }
    }
  }
}

const callOver = (transport: "fetch" | "HttpClient" | "node:http") =>
  clientRow(`berth over ${transport}`, `berth over ${transport}`, 1.55)

/** A list of 20 nodes over the transport that the guide recommends on Node. */
export const callRow = () => callOver("node:http")

/** The same over the transport of the promise client. */
export const callOverFetchRow = () => callOver("fetch")

/** The same over Effect's `HttpClient`, which also sends through undici. */
export const callOverHttpClientRow = () => callOver("HttpClient")

/** The same with the client that most programs use: promises, plain values and an `AbortSignal` over `fetch`. */
export const promisesRow = () => clientRow("promises", "promise client", 1.65)
