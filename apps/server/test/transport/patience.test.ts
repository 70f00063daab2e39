import { connect, type Socket } from "node:net"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestServer } from "../../src/testing.ts"
import { exchange } from "./rawSocket.ts"
import { call, prefix, send } from "../http/service.ts"

const auth = "Authorization: Bearer berth-token\r\n"
const request = (method: string, path: string, headers = "") =>
  `${method} ${prefix}${path}${path.includes("?") ? "&" : "?"}apikey=berth-key HTTP/1.1\r\nHost: x\r\n${auth}${headers}\r\n`
const get = request("GET", "/nodes/?per_page=100")
const large = { limit: 1_000_000, window: 3_600_000, algorithm: "fixed-window" } as const

/** A connection on which `bytes` were sent, and the bytes that came back. */
interface Client {
  readonly socket: Socket
  readonly received: () => string
  readonly closed: Promise<void>
}

/** Connects this many clients, each of which sends its bytes and then does nothing. They disconnect when the scope closes. */
const connectAll = (baseUrl: string, count: number, bytes: string) => {
  const { hostname, port } = new URL(baseUrl)
  const open = () =>
    new Promise<Client>((resolve, reject) => {
      let received = ""
      const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
      socket.on("data", (data: Buffer) => (received += data.toString("latin1")))
      const closed = new Promise<void>((done) => socket.once("end", done).once("close", () => done()))
      socket.once("connect", () => {
        socket.on("error", () => undefined)
        socket.write(bytes, () => resolve({ socket, received: () => received, closed }))
      })
      socket.once("error", reject)
    })
  return Effect.acquireRelease(
    Effect.promise(() => Promise.all(Array.from({ length: count }, open))),
    (clients) => Effect.sync(() => clients.forEach(({ socket }) => socket.destroy()))
  )
}

const answersOthers = (times: number) =>
  Effect.forEach(Array.from({ length: times }), () =>
    Effect.map(call("GET", "/nodes/"), ({ status }) => expect(status).toBe(200))
  )

describe("slow clients", () => {
  it.live(
    "hundreds of clients that send nothing, or half a request, keep no other client waiting and are disconnected",
    () =>
      Effect.gen(function* () {
        const { baseUrl } = yield* TestServer
        const silent = yield* connectAll(baseUrl, 150, "")
        const halfHead = yield* connectAll(baseUrl, 150, get.slice(0, -10))
        const halfBody = yield* connectAll(baseUrl, 150, request("POST", "/nodes/", "Content-Length: 100\r\n"))
        const idle = yield* connectAll(baseUrl, 150, get)
        yield* answersOthers(20)
        const all = [...silent, ...halfHead, ...halfBody, ...idle]
        yield* Effect.promise(() => Promise.all(all.map(({ closed }) => closed)))
        for (const { received } of [...halfHead, ...halfBody]) expect(received()).toMatch(/^HTTP\/1\.1 408 /)
        for (const { received } of idle) expect(received()).toMatch(/^HTTP\/1\.1 200 /)
        yield* answersOthers(5)
      }).pipe(
        Effect.provide(
          TestServer.layer({
            rateLimit: large,
            timeouts: { headersMillis: 800, requestMillis: 1_200, keepAliveMillis: 600 }
          })
        )
      )
  )

  it.live("a client that sends and does not read is not read from either, and gets all its replies when it does", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const count = 3_000
      const { hostname, port } = new URL(baseUrl)
      const client = yield* Effect.acquireRelease(
        Effect.sync(() => connect({ host: hostname, port: Number(port) }).pause()),
        (socket) => Effect.sync(() => socket.destroy())
      )
      // If the server continued to read, the replies would take 100 MB of its memory.
      client.write(get.repeat(count))
      yield* answersOthers(20)
      const journal = yield* send(`${baseUrl}/_mock/worlds/default/requests?limit=1`)
      expect(journal.json.count).toBeGreaterThan(20)
      expect(journal.json.count).toBeLessThan(count / 2)
      const replies = Effect.callback<number>((resume) => {
        let seen = 0
        let tail = ""
        client.on("data", (data: Buffer) => {
          const text = tail + data.toString("latin1")
          seen += text.split("HTTP/1.1 200 OK\r\n").length - 1
          tail = text.slice(-16)
          if (seen === count) resume(Effect.succeed(seen))
        })
        client.resume()
      })
      expect(yield* replies).toBe(count)
    }).pipe(Effect.provide(TestServer.layer({ rateLimit: large, scenario: { fleet: 100 } })))
  )

  it.live("a client that sends 5 MB before it reads gets its 413, from the service too", () =>
    Effect.gen(function* () {
      const { hostname, port } = new URL((yield* TestServer).baseUrl)
      for (const path of [`${prefix}/nodes/?apikey=berth-key`, "/_mock/worlds"]) {
        const received = yield* Effect.promise(
          () =>
            new Promise<string>((resolve) => {
              let text = ""
              const socket = connect({ host: hostname, port: Number(port) }).pause()
              socket.on("data", (data: Buffer) => (text += data.toString("latin1")))
              socket.on("error", ({ message }) => (text += message)).on("close", () => resolve(text))
              const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${auth}Content-Type: application/json\r\nContent-Length: 5000000\r\n\r\n`
              socket.write(head + " ".repeat(5_000_000), () => socket.resume())
            })
        )
        expect(received).toMatch(/^HTTP\/1\.1 413 /)
      }
      // With a shorter timeout, a busy machine may have sent nothing before it, and the reply would be lost.
    }).pipe(Effect.provide(TestServer.layer({ timeouts: { keepAliveMillis: 1_000 } })))
  )

  it.live("a refusal waits for the rest of a body, and not where the client waits for the refusal", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const put = (headers: string) =>
        `PUT /_mock/worlds/nope/snapshot HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: 9\r\n\r\n`
      const [sending] = yield* connectAll(baseUrl, 1, put(""))
      const [waiting] = yield* connectAll(baseUrl, 1, put("Expect: 100-continue\r\n"))
      const replied: Array<string> = []
      const reply = ({ socket }: Client, name: string) =>
        new Promise<void>((resolve) => socket.once("data", () => resolve(void replied.push(name))))
      yield* Effect.promise(() => Promise.all([reply(sending!, "sending"), reply(waiting!, "waiting")]))
      expect(replied).toEqual(["waiting", "sending"])
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.live("a client that has closed its half is answered before the connection closes", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const { closedByServer, replies } = yield* exchange(baseUrl, [get.repeat(3)], { halfClose: true })
      expect([replies.map(({ status }) => status), closedByServer]).toEqual([[200, 200, 200], true])
    }).pipe(Effect.provide(TestServer.layer({ rateLimit: large })))
  )

  it.live("clients that reset their connections at any point disturb no other client", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      for (const bytes of [
        "",
        get.slice(0, 40),
        get,
        get.repeat(20),
        request("POST", "/nodes/", "Content-Length: 9\r\n")
      ]) {
        const clients = yield* connectAll(baseUrl, 40, bytes)
        for (const { socket } of clients) socket.resetAndDestroy()
        yield* answersOthers(2)
      }
    }).pipe(Effect.provide(TestServer.layer({ rateLimit: large, scenario: { fleet: 100 } })))
  )
})
