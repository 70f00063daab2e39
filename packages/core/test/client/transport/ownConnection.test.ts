/**
 * The connection of a request that must not be sent twice. Over `node:http`, the request gets a new connection, and nothing is sent before
 * it is established. Over every transport, nothing is sent before `leaving`.
 */
import * as net from "node:net"
import { setTimeout as delay } from "node:timers/promises"
import { HttpService } from "@berthkit/testing/HttpService"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Redacted, Result, type Scope } from "effect"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import * as NodeTransport from "../../../src/client/transport/NodeTransport.ts"
import { type SignedRequest, Transport } from "../../../src/client/transport/Transport.ts"
import { Conflict } from "../../../src/domain/ErrorReason.ts"
import { transports } from "../../transports.ts"

const post = (url: string): SignedRequest => ({
  method: "POST",
  url: `${url}/nodes/`,
  query: [],
  token: Redacted.make("token"),
  body: "{}",
  headers: {},
  maxBodyBytes: 2 ** 21
})

/** A server of sockets, which reports each connection and the bytes that arrive on it. */
const sockets = (onSocket: (socket: net.Socket) => void) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const open = new Set<net.Socket>()
        const server = net.createServer((socket) => {
          open.add(socket)
          socket.on("error", () => {})
          onSocket(socket)
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return { server, open }
      }),
      ({ open, server }) =>
        Effect.sync(() => {
          for (const socket of open) socket.destroy()
          server.close()
        })
    ),
    ({ server }) => (server.address() as net.AddressInfo).port
  )

const over = <A, E>(body: Effect.Effect<A, E, Transport | Scope.Scope>) =>
  Effect.provide(Effect.scoped(body), NodeTransport.layer)

describe("a request that must not be sent twice", () => {
  for (const [name, transport] of Object.entries(transports)) {
    it.live(`over ${name} is not sent where leaving fails`, () =>
      Effect.gen(function* () {
        let requests = 0
        const { url } = yield* HttpService.start((_, response) => {
          requests++
          response.end("{}")
        })
        const full = new Conflict({ detail: "full" })
        const { send } = yield* Transport
        assert.strictEqual(yield* Effect.flip(send(post(url), () => {}, Effect.fail(full))), full)
        assert.strictEqual((yield* send(post(url), () => {}, Effect.void)).status, 200)
        assert.strictEqual(requests, 1)
      }).pipe(Effect.scoped, Effect.provide(transport))
    )
  }

  it.live("goes on a new connection, which stands before leaving, with nothing sent", () =>
    over(
      Effect.gen(function* () {
        const came: Array<string> = []
        const port = yield* sockets((socket) => {
          came.push("connection")
          socket.on("data", () => {
            came.push("request")
            socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
          })
        })
        const { send } = yield* Transport
        const request = post(`http://127.0.0.1:${port}`)
        yield* send({ ...request, method: "GET", body: undefined }, () => {})
        const leaving = Effect.andThen(
          Effect.sleep(50),
          Effect.sync(() => void came.push("leaving"))
        )
        yield* send(request, () => {}, leaving)
        assert.deepStrictEqual(came, ["connection", "request", "connection", "leaving", "request"])
      })
    )
  )

  it.live("has sent nothing if its connection ends before the request leaves", () =>
    over(
      Effect.gen(function* () {
        for (const end of [
          (socket: net.Socket) => socket.destroy(),
          (socket: net.Socket) => socket.end(),
          (socket: net.Socket) => socket.end("HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\n\r\n")
        ]) {
          const port = yield* sockets(end)
          const { send } = yield* Transport
          const error = yield* Effect.flip(send(post(`http://127.0.0.1:${port}`), () => {}, Effect.sleep(100)))
          assert.deepInclude(error, { _tag: "Unreachable", sent: "no" })
        }
      })
    )
  )

  it.live("has sent nothing if no secure connection is made in time", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const port = yield* sockets((socket) => void socket.on("data", () => Deferred.doneUnsafe(begun, Effect.void)))
      const { send } = yield* Transport
      let left = false
      const leaving = Effect.sync(() => void (left = true))
      const sending = yield* Effect.forkChild(send(post(`https://127.0.0.1:${port}`), () => {}, leaving))
      yield* Deferred.await(begun)
      yield* Fiber.interrupt(sending)
      assert.isFalse(left)
    }).pipe(Effect.scoped, Effect.provide(NodeTransport.layer))
  )
})

describe("creates against a service that closes each connection a few milliseconds after its reply", () => {
  it.live("all end with their nodes", () =>
    Effect.gen(function* () {
      const nodes: Array<{ id: number; name: string; created_at: string; plan: string }> = []
      const { url } = yield* HttpService.start((request, response) => {
        let body = ""
        request.on("data", (chunk) => (body += chunk))
        request.on("end", () => {
          const page = Number(new URL(request.url!, "http://service").searchParams.get("page_no"))
          let data: unknown = page > 1 ? [] : nodes.slice(-100)
          if (request.method === "POST") {
            const { name, plan } = JSON.parse(body) as { name: string; plan: string }
            data = { id: nodes.length + 1, name, plan, created_at: "2026-01-01T00:00:00Z" }
            nodes.push(data as (typeof nodes)[number])
          }
          response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
          const { socket } = request
          response.on("finish", () => void delay(nodes.length % 8).then(() => socket.destroy()))
        })
      })
      const credentials = { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
      const results = yield* Effect.forEach(Array.from({ length: 60 }), (_, i) =>
        Effect.result(Nodes.use((nodes) => nodes.create({ name: `web-${i}`, plan: "P", image: "I" })))
      ).pipe(Effect.provide(Berth.layerOver({ baseUrl: url, credentials }, NodeTransport.layer)))
      const failures = results.filter(Result.isFailure).map(({ failure }) => failure.message)
      assert.deepStrictEqual(failures, [])
      assert.lengthOf(nodes, 60)
    }).pipe(Effect.scoped)
  )
})
