import { type IncomingMessage, request as send } from "node:http"
import { connect, type Socket } from "node:net"
import { text } from "node:stream/consumers"
import { assert, describe, expect, it } from "@effect/vitest"
import { Effect, Fiber, Schedule } from "effect"
import { maxNodes } from "../../src/control/SnapshotReaders.ts"
import { TestServer } from "../../src/testing.ts"
import { callAs, errorsOf, send as fetchText } from "../http/service.ts"
import { control, createIn } from "./plane.ts"

const fleet = TestServer.layer({ scenario: { fleet: 50_000 } })
const path = "/_mock/worlds/default/snapshot"

const takeSnapshot = (world = "default") => Effect.map(control("GET", `/worlds/${world}/snapshot`), ({ text }) => text)

const json = { "content-type": "application/json" }

/** Puts a snapshot, with its length or, in pieces, without. */
const put = (world: string, text: string, pieces = false) =>
  Effect.flatMap(TestServer, ({ baseUrl }) => {
    const url = `${baseUrl}/_mock/worlds/${world}/snapshot`
    if (!pieces) return fetchText(url, { method: "PUT", headers: json, body: text })
    const body = ReadableStream.from(
      Array.from({ length: Math.ceil(text.length / 50_000) }, (_, index) =>
        new TextEncoder().encode(text.slice(index * 50_000, (index + 1) * 50_000))
      )
    )
    return fetchText(url, { method: "PUT", headers: json, body, duplex: "half" })
  })

interface Begun {
  /** What has come when the connection closes. */
  readonly reply: Promise<string>
  /** The first of it. */
  readonly replied: Promise<string>
  readonly more: (text?: string) => void
  readonly cut: () => void
}

/** Begins a PUT of so many bytes and sends `text` of them; the rest never comes. */
const beginPut = (text: string, length: number, world = "default", headers = "") =>
  Effect.flatMap(TestServer, ({ baseUrl }) =>
    Effect.acquireRelease(
      Effect.callback<Begun>((resume) => {
        const { hostname, port } = new URL(baseUrl)
        let received = ""
        // It is read from when all is written: what comes before a reset is lost then, as to many clients.
        const socket = connect({ host: hostname, port: Number(port) }).pause()
        socket.on("data", (data: Buffer) => (received += data.toString("latin1")))
        const reply = new Promise<string>((done) =>
          socket.on("error", () => undefined).on("close", () => done(received))
        )
        const replied = new Promise<string>((done) => socket.once("data", () => done(received)))
        const head = `PUT /_mock/worlds/${world}/snapshot HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${length}`
        socket.write(`${head}\r\n\r\n${text}`, () => {
          socket.resume()
          resume(
            Effect.succeed({ reply, replied, more: (text = " ") => socket.write(text), cut: () => socket.destroy() })
          )
        })
      }),
      ({ cut }) => Effect.sync(cut)
    )
  )

describe("a snapshot of 50 000 nodes", () => {
  it.effect("goes out and in, with its length and without, and is the same bytes again", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      expect(text.length).toBeGreaterThan(5_000_000)
      expect(JSON.parse(text).nodes.length).toBe(50_000)
      for (const pieces of [false, true]) {
        const world = yield* makeWorld({ seed: 9 })
        expect((yield* put(world.id, text, pieces)).json.nodes).toBe(50_000)
        assert((yield* takeSnapshot(world.id)) === text)
      }
    }).pipe(Effect.provide(fleet))
  )

  it.effect("may have its fields in any order, and white space between them", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      const reversed = Object.fromEntries(Object.entries(JSON.parse(text)).reverse())
      const world = yield* makeWorld()
      expect((yield* put(world.id, JSON.stringify(reversed, null, 2))).status).toBe(200)
      assert((yield* takeSnapshot(world.id)) === text)
    }).pipe(Effect.provide(fleet))
  )

  it.effect("is of one instant, although requests change the world while it goes out", () =>
    Effect.gen(function* () {
      const server = yield* TestServer
      const before = yield* takeSnapshot()
      const first = JSON.parse(before).nodes[0].id
      const last = JSON.parse(before).nodes.at(-1).id
      const reply = yield* Effect.callback<IncomingMessage>((resume) => {
        send(server.baseUrl + path, (begun) => begun.once("readable", () => resume(Effect.succeed(begun)))).end()
      })
      for (const id of [first, last]) expect((yield* callAs(server, "DELETE", `/nodes/${id}/`)).status).toBe(204)
      yield* createIn(server, "new")
      yield* server.advance("1 hour")
      assert((yield* Effect.promise(() => text(reply))) === before)
      assert((yield* takeSnapshot()) !== before)
    }).pipe(Effect.provide(fleet))
  )

  it.effect("is refused by the field at fault, however late it comes, and then nothing is changed", () =>
    Effect.gen(function* () {
      const text = yield* takeSnapshot()
      const bad = JSON.parse(text)
      for (const [field, change] of [
        ["plan", { plan: "Z-1VCPU-1RAM-1DISK" }],
        ["id", { id: bad.nodes[0].id }],
        ["name", { name: 1 }],
        ["toString", { toString: 1 }]
      ] as const) {
        const nodes = bad.nodes.with(49_000, { ...bad.nodes[49_000], ...change })
        const reply = yield* put("default", JSON.stringify({ ...bad, nodes }))
        expect(Object.keys(errorsOf(reply, 422))).toEqual([`nodes.49000.${field}`])
      }
      errorsOf(yield* put("default", text.slice(0, -1)), 400)
      assert((yield* takeSnapshot()) === text)
    }).pipe(Effect.provide(fleet))
  )
})

