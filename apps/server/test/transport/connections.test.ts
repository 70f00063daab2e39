import { createServer, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { type AddressInfo, connect, type Socket } from "node:net"
import { connect as connectSecure } from "node:tls"
import { certificate, key } from "@berthkit/testing/certificate"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { openConnections } from "../../src/transport/nodeServer.ts"

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const open = openConnections(server)
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { open, port: (server.address() as AddressInfo).port }
    }),
    () => Effect.sync(() => server.close())
  )

/** A request, and its connection, which stays open. */
const ask = (socket: Socket) =>
  Effect.promise(async () => {
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await new Promise((resolve) => socket.once("data", resolve))
    return socket
  })

const answer: Parameters<typeof createServer>[1] = (_request, response) => void response.end("ok")

describe("the open connections of a server", () => {
  for (const [name, make, open] of [
    ["http", () => createServer(answer), (port: number) => connect(port, "127.0.0.1")],
    [
      "https",
      () => createSecureServer({ key, cert: certificate }, answer),
      (port: number) =>
        connectSecure({
          port,
          host: "127.0.0.1",
          servername: "localhost",
          ca: certificate,
          checkServerIdentity: () => undefined
        })
    ]
  ] as const) {
    it.live(`are those of its clients, each once, and none when they have gone: ${name}`, () =>
      Effect.gen(function* () {
        const server = make()
        const { open: connections, port } = yield* listening(server)
        const clients = yield* Effect.forEach([1, 2, 3], () => ask(open(port)))
        expect(connections.size).toBe(3)
        const ends = [...connections].map((socket) => new Promise((resolve) => socket.once("close", resolve)))
        for (const client of clients) client.destroy()
        yield* Effect.promise(() => Promise.all(ends))
        expect(connections.size).toBe(0)
      })
    )
  }
})
