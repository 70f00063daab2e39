/**
 * Measures the CPU time of a client's whole call, from the call to the decoded value, against other clients with a comparable call. Each
 * client runs in a separate process, against the bare server.
 */
import { fileURLToPath } from "node:url"
import { startCaller } from "../Caller.ts"
import { startServer } from "../processes.ts"
import { listedNode } from "../listedNode.ts"
import { ratioAtMost, type Row } from "../Row.ts"
import { type Tool, tool } from "../tools.ts"

const calls = 1500

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

const ours = { message: "Success", code: 200, data, errors: {} }
const theirs = { object: "list", url: "/v1/records", has_more: false, data }

interface Side {
  readonly what: string
  readonly client: string
  readonly body: object
  readonly module?: string
}

const clientRow = async (name: string, subject: Side, baseline: Side, target: number): Promise<Row> => {
  const start = async ({ body, client, module }: Side) => {
    const server = await serve(body)
    const caller = startCaller(client, server.url, ...(module === undefined ? [] : [module]))
    await caller.cpuPerCall(warmingCalls)
    return { caller, server }
  }
  const left = await start(subject)
  const right = await start(baseline)
  return {
    name,
    subject: subject.what,
    baseline: baseline.what,
    unit: "µs",
    targets: [ratioAtMost(target)],
    pairs: 9,
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
  clientRow(
    "client CPU, list of 20",
    { what: `berth over ${transport}`, client: `berth over ${transport}`, body: ours },
    { what: "fetch and JSON.parse", client: "fetch", body: ours },
    1.6
  )

/** A list of 20 nodes over the transport that the guide recommends on Node. */
export const callRow = () => callOver("node:http")

/** The same over the transport of the promise client. */
export const callOverFetchRow = () => callOver("fetch")

/** The same over Effect's `HttpClient`, which also sends through undici. */
export const callOverHttpClientRow = () => callOver("HttpClient")

/** A list of 20 against another library's, each over its default transport on Node. */
const versus = (name: Tool, method: string) =>
  clientRow(
    "client CPU, list of 20",
    { what: "berth over node:http", client: "berth over node:http", body: ours },
    { what: method, client: name, body: theirs, module: tool(name) },
    1
  )

/** The same against stripe-node. */
export const stripeRow = () => versus("stripe", "stripe customers.list")

/** The same against openai-node. */
export const openaiRow = () => versus("openai", "openai models.list")