describe("a snapshot that does not come to its end", () => {
  it.live("changes nothing and holds up no other one once its connection is gone", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      const stalled = yield* beginPut(text.slice(0, 3_000_000), text.length)
      const world = yield* makeWorld()
      const other = yield* Effect.forkChild(put(world.id, text))
      // A small one need not wait, nor does anything else.
      const small = yield* makeWorld({ scenario: "small" })
      expect((yield* put(small.id, yield* takeSnapshot(small.id))).status).toBe(200)
      expect(other.pollUnsafe()).toBe(undefined)
      stalled.cut()
      expect((yield* Fiber.join(other)).status).toBe(200)
      assert((yield* takeSnapshot()) === text)
    }).pipe(Effect.provide(fleet))
  )

  const within = (timeouts: { readonly turnIdleMillis: number; readonly turnWaitMillis: number }) =>
    TestServer.layer({ scenario: { fleet: 50_000 }, timeouts })
  const impatient = within({ turnIdleMillis: 200, turnWaitMillis: 120_000 })

  it.live("loses its turn with 408 where it keeps another one waiting", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      const stalled = yield* beginPut(text.slice(0, 3_000_000), text.length)
      const world = yield* makeWorld()
      expect((yield* put(world.id, text)).status).toBe(200)
      expect(yield* Effect.promise(() => stalled.reply)).toMatch(/^HTTP\/1.1 408 /)
      assert((yield* takeSnapshot()) === text)
    }).pipe(Effect.provide(impatient))
  )

  it.live("loses it as soon where it trickles in", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      const trickling = yield* beginPut(text.slice(0, 3_000_000), text.length)
      yield* Effect.forkScoped(
        Effect.repeat(
          Effect.sync(() => trickling.more()),
          Schedule.spaced("20 millis")
        )
      )
      const world = yield* makeWorld()
      expect((yield* put(world.id, text)).status).toBe(200)
      expect(yield* Effect.promise(() => trickling.reply)).toMatch(/^HTTP\/1.1 408 /)
    }).pipe(Effect.provide(impatient))
  )

  it.live("keeps it, however slow it is, where no other one waits", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      const slow = yield* beginPut(text.slice(0, 3_000_000), text.length)
      // The whole way to the server and back, again and again.
      for (let times = 0; times < 20; times++) yield* makeWorld()
      slow.more(text.slice(3_000_000))
      expect(yield* Effect.promise(() => slow.replied)).toMatch(/^HTTP\/1.1 200 /)
    }).pipe(Effect.provide(within({ turnIdleMillis: 0, turnWaitMillis: 120_000 })))
  )

  it.live("makes those that wait too long try again: 503 with retry-after", () =>
    Effect.gen(function* () {
      const { makeWorld } = yield* TestServer
      const text = yield* takeSnapshot()
      yield* beginPut(text.slice(0, 3_000_000), text.length)
      const world = yield* makeWorld()
      const { headers, json, status } = yield* put(world.id, text)
      expect([status, json.message, headers.get("retry-after")]).toEqual([
        503,
        "Another large world is being made: try again.",
        "1"
      ])
      // A fleet takes turns with them.
      const fleet = yield* control("POST", "/worlds", { scenario: "fleet:10001" })
      expect([fleet.status, fleet.headers.get("retry-after")]).toEqual([503, "1"])
      expect((yield* control("POST", "/worlds", { scenario: "fleet:10000" })).status).toBe(201)
    }).pipe(Effect.provide(within({ turnIdleMillis: 120_000, turnWaitMillis: 100 })))
  )

  it.live("is 404 where its world has been deleted meanwhile", () =>
    Effect.gen(function* () {
      const { id } = (yield* control("POST", "/worlds", {})).json
      const text = yield* takeSnapshot(id)
      const late = yield* beginPut("", text.length, id, "Expect: 100-continue\r\n")
      // The server has found the world, and wants the body.
      expect(yield* Effect.promise(() => late.replied)).toMatch(/^HTTP\/1.1 100 /)
      expect((yield* control("DELETE", `/worlds/${id}`)).status).toBe(204)
      late.more(text)
      expect(yield* Effect.promise(() => late.reply)).toMatch(/HTTP\/1.1 404 .*has ended/s)
    }).pipe(Effect.provide(TestServer.layer({ timeouts: { keepAliveMillis: 100 } })))
  )

  it.live("is refused while it arrives, where it cannot become one, and its connection ends", () =>
    Effect.gen(function* () {
      const length = 120_000_000
      for (const [text, status] of [
        ["[".repeat(300_000), 422],
        ["[" + "[],".repeat(100_000), 422],
        ['{"nodes":[' + "[],".repeat(100_000), 422],
        ['{"format":"' + "x".repeat(1_200_000), 413],
        ["[}" + " ".repeat(300_000), 400]
      ] as const) {
        const { reply } = yield* beginPut(text, length)
        expect(yield* Effect.promise(() => reply)).toMatch(
          new RegExp(`^HTTP/1.1 ${status} .*\r\nconnection: close\r\n`, "is")
        )
      }
    }).pipe(Effect.provide(TestServer.layer()))
  )

  it.live("is answered although its client sends everything before it reads", () =>
    Effect.gen(function* () {
      const text = "[" + "[],".repeat(7_000_000)
      const { reply } = yield* beginPut(text, text.length)
      expect(yield* Effect.promise(() => reply)).toMatch(/^HTTP\/1.1 422 /)
      // In less, a busy machine may send nothing, and lose the reply.
    }).pipe(Effect.provide(TestServer.layer({ timeouts: { keepAliveMillis: 1_000 } })))
  )
})

