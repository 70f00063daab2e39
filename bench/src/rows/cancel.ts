/**
 * How soon a call ends once its signal is aborted, while it is on the wire and the body trickles.
 */
import { BerthError, createClient } from "@berth/core/promise"
import { once } from "node:events"
import { createServer } from "node:http"
import { type Row, subjectAtMost } from "../Row.ts"

const calls = 50

/** Aborts calls of the promise client, and bare fetches beside them, when their bodies have begun. */
export const cancelRow = async (): Promise<Row> => {
  let begun = () => {}
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.write(`{"message":"Suc`)
    // By then the beginning is with the client.
    setTimeout(() => begun(), 5)
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const baseUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const client = createClient({ baseUrl, apiKey: "key", accessToken: "token" })

  /** The longest of several aborts, in milliseconds: what counts is the worst. */
  const worst = async (call: (signal: AbortSignal) => Promise<unknown>) => {
    let longest = 0
    for (let i = 0; i < calls; i++) {
      const controller = new AbortController()
      const arrived = new Promise<void>((resolve) => {
        begun = resolve
      })
      const ended = call(controller.signal).catch((error: unknown) => error)
      await arrived
      const startedAt = performance.now()
      controller.abort()
      const error = await ended
      longest = Math.max(longest, performance.now() - startedAt)
      if (!(error instanceof Error) || error.name !== "AbortError") throw new Error("not aborted", { cause: error })
    }
    return longest
  }

  return {
    name: `abort, worst of ${calls}`,
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
      baseline: await worst(async (signal) => (await fetch(baseUrl, { signal })).text())
    }),
    close: async () => {
      await client.close()
      server.closeAllConnections()
      server.close()
    }
  }
}
