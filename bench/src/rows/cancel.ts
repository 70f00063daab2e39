/** Measures how soon a call ends once its signal is aborted: in the queue, in backoff, on the wire, and while a body arrives slowly. */
import { BerthError, createClient } from "@berthkit/core/promise"
import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import { type Row, subjectAtMost } from "../Row.ts"

const calls = 20

/** The time that a call takes to reach the place where it is aborted. */
const underWayMillis = 20

const inAnHour = () => String(Math.round(Date.now() / 1000) + 3600)

/** The service's behaviour that brings a call to each place. */
const services = {
  queue: (response: ServerResponse) => {
    response.writeHead(200, { "ratelimit-limit": "100", "ratelimit-remaining": "0", "ratelimit-reset": inAnHour() })
    response.end(`{"code":200,"data":{"id":7,"name":"web","created_at":"2026-03-01T10:20:30Z"}}`)
  },
  backoff: (response: ServerResponse) => {
    response.writeHead(503, { "retry-after": "30" }).end()
  },
  wire: () => {},
  body: (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.write(`{"message":"Suc`)
  }
}

/** Aborts calls of the promise client at a place and, for comparison, bare fetches on the wire. */
export const cancelRow = async (place: keyof typeof services): Promise<Row> => {
  const server = createServer((request, response) => {
    if (request.url?.includes("bare") !== true) services[place](response)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const client = createClient({ baseUrl, apiKey: "key", accessToken: "token", deadline: "2 hours" })
  // The next call finds the allowance spent and waits in the queue.
  if (place === "queue") await client.nodes.get(7)

  /** The longest of several aborts, in milliseconds. */
  const worst = async (call: (signal: AbortSignal) => Promise<unknown>) => {
    let longest = 0
    for (let i = 0; i < calls; i++) {
      const controller = new AbortController()
      const ended = call(controller.signal).catch((error: unknown) => error)
      await setTimeout(underWayMillis)
      const startedAt = performance.now()
      controller.abort()
      const error = await ended
      longest = Math.max(longest, performance.now() - startedAt)
      if (!(error instanceof Error) || error.name !== "AbortError") throw new Error("not aborted", { cause: error })
    }
    return longest
  }

  return {
    name: `abort (${place}), worst of ${calls}`,
    subject: "promise client",
    baseline: "bare fetch",
    unit: "ms",
    targets: [subjectAtMost(5)],
    pairs: 5,
    measure: async () => ({
      subject: await worst(async (signal) => {
        const outcome = await client.nodes.get(7, { signal }).catch((error: unknown) => error)
        throw outcome instanceof BerthError ? outcome : new Error("not a typed error", { cause: outcome })
      }),
      baseline: await worst(async (signal) => (await fetch(`${baseUrl}/bare`, { signal })).text())
    }),
    close: async () => {
      await client.close()
      server.closeAllConnections()
      server.close()
    }
  }
}