describe("clients that do not read the snapshot they asked for", () => {
  const nodes = 190_000
  const within = (timeouts: { readonly replyStallMillis: number; readonly turnWaitMillis: number }) =>
    TestServer.layer({ scenario: { fleet: nodes }, timeouts })

  /** As many as there may be. */
  const stall = Effect.flatMap(TestServer, ({ baseUrl }) =>
    Effect.forEach(Array.from({ length: Math.floor(maxNodes / nodes) }), () =>
      Effect.acquireRelease(
        Effect.callback<Socket>((resume) => {
          const { hostname, port } = new URL(baseUrl)
          const socket = connect({ host: hostname, port: Number(port) }).on("error", () => undefined)
          socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
          socket.once("readable", () => resume(Effect.succeed(socket)))
        }),
        (socket) => Effect.sync(() => socket.destroy())
      )
    )
  )

  it.live("are bounded: the next one is asked to try again", () =>
    Effect.gen(function* () {
      yield* stall
      const { headers, json, status } = yield* control("GET", "/worlds/default/snapshot")
      expect([status, json.message, headers.get("retry-after")]).toEqual([
        503,
        "Too many snapshots are being read: try again.",
        "1"
      ])
    }).pipe(Effect.provide(within({ replyStallMillis: 60_000, turnWaitMillis: 100 })))
  )

  it.live("lose their connection, and the next one gets its own", () =>
    Effect.gen(function* () {
      yield* stall
      const { status, text } = yield* control("GET", "/worlds/default/snapshot")
      expect([status, JSON.parse(text).nodes.length]).toEqual([200, nodes])
    }).pipe(Effect.provide(within({ replyStallMillis: 200, turnWaitMillis: 120_000 })))
  )
})

describe("the limit of a body", () => {
  it.effect("is that of the route", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* TestServer
      const mebibyte = 1024 * 1024
      for (const [method, at, length, status] of [
        ["POST", "/worlds", mebibyte + 1, 413],
        ["POST", "/worlds/default/reset", mebibyte + 1, 413],
        ["PUT", "/worlds/default/faults", 200 * mebibyte, 413],
        ["GET", "/worlds/default/snapshot", mebibyte + 1, 413],
        ["PUT", "/worlds/default/snapshot", 256 * mebibyte + 1, 413],
        ["PUT", "/default/snapshot", 256 * mebibyte + 1, 413],
        ["PUT", "/worlds/w99/snapshot", 200 * mebibyte, 404]
      ] as const) {
        const reply = yield* Effect.callback<number>((resume) => {
          const headers = { ...json, "content-length": length, expect: "100-continue" }
          const asked = send(`${baseUrl}/_mock${at}`, { method, headers }, (replied) => {
            resume(Effect.succeed(replied.statusCode!))
            asked.destroy()
          })
          asked.on("error", () => undefined).flushHeaders()
        })
        expect([at, length, reply]).toEqual([at, length, status])
      }
      const long = JSON.stringify({ name: "x".repeat(mebibyte) })
      errorsOf(yield* fetchText(`${baseUrl}/_mock/worlds`, { method: "POST", headers: json, body: long }), 413)
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
